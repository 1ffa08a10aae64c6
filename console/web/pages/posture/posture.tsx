// How applications stand: one score, what costs how much, how it went, and where the open findings come from.
import { A, useSearchParams } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Card, Empty, Figure, PageHead } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { postureText as text } from '../../texts/vm/posture.js';
import { createApplications } from '../vulnerabilities/words.js';
import { Heatmap } from './heatmap.js';
import { Trends } from './trends.js';

type Score = Reply<'GET /api/v1/posture/score'>;
type Factor = Score['factors'][number];

const spans = ['30', '90', '365'] as const;
type Span = (typeof spans)[number];
const everyMs = 60_000;

/** Which findings a factor counts. */
const filters: Readonly<Record<string, string>> = {
  open_critical: 'severity=critical',
  open_high: 'severity=high',
  open_medium: 'severity=medium',
  open_low: 'severity=low',
  kev: 'kev=true',
  overdue: 'sla_state=breached',
};

const linkOf = (application: string, filter: string): string => {
  const scope = application === '' ? '' : `application_id=${application}`;
  return `/vulnerabilities?${[scope, filter].filter((one) => one !== '').join('&')}`;
};

function Figures(props: { readonly of: Score; readonly application: string }): JSX.Element {
  const sum = (...names: readonly string[]): number => names.reduce((all, name) => all + (props.of.open[name] ?? 0), 0);
  return (
    <div class="grid-4">
      <Figure label={text.score} value={String(props.of.score ?? text.none)} note={text.scoreNote} />
      <Figure
        label={text.open}
        value={showCount(sum(...Object.keys(props.of.open)))}
        href={linkOf(props.application, '')}
      />
      <Figure
        label={text.overdue}
        value={showCount(props.of.overdue)}
        href={linkOf(props.application, filters['overdue'] ?? '')}
      />
      <Figure
        label={text.exploited}
        value={showCount(props.of.kev)}
        href={linkOf(props.application, filters['kev'] ?? '')}
      />
    </div>
  );
}

function Costs(props: { readonly of: readonly Factor[]; readonly application: string }): JSX.Element {
  const wordOf = ({ factor, label }: Factor): string =>
    (text.factors as Readonly<Record<string, string>>)[factor] ?? label;
  const columns: readonly TableColumn<Factor>[] = [
    {
      title: text.factor,
      cell: (one) => <A href={linkOf(props.application, filters[one.factor] ?? '')}>{wordOf(one)}</A>,
    },
    { title: text.count, isNumber: true, cell: ({ count }) => showCount(count) },
    { title: text.weight, isNumber: true, cell: ({ weight }) => showCount(weight) },
    { title: text.cost, isNumber: true, cell: ({ cost }) => showCount(cost) },
  ];
  return (
    <Card isFlush title={text.costs}>
      <Table
        label={text.costs}
        columns={columns}
        of={ofRows(() => props.of)}
        keyOf={({ factor }) => factor}
        empty={text.nothingCosts}
      />
    </Card>
  );
}

export function Posture(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const applications = createApplications();
  const application = (): string => (typeof search['application_id'] === 'string' ? search['application_id'] : '');
  const span = (): Span => spans.find((one) => one === search['days']) ?? '90';
  const scope = () => (application() === '' ? {} : { application_id: application() });
  const score = createQuery('GET /api/v1/posture/score', () => ({ query: scope() }), { everyMs });
  const trend = createQuery('GET /api/v1/posture/trend', () => ({ query: { ...scope(), days: Number(span()) } }), {
    everyMs,
  });
  const heatmap = createQuery('GET /api/v1/posture/heatmap', () => ({ query: { ...scope(), limit: 500 } }), {
    everyMs,
  });
  return (
    <>
      <PageHead title={text.posture} about={text.about} />
      <div class="narrow-grid">
        <SelectField
          label={text.application}
          value={application()}
          options={applications.options(text.all)}
          onChange={(id) => setSearch({ application_id: id })}
        />
        <SelectField
          label={text.span}
          value={span()}
          options={spans.map((one) => [one, text.spans[one]] as const)}
          onChange={(days) => setSearch({ days })}
        />
      </div>
      <Read of={score}>
        {(data) => (
          <Show when={data().as_of !== null} fallback={<Empty title={text.counting}>{text.countingAbout}</Empty>}>
            <p class="muted">{text.asOf(showMoment(data().as_of))}</p>
            <Figures of={data()} application={application()} />
            <Costs of={data().factors} application={application()} />
          </Show>
        )}
      </Read>
      <Read of={trend}>{(data) => <Trends days={data().items} asked={Number(span())} />}</Read>
      <Heatmap of={heatmap} />
    </>
  );
}
