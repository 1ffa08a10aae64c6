// Components: what applications are made of, filtered by the address; one of them with the findings in its package.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, Match, Show, Switch, type JSX } from 'solid-js';
import type { Item, Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess, type VmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, PageHead, Tabs } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { SelectField } from '../../kit/form.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { componentsText as text } from '../../texts/vm/sources/components.js';
import { sbomsText as bills } from '../../texts/vm/sources/sboms.js';
import { createApplications, type Applications } from '../vulnerabilities/words.js';
import { Bills } from './bills.js';
import { ComponentDrawer } from './component-drawer.js';
import { createMatching, MatchButton, MatchOutcome } from './match.js';
import { UpgradePlan } from './plan.js';

type Component = Item<'GET /api/v1/sca/components'>;
type ComponentQuery = Omit<Query<'GET /api/v1/sca/components'>, 'cursor' | 'limit'>;

const filterNames = 'q application_id project_id type name version purl licence relation state'.split(' ');

const states: readonly (readonly [string, string])[] = [
  ['', text.states.live],
  ['gone', text.states.gone],
  ['all', text.states.all],
];
const relations: readonly (readonly [string, string])[] = [['', text.anyRelation], ...Object.entries(text.relations)];
const orders: readonly (readonly [string, string])[] = [
  ['', text.asRead],
  ['-first_seen', text.newestFirst],
  ['-last_seen', text.lastSeenFirst],
];

const columnsOf = (applications: Applications): readonly TableColumn<Component>[] => [
  {
    title: text.name,
    cell: ({ name, gone_at: gone }) => (
      <span class="row wrap">
        <Foreign text={name} max={160} />
        <Show when={gone}>
          <Badge>{text.gone}</Badge>
        </Show>
      </span>
    ),
  },
  { title: text.version, class: 'mono', cell: ({ version }) => <Foreign text={version || '–'} max={60} /> },
  { title: text.ecosystem, cell: ({ type }) => <Foreign text={type || '–'} max={30} /> },
  {
    title: text.application,
    cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={80} />,
  },
  { title: text.relation, cell: ({ relation }) => text.relations[relation] },
  { title: text.licences, cell: ({ licences }) => <Foreign text={licences.join(', ') || '–'} max={80} /> },
  { title: text.firstSeen, class: 'nums', cell: ({ first_seen: at }) => showMoment(at, true) },
  { title: text.lastSeen, class: 'nums', cell: ({ last_seen: at }) => showMoment(at, true) },
];

function Selects(props: { readonly applications: Applications; readonly value: (name: string) => string }) {
  const [, setSearch] = useSearchParams();
  const set = (name: string) => (chosen: string) => setSearch({ [name]: chosen });
  return (
    <div class="grid grid-4">
      <SelectField
        label={text.application}
        value={props.value('application_id')}
        options={props.applications.options(text.everyApplication)}
        onChange={set('application_id')}
      />
      <SelectField label={text.state} value={props.value('state')} options={states} onChange={set('state')} />
      <SelectField
        label={text.relation}
        value={props.value('relation')}
        options={relations}
        onChange={set('relation')}
      />
      <SelectField label={text.order} value={props.value('sort')} options={orders} onChange={set('sort')} />
    </div>
  );
}

/** Without a state in the address: what the last bills list. */
function Inventory(props: { readonly access: VmAccess; readonly applications: Applications }): JSX.Element {
  const [search] = useSearchParams();
  const { access, applications } = props;
  const filters = useFilters(filterNames);
  const value = (name: string): string => (typeof search[name] === 'string' ? search[name] : '');
  const sort = createMemo(() => value('sort'));
  const question = (): ComponentQuery =>
    ({ ...filters(), ...(sort() === '' ? {} : { sort: sort() }) }) as ComponentQuery;
  const list = createPagedList('GET /api/v1/sca/components', question);
  const [chosen, choose] = createChosen('component');
  const application = (): string => value('application_id');
  const matching = createMatching(application, list.reload);
  return (
    <>
      <Show when={access.may('import_findings')}>
        <div class="row">
          <MatchButton of={matching} application={application()} />
        </div>
      </Show>
      <FilterBar names={filterNames} placeholder={text.filterHint} />
      <Selects applications={applications} value={value} />
      <Show when={access.may('import_findings') && application() === ''}>
        <p class="muted small">{text.matchHelp}</p>
      </Show>
      <MatchOutcome of={matching} />
      <ListCard
        label={text.components}
        columns={columnsOf(applications)}
        list={list}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={
          <>
            {text.noneAbout} <A href="/vulnerabilities/imports">{text.importBill}</A>
          </>
        }
      />
      <ComponentDrawer
        id={chosen()}
        applications={applications}
        maySeeWhy={access.may('view_code')}
        onClose={() => choose(null)}
      />
    </>
  );
}

const tabs = [
  ['components', bills.view.components],
  ['bills', bills.view.bills],
  ['plan', bills.view.plan],
] as const;

export function Components(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const applications = createApplications();
  const shown = () => (access.may('view_code') ? tabs : tabs.slice(0, 1));
  const tab = () => shown().find(([name]) => name === search['view'])?.[0] ?? 'components';
  return (
    <>
      <PageHead title={text.components} about={text.about} />
      <Tabs label={bills.views} tabs={shown()} chosen={tab()} onChoose={(view) => setSearch({ view, bill: '' })} />
      <Switch>
        <Match when={tab() === 'components'}>
          <Inventory access={access} applications={applications} />
        </Match>
        <Match when={tab() === 'bills'}>
          <Bills applications={applications} maySend={access.may('import_findings')} />
        </Match>
        <Match when={tab() === 'plan'}>
          <UpgradePlan applications={applications} />
        </Match>
      </Switch>
    </>
  );
}
