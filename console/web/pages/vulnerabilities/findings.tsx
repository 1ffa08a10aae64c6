// Findings: what tools and people have found, filtered by the address, each with all that is known of it.
import { useSearchParams } from '@solidjs/router';
import { createMemo, For, type JSX } from 'solid-js';
import type { Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { SelectField } from '../../kit/form.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { vulnText as text } from '../../texts/vulnerabilities.js';
import { FindingDrawer } from './finding-drawer.js';
import {
  createApplications,
  plain,
  severities,
  severityTone,
  stateOptions,
  type Applications,
  type Finding,
} from './words.js';

type FindingQuery = Omit<Query<'GET /api/v1/findings'>, 'cursor' | 'limit'>;

const filterNames = (
  'q severity status application_id project_id source tool cwe cve reachable exploit_confirmed kev epss_gte ' +
  'sla_state assignee fix_state tag first_seen_gte'
).split(' ');

const orders = [
  ['', text.urgentFirst],
  ['-risk', text.riskFirst],
  ['-severity', text.severeFirst],
  ['-first_seen', text.newFirst],
  ['due_at', text.dueFirst],
] as const;

/** What makes a finding more than a guess, in words. */
function Signs(props: { readonly of: Finding }): JSX.Element {
  const signs = (): readonly (readonly [string, boolean])[] => [
    [text.exploited, props.of.kev],
    [text.proven, props.of.exploit_confirmed || props.of.runtime_confirmed],
    [text.reachable, props.of.reachable === true],
    [text.overdue, props.of.sla.state === 'breached'],
  ];
  return (
    <span class="row wrap">
      <For each={signs().filter(([, is]) => is)}>
        {([name]) => <Badge tone={name === text.reachable ? 'warn' : 'danger'}>{name}</Badge>}
      </For>
    </span>
  );
}

const columnsOf = (applications: Applications): readonly TableColumn<Finding>[] => [
  {
    title: text.severity,
    cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge>,
  },
  {
    title: text.finding,
    cell: (finding) => (
      <div class="stack tight">
        <Foreign text={finding.title} max={200} />
        <span class="small faint mono">
          <Foreign text={finding.location} max={120} />
        </span>
      </div>
    ),
  },
  {
    title: text.application,
    cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={60} />,
  },
  { title: text.state, cell: ({ status }) => <Badge>{plain(status)}</Badge> },
  { title: text.risk, isNumber: true, cell: ({ effective_risk: risk }) => String(risk) },
  { title: text.priority, isNumber: true, cell: ({ priority_score: score }) => String(score) },
  { title: text.signs, cell: (finding) => <Signs of={finding} /> },
  { title: text.tool, cell: ({ tool, source }) => <Foreign text={tool === '' ? source : tool} max={40} /> },
  { title: text.due, class: 'nums', cell: ({ sla }) => showMoment(sla.due_at, true) },
];

function Selects(props: { readonly applications: Applications }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const value = (name: string): string => {
    const given = search[name];
    return typeof given === 'string' ? given : '';
  };
  const set = (name: string) => (chosen: string) => setSearch({ [name]: chosen });
  return (
    <div class="grid grid-4">
      <SelectField label={text.state} value={value('status')} options={stateOptions} onChange={set('status')} />
      <SelectField
        label={text.severity}
        value={value('severity')}
        options={[['', text.anySeverity], ...severities.map((name) => [name, name] as const)]}
        onChange={set('severity')}
      />
      <SelectField
        label={text.application}
        value={value('application_id')}
        options={props.applications.options(text.anyApplication)}
        onChange={set('application_id')}
      />
      <SelectField label={text.order} value={value('sort')} options={orders} onChange={set('sort')} />
    </div>
  );
}

/** Without a state in the address: those that are open. */
export function Findings(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const filters = useFilters(filterNames);
  const sort = createMemo(() => (typeof search['sort'] === 'string' ? search['sort'] : ''));
  const applications = createApplications();
  const access = createVmAccess();
  const list = createPagedList('GET /api/v1/findings', (): FindingQuery => {
    const { status = 'open', ...others } = filters();
    const order = sort() === '' ? {} : { sort: sort() };
    return { ...others, ...(status === 'all' ? {} : { status }), ...order } as FindingQuery;
  });
  const chosen = (): string | null => (typeof search['finding'] === 'string' ? search['finding'] || null : null);
  return (
    <>
      <PageHead title={text.findings} about={text.findingsAbout}>
        <Button onClick={list.reload} isBusy={list.isLoading()}>
          {text.refresh}
        </Button>
      </PageHead>
      <FilterBar names={filterNames} placeholder={text.titleOrFilter} />
      <Selects applications={applications} />
      <Card isFlush>
        <Table
          label={text.findings}
          columns={columnsOf(applications)}
          of={ofPages(list)}
          keyOf={({ id }) => id}
          onOpen={({ id }) => setSearch({ finding: id })}
          chosen={chosen()}
          empty={text.noFindings}
          emptyAbout={text.noFindingsAbout}
        />
      </Card>
      <FindingDrawer
        id={chosen()}
        access={access}
        applications={applications}
        onClose={() => setSearch({ finding: '' })}
        onChanged={list.reload}
      />
    </>
  );
}
