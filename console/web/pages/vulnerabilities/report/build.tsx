// A report as it is set up: built now, or by a schedule.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body, type Item } from '../../../client/http.js';
import { namedZone } from '../../../client/time-zone.js';
import { createQuery } from '../../../client/query.js';
import { Button, Card, Notice } from '../../../kit/basics.js';
import { SelectField, TextField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { reportsText } from '../../../texts/vm/records/reports.js';
import { vulnText as text } from '../../../texts/vm/vulnerabilities.js';
import type { Applications } from '../words.js';
import { ScheduleReport, type ScheduledReport } from './schedule.js';
import type { Report } from './send.js';

type Format = Report['format'];

const formats: readonly (readonly [Format, string])[] = [
  ['html', 'HTML'],
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
  ['json', 'JSON'],
];

/** How far a report looks back; the server takes 1 to 92 days. */
const spans: readonly (readonly [string, string])[] = [7, 14, 30, 60, 90].map((n) => [String(n), text.lastDays(n)]);

type Section = Item<'GET /api/v1/reports/sections'>;
type SectionName = Section['name'];

/** Which sections there are is the server's; all of them until somebody leaves one out. */
function createSections() {
  const known = createQuery('GET /api/v1/reports/sections');
  const [left, setLeft] = createSignal<readonly SectionName[]>([]);
  const all = (): readonly Section[] => known.data()?.items ?? [];
  return {
    all,
    isIn: (name: SectionName): boolean => !left().includes(name),
    choose: (name: SectionName, isIn: boolean): void =>
      void setLeft((names) => [...names.filter((one) => one !== name), ...(isIn ? [] : [name])]),
    chosen: (): SectionName[] => all().flatMap(({ name }) => (left().includes(name) ? [] : [name])),
  };
}

function Sections(props: { readonly of: ReturnType<typeof createSections> }): JSX.Element {
  return (
    <fieldset class="field bare">
      <legend class="label">{text.sections}</legend>
      <div class="stack tight">
        <For each={props.of.all()}>
          {({ name, title, description }) => (
            <label class="choice">
              <input
                type="checkbox"
                checked={props.of.isIn(name)}
                onChange={(event) => props.of.choose(name, event.currentTarget.checked)}
              />
              <span>
                {title}
                <span class="help sentence">{description}</span>
              </span>
            </label>
          )}
        </For>
      </div>
    </fieldset>
  );
}

export function Build(props: {
  readonly applications: Applications;
  readonly maySchedule: boolean;
  readonly onBuilt: () => void;
}): JSX.Element {
  const [title, setTitle] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [format, setFormat] = createSignal<Format>('pdf');
  const [days, setDays] = createSignal('30');
  const sections = createSections();
  const action = createAction();
  const [asked, setAsked] = createSignal<ScheduledReport | null>(null);
  const schedule = (): void => {
    const titles = sections.all().flatMap(({ name, title: one }) => (sections.isIn(name) ? [one] : []));
    setAsked({
      payload: {
        ...(application() === '' ? {} : { application_id: application() }),
        ...(title().trim() === '' ? {} : { title: title().trim() }),
        sections: sections.chosen().join(','),
        format: format(),
        days: days(),
      },
      about: `${titles.join(', ')}; ${text.lastDays(days())}; ${format().toUpperCase()}`,
    });
  };
  const build = async (): Promise<void> => {
    const body: Body<'POST /api/v1/reports'> = {
      ...(application() === '' ? {} : { scope: { application_id: application() } }),
      ...(title().trim() === '' ? {} : { title: title().trim() }),
      sections: sections.chosen(),
      format: format(),
      days: Number(days()),
      time_zone: namedZone(),
    };
    if (!(await action.run(() => call('POST /api/v1/reports', { body })))) return;
    tell(text.built);
    props.onBuilt();
  };
  return (
    <Card title={text.build}>
      <div class="stack">
        <div class="grid grid-4">
          <TextField label={text.title} value={title()} onInput={setTitle} placeholder={text.titleOfSections} />
          <SelectField
            label={text.scope}
            value={application()}
            options={props.applications.options(text.anyApplication)}
            onChange={setApplication}
          />
          <SelectField label={text.period} value={days()} options={spans} onChange={setDays} />
          <SelectField label={text.format} value={format()} options={formats} onChange={setFormat} />
        </div>
        <Sections of={sections} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="row wrap">
          <Button
            look="primary"
            isBusy={action.isBusy()}
            disabled={sections.chosen().length === 0}
            onClick={() => void build()}
          >
            {text.build}
          </Button>
          <Show when={props.maySchedule}>
            <Button disabled={sections.chosen().length === 0} onClick={schedule}>
              {reportsText.schedule}
            </Button>
          </Show>
        </div>
      </div>
      <ScheduleReport of={asked()} onClose={() => setAsked(null)} />
    </Card>
  );
}
