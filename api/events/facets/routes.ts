// GET /api/events/stats: the histogram and the facets of the workbench.
import { Type, type Static } from '@sinclair/typebox';
import {
  checkAddress,
  closed,
  listOf,
  Nullable,
  OneOf,
  parseRange,
  refusals,
  Time,
  type App,
} from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import { eventFilters } from '../query.js';
import { eventCategories, isCategory } from '../summary/categories.js';
import { locationKinds, locationStatuses, type Locations } from '../places/locations.js';
import { facetNames, type FacetName, type StatsFilters } from './filters.js';
import { readStats, type EventStats } from './stats.js';

export type FacetParts = Pick<Parts, 'database' | 'now' | 'locations'>;

const dayMs = 86_400_000;
/** Where no range is asked for. */
const daysDefault = 1;

const { from, to, site, category, rule_id, verdict, status, client_ip, path, country, asn, method } = eventFilters;
const StatsQuery = Type.Object(
  { from, to, site, category, rule_id, verdict, status, client_ip, path, country, asn, method },
  closed,
);

const Facet = Type.Object({
  values: Type.Array(
    Type.Object({
      value: Type.String(),
      n: Type.Integer(),
      name: Nullable(Type.String({ description: 'of a category' })),
    }),
  ),
  is_estimate: Type.Boolean({ description: 'of a sample: one event in `one_in`, evenly over the range' }),
});
const Location = Type.Object({
  of: OneOf([...locationKinds], 'what the file tells of a client'),
  status: OneOf([...locationStatuses], 'old: built over 60 days ago, and in use'),
  built_at: Nullable(Time),
  notice: Nullable(Type.String({ description: 'what is wrong and what to do' })),
});
const StatsView = Type.Object({
  from: Time,
  to: Time,
  total: Type.Integer(),
  is_estimate: Type.Boolean({ description: 'total and histogram are of a sample: one event in `one_in`' }),
  one_in: Type.Integer({ description: 'each so many-th event was read for what is an estimate; 1: every one' }),
  step_seconds: Type.Integer(),
  histogram: Type.Array(Type.Object({ at: Time, n: Type.Integer(), blocked: Type.Integer() }), {
    description: 'bars without events are left out',
  }),
  facets: Type.Object(Object.fromEntries(facetNames.map((name) => [name, Facet])) as Record<FacetName, typeof Facet>),
  notices: Type.Array(Type.String(), { description: 'what the counts lack, in sentences' }),
  locations: Type.Array(Location, { description: 'files of MMDB_COUNTRY_FILE and MMDB_NETWORK_FILE, if set' }),
});

const schema = {
  tags: ['events'],
  summary: 'How many events there are over time and by facet, over the whole range; the last day unless it is named',
  querystring: StatsQuery,
  response: { 200: StatsView, ...refusals },
};

function filtersOf(query: Static<typeof StatsQuery>, nowMs: number): StatsFilters {
  const range = parseRange(query);
  checkAddress(query.client_ip, '/client_ip');
  const end = range.to ?? new Date(nowMs);
  const { from: _from, to: _to, verdict: verdicts, category: categories, ...equal } = query;
  return {
    ...equal,
    ...(verdicts === undefined ? {} : { verdict: [...listOf(verdicts)] as string[] }),
    ...(categories === undefined ? {} : { category: [...listOf(categories)] as string[] }),
    from: range.from ?? new Date(end.getTime() - daysDefault * dayMs),
    to: end,
  };
}

const nameOf = (facet: FacetName, value: string): string | null =>
  facet === 'category' && isCategory(value) ? eventCategories[value].name : null;

const view = (stats: EventStats, locations: Locations): Static<typeof StatsView> => ({
  ...stats,
  from: stats.from.toISOString(),
  to: stats.to.toISOString(),
  notices: [...stats.notices],
  histogram: stats.histogram.map(({ at, n, blocked }) => ({ at: at.toISOString(), n, blocked })),
  facets: Object.fromEntries(
    facetNames.map((name) => {
      const { values, is_estimate } = stats.facets[name];
      return [name, { values: values.map(({ value, n }) => ({ value, n, name: nameOf(name, value) })), is_estimate }];
    }),
  ) as Static<typeof StatsView>['facets'],
  locations: locations.states().map((state) => ({ ...state, built_at: state.built_at?.toISOString() ?? null })),
});

export function registerFacetRoutes(app: App, { database, now, locations }: FacetParts): void {
  app.get('/api/events/stats', { schema }, async (request) => {
    await locations.refresh();
    return view(await readStats(database, filtersOf(request.query, now())), locations);
  });
}
