// API security: the endpoints that were seen, what goes on between services, and how others tell what they see.
import { A, useSearchParams } from '@solidjs/router';
import { Match, Show, Switch, type JSX } from 'solid-js';
import { linkTo, type Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Figure, Foreign, PageHead, Tabs, type Tone } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { flowText } from '../../texts/apis/data-flow.js';
import { apisText as text } from '../../texts/apis/inventory.js';
import { DataFlow } from './data-flow.js';
import { EastWest } from './east-west.js';
import { EndpointDrawer } from './endpoint-drawer.js';
import { Sources } from './sources.js';

export type Endpoint = Item<'GET /api/inventory'>;

const filterNames = [
  'q',
  'site',
  'method',
  'access',
  'auth',
  'classification',
  'band',
  'shadow',
  'unprotected_sensitive',
];
const bandTones: Readonly<Record<Endpoint['risk']['band'], Tone>> = {
  critical: 'danger',
  high: 'danger',
  medium: 'warn',
  low: 'neutral',
};
const dataTones: Readonly<Record<Endpoint['classification'], Tone>> = {
  Restricted: 'danger',
  Confidential: 'warn',
  Internal: 'info',
  Public: 'neutral',
};
const authTones: Readonly<Record<Endpoint['auth'], Tone>> = {
  enforced: 'good',
  'accepted-without': 'danger',
  mixed: 'warn',
  unknown: 'neutral',
};

/** What anybody may have anyway alarms nobody. */
const authTone = ({ auth, classification }: Endpoint): Tone =>
  auth === 'accepted-without' && classification === 'Public' ? 'neutral' : authTones[auth];

/** What an endpoint is known by. */
export const keyOf = ({ site, method, template }: Endpoint): string => JSON.stringify([site, method, template]);

const columns: readonly TableColumn<Endpoint>[] = [
  { title: text.method, cell: ({ method }) => <Foreign text={method} max={20} /> },
  {
    title: text.endpoint,
    cell: ({ template, shadow }) => (
      <span class="row wrap mono">
        <Foreign text={template} max={200} />
        <Show when={shadow === true}>
          <Badge tone="warn">{text.shadow}</Badge>
        </Show>
      </span>
    ),
  },
  { title: text.site, cell: ({ site }) => <Foreign text={site} max={60} /> },
  { title: text.auth, cell: (endpoint) => <Badge tone={authTone(endpoint)}>{text.auths[endpoint.auth]}</Badge> },
  {
    title: text.classification,
    cell: ({ classification }) => <Badge tone={dataTones[classification]}>{classification}</Badge>,
  },
  {
    title: text.risk,
    sortBy: ({ risk }) => risk.score,
    cell: ({ risk }) => <Badge tone={bandTones[risk.band]}>{`${risk.score} ${risk.band}`}</Badge>,
  },
  { title: text.hits, isNumber: true, sortBy: ({ hits }) => hits, cell: ({ hits }) => showCount(hits) },
  { title: text.lastSeen, class: 'nums', cell: ({ last_seen: at }) => showMoment(at) },
];

/** Each number opens the endpoints that it counts, where a filter says which. */
function Figures(): JSX.Element {
  const stats = createQuery('GET /api/inventory/stats');
  return (
    <Read of={stats}>
      {(data) => (
        <div class="grid-4">
          <Figure label={text.endpoints} value={showCount(data().endpoints)} href="/inventory" />
          <Figure
            label={text.shadowFigure}
            value={showCount(data().shadow)}
            note={text.shadowNote}
            href="/inventory?shadow=true"
          />
          <Figure
            label={text.unprotected}
            value={showCount(data().unprotected_sensitive)}
            note={text.unprotectedNote}
            href="/inventory?unprotected_sensitive=true"
          />
          <Figure label={text.sites} value={showCount(data().sites)} note={text.dropped(showCount(data().dropped))} />
        </div>
      )}
    </Read>
  );
}

function Endpoints(): JSX.Element {
  const filters = useFilters(filterNames);
  const [chosen, choose] = createChosen('endpoint');
  const list = createPagedList('GET /api/inventory', () => filters() as Readonly<Record<string, never>>);
  return (
    <>
      <Figures />
      <div class="row wrap between">
        <FilterBar names={filterNames} placeholder={text.partOfTemplate} />
        <a class="button" href={linkTo('GET /api/inventory/export', filters() as never)} download="inventory.csv">
          {text.exportCsv}
        </a>
      </div>
      <ListCard
        label={text.endpoints}
        list={list}
        columns={columns}
        keyOf={keyOf}
        chosen={chosen()}
        onOpen={(one) => choose(keyOf(one))}
        empty={text.noEndpoints}
        emptyAbout={
          <>
            {text.noEndpointsAbout} <A href="/inventory?view=sources">{text.toSources}</A>
          </>
        }
      />
      <EndpointDrawer
        of={list.items().find((one) => keyOf(one) === chosen()) ?? null}
        onClose={() => choose(null)}
        onChanged={list.reload}
      />
    </>
  );
}

type TabName = 'endpoints' | 'data-flow' | 'east-west' | 'sources';
const tabs: readonly (readonly [TabName, string])[] = [
  ['endpoints', text.endpoints],
  ['data-flow', flowText.dataFlow],
  ['east-west', text.eastWest],
  ['sources', text.sources],
];

const abouts: Readonly<Record<TabName, string>> = {
  endpoints: text.inventoryAbout,
  'data-flow': flowText.about,
  'east-west': text.eastWestAbout,
  sources: text.sourcesAbout,
};

export function ApiInventory(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => tabs.find(([name]) => name === search['view'])?.[0] ?? 'endpoints';
  const about = (): string => abouts[tab()];
  return (
    <>
      <PageHead title={text.inventory} about={about()} />
      <Tabs label={text.inventory} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'endpoints'}>
          <Endpoints />
        </Match>
        <Match when={tab() === 'data-flow'}>
          <DataFlow />
        </Match>
        <Match when={tab() === 'east-west'}>
          <EastWest />
        </Match>
        <Match when={tab() === 'sources'}>
          <Sources />
        </Match>
      </Switch>
    </>
  );
}
