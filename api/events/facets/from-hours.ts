// Counts by hour: how many events match, and what has few values.
import type { Queryable } from '../../db/client.js';
import { conditions, ofHours, valuesMax, type Counted, type StatsFilters } from './filters.js';

const hourMs = 3_600_000;

export const wholeHours = (filters: StatsFilters): StatsFilters => ({
  ...filters,
  from: new Date(Math.floor(filters.from.getTime() / hourMs) * hourMs),
});

/** Hours of the range, and one by one the events that are not counted yet. */
const seenOf = (sql: Queryable, { from, to }: StatsFilters, counted: number) => sql`
  select hour as at, site, category, rule_id, verdict, status, n from event_hours
  where hour >= ${from} and hour < ${to}
  union all
  select at, site, coalesce(category, 'other'), coalesce(rule_id, 0), verdict, status, 1 from security_events
  where id > ${counted} and at >= ${from} and at < ${to}`;

export interface Extent {
  readonly inRange: number;
  /** As far as hours tell. */
  readonly matching: number;
}

/** The first hour counts whole. */
export async function extentOf(sql: Queryable, filters: StatsFilters, counted: number): Promise<Extent> {
  const [row] = await sql<{ all: number; matching: number }[]>`
    select coalesce(sum(n), 0)::bigint as all,
      coalesce(sum(n) filter (where true ${conditions(sql, ofHours(filters))}), 0)::bigint as matching
    from (${seenOf(sql, wholeHours(filters), counted)}) as seen`;
  return { inRange: row?.all ?? 0, matching: row?.matching ?? 0 };
}

/** The coarsest index answers where counts by hour are too far behind to be completed one by one. */
export async function sampledExtentOf(sql: Queryable, filters: StatsFilters): Promise<Extent> {
  const [row] = await sql<{ all: number; matching: number }[]>`
    select count(*) * 449 as all, count(*) filter (where true ${conditions(sql, filters)}) * 449 as matching
    from security_events where id % 449 = 0 and at >= ${filters.from} and at < ${filters.to}`;
  return { inRange: row?.all ?? 0, matching: row?.matching ?? 0 };
}

/** Sites and rules (0: none) of what matches, by which an index finds it, and how many events these have in all. */
export async function rulesOf(sql: Queryable, filters: StatsFilters, counted: number) {
  const [row] = await sql<{ sites: string[]; rules: number[]; n: number }[]>`
    with seen as materialized (${seenOf(sql, wholeHours(filters), counted)}),
      sites as (select distinct site from seen where true ${conditions(sql, filters)}),
      rules as (select distinct rule_id from seen where true ${conditions(sql, filters)})
    select (select coalesce(json_agg(site), '[]') from sites) as sites,
      (select coalesce(json_agg(rule_id), '[]') from rules) as rules,
      (select coalesce(sum(n), 0)::bigint from seen
        where site in (select site from sites) and rule_id in (select rule_id from rules)) as n`;
  return row ?? { sites: [], rules: [], n: 0 };
}

const hourFacets = ['site', 'category', 'rule_id', 'verdict', 'status'] as const;

/** Facets and bars, over whole hours. */
export async function readHours(
  sql: Queryable,
  filters: StatsFilters,
  step: number,
  counted: number,
): Promise<Counted[]> {
  const rows = await sql<Counted[]>`
    with seen as materialized (
      select * from (${seenOf(sql, filters, counted)}) as each where true ${conditions(sql, filters)}
    ), kinds as materialized (
      select site, category, rule_id, verdict, status, sum(n) as n from seen group by 1, 2, 3, 4, 5
    ), counted as (
      select grouping(site, category, rule_id, verdict, status) as which,
        coalesce(site, category, nullif(rule_id, 0)::text, verdict, status::text) as value, sum(n)::bigint as n
      from kinds group by grouping sets ((site), (category), (rule_id), (verdict), (status))
    ), ranked as (
      select which, value, n, row_number() over (partition by which order by n desc, value) as place
      from counted where value is not null
    )
    select which::text as facet, value, n from ranked where place <= ${valuesMax}
    union all
    select case when verdict = 'block' then 'blocked' else 'other' end,
      (floor(extract(epoch from at) / ${step}::int) * ${step}::int)::bigint::text, sum(n)::bigint
    from seen group by 1, 2`;
  return rows.map((row) => ({ ...row, facet: facetOfGrouping(hourFacets, row.facet) }));
}

/** The bit of `grouping` that is 0 tells which column a row is of. Of a bar: its name. */
export function facetOfGrouping(names: readonly string[], which: string): string {
  const bits = 2 ** names.length - 1 - Number(which);
  return names.find((_, at) => bits === 1 << (names.length - 1 - at)) ?? which;
}
