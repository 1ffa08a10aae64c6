// Reports: built of what somebody may see, kept as they were, downloaded as a file.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, linkTo, Refused, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { namedZone } from '../../client/time-zone.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Confirm, tell, tellProblem } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { VexExport } from './vex-export.js';
import { VexStatements } from './vex-statements.js';
import { createApplications, type Applications } from './words.js';

type Report = Item<'GET /api/v1/reports'>;
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

function Build(props: { readonly applications: Applications; readonly onBuilt: () => void }): JSX.Element {
  const [title, setTitle] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [format, setFormat] = createSignal<Format>('pdf');
  const [days, setDays] = createSignal('30');
  const sections = createSections();
  const action = createAction();
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
        <div>
          <Button
            look="primary"
            isBusy={action.isBusy()}
            disabled={sections.chosen().length === 0}
            onClick={() => void build()}
          >
            {text.build}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const columnsOf = (
  applications: Applications,
  mayDelete: () => boolean,
  onDelete: (report: Report) => void,
): readonly TableColumn<Report>[] => [
  { title: text.title, cell: ({ title }) => <Foreign text={title} max={200} /> },
  {
    title: text.scope,
    cell: ({ scope: { application_id: id } }) =>
      id === undefined ? text.anyApplication : <Foreign text={applications.nameOf(id)} max={80} />,
  },
  { title: text.holds, cell: ({ sections }) => sections.map((name) => name.replaceAll('-', ' ')).join(', ') },
  { title: text.when, class: 'nums', sortBy: (one) => one.created_at, cell: (one) => showMoment(one.created_at) },
  { title: text.who, cell: ({ created_by: who }) => <Foreign text={who} max={80} /> },
  {
    title: text.file,
    cell: ({ id, format }) => (
      <a
        class="button small"
        href={linkTo('GET /api/v1/reports/{id}/download', undefined, { id })}
        download={`report-${id}.${format}`}
        aria-label={text.downloadOf(id, format)}
      >
        {text.download} {format}
      </a>
    ),
  },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (report) => (
      <Show when={mayDelete()}>
        <Button isSmall onClick={() => onDelete(report)}>
          {text.delete}
        </Button>
      </Show>
    ),
  },
];

export function Reports(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const list = createPagedList('GET /api/v1/reports', () => ({}));
  const [asked, setAsked] = createSignal<Report | null>(null);
  const remove = async (id: string): Promise<void> => {
    try {
      await call('DELETE /api/v1/reports/{id}', { params: { id } });
      setAsked(null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <>
      <PageHead title={text.reports} about={text.reportsAbout} />
      <Show when={access.may('build_reports')}>
        <Build applications={applications} onBuilt={list.reload} />
      </Show>
      <ListCard
        label={text.reports}
        columns={columnsOf(applications, () => access.may('build_reports'), setAsked)}
        title={text.reports}
        list={list}
        keyOf={({ id }) => id}
        empty={text.noReports}
        emptyAbout={text.noReportsAbout}
      />
      <Show when={access.may('view_findings')}>
        <VexExport applications={applications} />
        <VexStatements applications={applications} mayTriage={access.may('triage_findings')} />
      </Show>
      <Confirm
        isOpen={asked() !== null}
        title={text.deleteReport}
        action={text.delete}
        onConfirm={() => void remove(asked()?.id ?? '')}
        onClose={() => setAsked(null)}
      >
        <p>
          <Foreign text={asked()?.title} max={200} />
        </p>
        <p>{text.deleteReportAbout}</p>
      </Confirm>
    </>
  );
}
