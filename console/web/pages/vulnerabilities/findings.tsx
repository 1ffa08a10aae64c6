// Findings: what tools and people have found, filtered by the address, each with all that is known of it.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, For, Show, type Accessor, type JSX } from 'solid-js';
import { call, linkTo, type Body, type Query } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList, type PagedList } from '../../client/pages.js';
import { createQuery, type QueryState } from '../../client/query.js';
import { createPeople, type People } from '../../client/people.js';
import { createVmAccess, type VmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters, type Filters } from '../../kit/filter-bar.js';
import { createAsked } from '../../kit/asked.js';
import { SelectField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { byHandText } from '../../texts/vm/by-hand.js';
import { findingsText as words } from '../../texts/vm/findings.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { bodyOf, type Predicate } from '../governance/predicate.js';
import { BulkBar, bulkMax } from './finding-bulk.js';
import { FindingForm } from './finding/by-hand.js';
import { choosing, createSelection } from './finding/choosing.js';
import { createCounts, FindingFacets } from './finding/facets.js';
import { FindingDrawer } from './finding-drawer.js';
import { predicateOf, SavedFilters, type View, type Views } from './saved-filters.js';
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
type SavedQuery = Omit<Body<'POST /api/v1/findings/query'>, 'cursor' | 'limit'>;

/** As many as one answer holds. */
const pageMax = 500;

const filterNames = (
  'q severity status application_id project_id source tool cwe cve reachable exploit_confirmed kev epss_gte ' +
  'sla_state assignee fix_state tag first_seen_gte'
).split(' ');

/** Beside a saved filter nothing is said about states unless one is chosen. */
const savedStateOptions: typeof stateOptions = [
  ['', text.asSaved],
  ['open', text.stillOpen],
  ...stateOptions.slice(1).filter(([name]) => name !== 'all'),
];

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

const columnsOf = (applications: Applications, people: People): readonly TableColumn<Finding>[] => [
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
  {
    title: text.state,
    cell: ({ status, assignee_id: assignee }) => (
      <>
        <Badge>{plain(status)}</Badge>
        <Show when={assignee !== null && people.nameOf('id', assignee)}>
          {(name) => (
            <div class="small faint">
              <Foreign text={name()} max={60} />
            </div>
          )}
        </Show>
      </>
    ),
  },
  { title: text.risk, isNumber: true, cell: ({ effective_risk: risk }) => String(risk) },
  { title: text.priority, isNumber: true, cell: ({ priority_score: score }) => showCount(score) },
  { title: text.signs, cell: (finding) => <Signs of={finding} /> },
  { title: text.due, class: 'nums', cell: ({ sla }) => showMoment(sla.due_at, true) },
  { title: text.tool, cell: ({ tool, source }) => <Foreign text={tool === '' ? source : tool} max={40} /> },
];

function Selects(props: {
  readonly applications: Applications;
  readonly people: People;
  readonly isSaved: boolean;
}): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const value = (name: string): string => {
    const given = search[name];
    return typeof given === 'string' ? given : '';
  };
  const set = (name: string) => (chosen: string) => setSearch({ [name]: chosen });
  return (
    <div class="grid grid-4">
      <SelectField
        label={text.state}
        value={value('status')}
        options={props.isSaved ? savedStateOptions : stateOptions}
        onChange={set('status')}
      />
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
      <SelectField
        label={text.assignee}
        value={value('assignee')}
        options={props.people.choices('id', [
          ['', text.anybody],
          ['none', text.nobody],
        ])}
        onChange={set('assignee')}
      />
      <SelectField label={text.order} value={value('sort')} options={orders} onChange={set('sort')} />
    </div>
  );
}

/** Filters as the list, its counts and its files are asked for them. */
function queryOf({ status = 'open', ...others }: Filters): Query<'GET /api/v1/findings/facets'> {
  return { ...others, ...(status === 'all' ? {} : { status }) } as Query<'GET /api/v1/findings/facets'>;
}

/** The list that the address asks for: its filters, or a saved filter and whatever is filtered by beside it. */
function createFindingList(view: Accessor<View | null | undefined>, filters: Accessor<Filters>) {
  const [search] = useSearchParams();
  const order = createMemo(() => {
    const sort = search['sort'];
    return typeof sort === 'string' && sort !== '' ? { sort } : {};
  });
  const plainly = (): FindingQuery | null => {
    if (view() !== null) return null;
    return { ...queryOf(filters()), ...order() } as FindingQuery;
  };
  const saved = (): SavedQuery | null => {
    const chosen = view();
    if (chosen == null) return null;
    const { predicate: beside } = predicateOf(filters());
    const query = chosen.query as Predicate;
    return { predicate: bodyOf(beside === null ? query : { and: [query, beside] }), ...order() } as SavedQuery;
  };
  const lists = {
    plain: createPagedList('GET /api/v1/findings', plainly),
    saved: createPagedList('POST /api/v1/findings/query', saved),
  };
  return {
    list: (): PagedList<Finding> => (view() === null ? lists.plain : lists.saved),
    /** What matches, from the beginning; at most so many. */
    all: async (max: number): Promise<Finding[]> => {
      const found: Finding[] = [];
      for (let offset = 0; offset < max; offset += pageMax) {
        const [plain, query] = [plainly(), saved()];
        const part = { limit: Math.min(pageMax, max - offset), offset };
        const reply =
          query === null
            ? await call('GET /api/v1/findings', { query: { ...plain, ...part } })
            : await call('POST /api/v1/findings/query', { body: { ...query, ...part } });
        found.push(...reply.items);
        if (reply.items.length < part.limit) break;
      }
      return found;
    },
  };
}

const exportFormats = ['csv', 'json', 'sarif'] as const;

/** The same findings as files. A saved filter has no address that a link could ask for: nothing is offered then. */
function Exports(props: { readonly filters: Filters }): JSX.Element {
  const query = (): Query<'GET /api/v1/findings/export'> => queryOf(props.filters);
  return (
    <div class="row wrap" role="group" aria-label={words.exportOf}>
      <span class="faint small">{words.export}</span>
      <For each={exportFormats}>
        {(format) => (
          <a
            class="button"
            href={linkTo('GET /api/v1/findings/export', { ...query(), format })}
            download={`findings.${format}`}
            aria-label={words.exportAs(format.toUpperCase())}
          >
            {format.toUpperCase()}
          </a>
        )}
      </For>
    </div>
  );
}

function NewFinding(props: {
  readonly access: VmAccess;
  readonly applications: Applications;
  readonly onMade: () => void;
}): JSX.Element {
  const [, setSearch] = useSearchParams();
  const [isAdding, setAdding] = createAsked('add');
  const made = (id: string): void => {
    props.onMade();
    setSearch({ add: '', finding: id });
  };
  return (
    <Show when={props.access.may('edit_findings')}>
      <Button icon="plus" onClick={() => setAdding(true)}>
        {byHandText.newFinding}
      </Button>
      <Overlay isOpen={isAdding()} title={byHandText.newFinding} onClose={() => setAdding(false)}>
        <FindingForm of={null} applications={props.applications} onSaved={made} />
      </Overlay>
    </Show>
  );
}

/** The saved filter that the address names; null: none; undefined: one is asked for, and not known yet. */
function createView(views: QueryState<Views>): Accessor<View | null | undefined> {
  const [search] = useSearchParams();
  return createMemo(() => {
    const id = search['view'];
    if (typeof id !== 'string' || id === '') return null;
    const known = views.data()?.items;
    return known === undefined ? undefined : (known.find((one) => one.id === id) ?? null);
  });
}

/** Of filters that stand in the address by a number. */
const namesIn =
  (applications: Applications, people: People) =>
  (name: string, value: string): string | null => {
    if (name === 'application_id') return applications.nameOf(value);
    if (name !== 'assignee') return null;
    return value === 'none' ? text.nobody : people.nameOf('id', value);
  };

function NoneAbout(): JSX.Element {
  return (
    <>
      {text.noFindingsAbout} <A href="/vulnerabilities/imports">{text.importReport}</A>
    </>
  );
}

/** Without a state in the address: those that are open. */
export function Findings(): JSX.Element {
  const [, setSearch] = useSearchParams();
  const filters = useFilters(filterNames);
  const applications = createApplications();
  const access = createVmAccess();
  const people = createPeople(access);
  const chosen = createSelection();
  const [opened, open] = createChosen('finding');
  const views = createQuery('GET /api/v1/findings/views');
  const view = createView(views);
  const found = createFindingList(view, filters);
  const counts = createCounts(() => (view() === null ? queryOf(filters()) : null));
  const reload = (): void => {
    found.list().reload();
    void counts.query.reload();
  };
  const mayChange = (): boolean => access.may('triage_findings') || access.may('request_acceptance');
  const boxes = choosing(chosen, () => found.list().items());
  const columns = createMemo(() => [...(mayChange() ? [boxes] : []), ...columnsOf(applications, people)]);
  return (
    <>
      <PageHead title={text.findings} about={text.findingsAbout}>
        <SavedFilters
          views={views}
          chosen={view() ?? null}
          filters={filters()}
          mine={access.me()?.id}
          onChoose={(id) => setSearch({ view: id ?? '' })}
        />
        <Show when={view() === null}>
          <Exports filters={filters()} />
        </Show>
        <NewFinding access={access} applications={applications} onMade={reload} />
        <Button onClick={reload} isBusy={found.list().isLoading()}>
          {text.refresh}
        </Button>
      </PageHead>
      <FilterBar names={filterNames} placeholder={text.titleOrFilter} nameOf={namesIn(applications, people)} />
      <Selects applications={applications} people={people} isSaved={view() !== null} />
      <FindingFacets of={counts} applications={applications} />
      <BulkBar
        chosen={chosen.rows()}
        access={access}
        people={people}
        total={found.list().total()}
        onAll={async () => chosen.set(await found.all(bulkMax))}
        onNone={() => chosen.set([])}
        onChanged={reload}
      />
      <ListCard
        label={text.findings}
        columns={columns()}
        list={found.list()}
        keyOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        chosen={opened()}
        empty={text.noFindings}
        emptyAbout={<NoneAbout />}
      />
      <FindingDrawer
        id={opened()}
        access={access}
        people={people}
        applications={applications}
        onClose={() => open(null)}
        onChanged={reload}
      />
    </>
  );
}
