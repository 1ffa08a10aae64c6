// Facets and the histogram of the workbench. Up to `readMax` matching events are counted one by one, from the index
// alone; beyond that the counts by hour and day answer, and where filters ask for what these do not have, the newest
// `readMax` events stand for all (`is_estimate`).
import type { Queryable } from '../../db/client.js';
import type { Database } from '../../db/client.js';
import { allSites, countedTo, manyValued } from './rollup.js';

export const facetNames = [
  'site',
  'category',
  'rule_id',
  'verdict',
  'status',
  'client_ip',
  'path',
  'country',
  'asn',
] as const;
export type FacetName = (typeof facetNames)[number];

export interface StatsFilters {
  readonly from: Date;
  readonly to: Date;
  readonly site?: string | undefined;
  readonly category?: readonly string[] | undefined;
  readonly rule_id?: number | undefined;
  readonly verdict?: readonly string[] | undefined;
  readonly status?: number | undefined;
  readonly client_ip?: string | undefined;
  readonly path?: string | undefined;
  readonly country?: string | undefined;
  readonly asn?: number | undefined;
  readonly method?: string | undefined;
}

export interface FacetValue {
  readonly value: string;
  readonly n: number;
}
export interface EventStats {
  readonly from: Date;
  readonly to: Date;
  readonly total: number;
  readonly step_seconds: number;
  readonly histogram: readonly { readonly at: Date; readonly n: number; readonly blocked: number }[];
  readonly facets: Readonly<
    Record<FacetName, { readonly values: readonly FacetValue[]; readonly is_estimate: boolean }>
  >;
}

const readMax = { postgres: 150_000, embedded: 20_000 } as const;
const valuesMax = 12;
const hourMs = 3_600_000;
const barsMax = 120;
const steps = [10, 60, 300, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800] as const;

/** Whole steps, so that a bar covers the same time whenever it is asked for. */
export const stepSeconds = (from: Date, to: Date): number =>
  steps.find((step) => (to.getTime() - from.getTime()) / 1000 / step <= barsMax) ?? 604_800;

/** `and …` for each filter that there is; `names` of the columns of what is read. */
function conditions(sql: Queryable, { from, to, ...wanted }: StatsFilters) {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined) as [string, unknown][];
  const each = given.map(([name, value]) => {
    const column = sql(name === 'path' ? 'path_template' : name);
    return Array.isArray(value)
      ? sql`and ${column} in ${sql(value as string[])}`
      : sql`and ${column} = ${value as string}`;
  });
  return [sql``, ...each]; // an empty list would be taken for a value
}

interface Counted {
  readonly facet: string;
  readonly value: string;
  readonly n: number;
}

/** Filters that hours can answer. */
const hourly = new Set(['site', 'category', 'rule_id', 'verdict', 'status']);

function namesOf({ from, to, ...wanted }: StatsFilters): string[] {
  return Object.entries(wanted).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** From the newest matching events: counts of every facet, at most `limit` events. */
async function readEvents(sql: Queryable, filters: StatsFilters, limit: number): Promise<Counted[]> {
  const step = stepSeconds(filters.from, filters.to);
  return sql<Counted[]>`
    with seen as materialized (
      select at, site, coalesce(category, 'other') as category, rule_id, verdict, status, client_ip, path_template,
        country, asn
      from security_events
      where at >= ${filters.from} and at < ${filters.to} ${conditions(sql, filters)}
      order by at desc limit ${limit}
    ), counted as (
      select grouping(site, category, rule_id, verdict, status, client_ip, path_template, country, asn) as which,
        coalesce(site, category, rule_id::text, verdict, status::text, client_ip, path_template, country, asn::text)
          as value, count(*) as n
      from seen
      group by grouping sets ((site), (category), (rule_id), (verdict), (status), (client_ip), (path_template),
        (country), (asn))
    ), ranked as (
      select which, value, n, row_number() over (partition by which order by n desc, value) as place
      from counted where value is not null and value <> ''
    )
    select 'facet:' || which as facet, value, n from ranked where place <= ${valuesMax}
    union all
    select case when verdict = 'block' then 'blocked' else 'other' end,
      (floor(extract(epoch from at) / ${step}::int) * ${step}::int)::bigint::text, count(*)
    from seen group by 1, 2`;
}

/** The bit of `grouping` that is 0 tells which column a row is of. */
const facetOfGrouping = (which: number): FacetName | undefined => {
  const all = 2 ** facetNames.length - 1;
  return facetNames.find((_, at) => (all & ~(1 << (facetNames.length - 1 - at))) === which);
};

async function readHours(sql: Queryable, filters: StatsFilters, to: number): Promise<Counted[]> {
  const step = Math.max(3600, stepSeconds(filters.from, filters.to));
  return sql<Counted[]>`
    with seen as materialized (
      select hour as at, site, category, rule_id, verdict, status, n from event_hours
      where hour >= ${filters.from} and hour < ${filters.to} ${conditions(sql, filters)}
      union all
      select at, site, coalesce(category, 'other'), coalesce(rule_id, 0), verdict, status, 1 from security_events
      where id > ${to} and at >= ${filters.from} and at < ${filters.to} ${conditions(sql, filters)}
    ), counted as (
      select grouping(site, category, rule_id, verdict, status) as which,
        coalesce(site, category, nullif(rule_id, 0)::text, verdict, status::text) as value, sum(n)::bigint as n
      from seen group by grouping sets ((site), (category), (rule_id), (verdict), (status))
    ), ranked as (
      select which, value, n, row_number() over (partition by which order by n desc, value) as place
      from counted where value is not null
    )
    select 'hours:' || which as facet, value, n from ranked where place <= ${valuesMax}
    union all
    select case when verdict = 'block' then 'blocked' else 'other' end,
      (floor(extract(epoch from at) / ${step}::int) * ${step}::int)::bigint::text, sum(n)::bigint
    from seen group by 1, 2`;
}

const hourFacets = ['site', 'category', 'rule_id', 'verdict', 'status'] as const;
const facetOfHours = (which: number): FacetName | undefined => {
  const all = 2 ** hourFacets.length - 1;
  return hourFacets.find((_, at) => (all & ~(1 << (hourFacets.length - 1 - at))) === which);
};

const nameOfDays: Readonly<Record<string, FacetName>> = {
  client: 'client_ip',
  path: 'path',
  country: 'country',
  asn: 'asn',
};

/** Whole days: the first one may begin before the range. */
async function readDays(sql: Queryable, { from, to, site }: StatsFilters, counted: number): Promise<Counted[]> {
  const ofSite = site === undefined ? sql`` : sql`and site = ${site}`;
  return sql<Counted[]>`
    select found.* from unnest(string_to_array(${manyValued.join(',')}, ',')) as wanted (name), lateral (
      select 'days:' || wanted.name as facet, value, sum(n)::bigint as n from (
        select value, n from event_days
        where facet = wanted.name and site = ${site ?? allSites}
          and day >= date_trunc('day', ${from}::timestamptz, 'UTC') and day < ${to}
        union all
        select case wanted.name when 'client' then client_ip when 'path' then path_template
          when 'country' then country else asn::text end, 1
        from security_events where id > ${counted} and at >= ${from} and at < ${to} ${ofSite}
      ) as merged where value is not null and value <> ''
      group by value order by 3 desc, value limit ${valuesMax}
    ) as found`;
}

const emptyFacets = (): Record<FacetName, { values: FacetValue[]; is_estimate: boolean }> =>
  Object.fromEntries(facetNames.map((name) => [name, { values: [], is_estimate: false }])) as never;

function assemble(
  filters: StatsFilters,
  step: number,
  counted: readonly Counted[],
  estimated: ReadonlySet<string>,
): EventStats {
  const facets = emptyFacets();
  const bars = new Map<number, { n: number; blocked: number }>();
  for (const { facet, value, n } of counted) {
    const [kind = '', which = ''] = facet.split(':');
    const name =
      kind === 'facet'
        ? facetOfGrouping(Number(which))
        : kind === 'hours'
          ? facetOfHours(Number(which))
          : kind === 'days'
            ? nameOfDays[which]
            : undefined;
    if (name !== undefined) {
      facets[name].values.push({ value, n });
      facets[name].is_estimate = estimated.has(name);
    } else if (which === '') {
      const bar = bars.get(Number(value)) ?? { n: 0, blocked: 0 };
      bars.set(Number(value), { n: bar.n + n, blocked: bar.blocked + (kind === 'blocked' ? n : 0) });
    }
  }
  const histogram = [...bars]
    .sort(([a], [b]) => a - b)
    .map(([second, { n, blocked }]) => ({ at: new Date(second * 1000), n, blocked }));
  const total = histogram.reduce((sum, { n }) => sum + n, 0);
  return { from: filters.from, to: filters.to, total, step_seconds: step, histogram, facets };
}

/** How many events match, as far as hours tell; null: they cannot. */
async function estimateOf(sql: Queryable, filters: StatsFilters): Promise<number | null> {
  const names = namesOf(filters).filter((name) => hourly.has(name));
  const known = Object.fromEntries(names.map((name) => [name, filters[name as keyof StatsFilters]]));
  const from = new Date(Math.floor(filters.from.getTime() / hourMs) * hourMs);
  const asked = { ...known, from, to: filters.to };
  const [row] = await sql<{ n: number }[]>`
    select coalesce(sum(n), 0)::bigint as n from event_hours
    where hour >= ${asked.from} and hour < ${asked.to} ${conditions(sql, asked)}`;
  return row?.n ?? null;
}

export async function readStats(
  { sql, kind }: Pick<Database, 'sql' | 'kind'>,
  filters: StatsFilters,
  /** Events that are counted one by one. */
  limit: number = readMax[kind],
): Promise<EventStats> {
  const step = stepSeconds(filters.from, filters.to);
  const names = namesOf(filters);
  const isOfHours = names.every((name) => hourly.has(name));
  if (((await estimateOf(sql, filters)) ?? 0) < limit)
    return assemble(filters, step, await readEvents(sql, filters, limit), new Set());
  if (!isOfHours) return assemble(filters, step, await readEvents(sql, filters, limit), new Set(facetNames));
  // hours begin on the hour: the range does, too
  const wide = { ...filters, from: new Date(Math.floor(filters.from.getTime() / hourMs) * hourMs) };
  const counted = await countedTo(sql);
  const hours = await readHours(sql, wide, counted);
  const isOfDays = names.every((name) => name === 'site');
  const many = isOfDays ? await readDays(sql, wide, counted) : (await readEvents(sql, wide, limit)).filter(isOfMany);
  const estimated = new Set<string>(['client_ip', 'path', 'country', 'asn']);
  return assemble(wide, Math.max(3600, step), [...hours, ...many], estimated);
}

const isOfMany = ({ facet }: Counted): boolean => {
  if (!facet.startsWith('facet:')) return false;
  const name = facetOfGrouping(Number(facet.slice('facet:'.length)));
  return name !== undefined && !(hourFacets as readonly string[]).includes(name);
};
