// Counts of events themselves, one by one or by a sample, each from an index that holds all facets.
import type { Queryable } from '../../db/client.js';
import { conditions, facetNames, valuesMax, type Counted, type StatsFilters } from './filters.js';
import { facetOfGrouping } from './from-hours.js';

/** Each so many-th event has an index of its own (migration 003); 1: all. */
export const samples = [1, 7, 29, 113, 449] as const;
export type Sample = (typeof samples)[number];

/** Written out, so that the planner finds the index whatever the parameters are. */
const sampled = (sql: Queryable, one: Sample) =>
  ({
    1: sql``,
    7: sql`and id % 7 = 0`,
    29: sql`and id % 29 = 0`,
    113: sql`and id % 113 = 0`,
    449: sql`and id % 449 = 0`,
  })[one];

/** By which an index finds the events: those of these sites and rules (0: of none). */
export interface Narrowed {
  readonly sites: readonly string[];
  readonly rules: readonly number[];
}

const narrowedTo = (sql: Queryable, { sites, rules }: Narrowed) =>
  sites.length === 0
    ? sql`and false`
    : sql`and site in ${sql([...sites])} and coalesce(rule_id, 0) in ${sql([...rules])}`;

export interface Reading {
  readonly filters: StatsFilters;
  readonly sample: Sample;
  readonly step: number;
  readonly narrowed?: Narrowed;
}

const seenOf = (sql: Queryable, { filters, sample, narrowed }: Reading) => sql`
  select at, site, coalesce(category, 'other') as category, rule_id, verdict, status, client_ip, path_template,
    country, asn
  from security_events
  where at >= ${filters.from} and at < ${filters.to} ${sampled(sql, sample)} ${conditions(sql, filters)}
    ${narrowed === undefined ? sql`` : narrowedTo(sql, narrowed)}`;

const scaled = (rows: readonly Counted[], names: readonly string[], sample: Sample): Counted[] =>
  rows.map(({ facet, value, n }) => ({ facet: facetOfGrouping(names, facet), value, n: n * sample }));

/** All facets, and bars. */
export async function readEvents(sql: Queryable, reading: Reading): Promise<Counted[]> {
  const { step, sample } = reading;
  const rows = await sql<Counted[]>`
    with seen as materialized (${seenOf(sql, reading)}), counted as (
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
    select which::text as facet, value, n from ranked where place <= ${valuesMax}
    union all
    select case when verdict = 'block' then 'blocked' else 'other' end,
      (floor(extract(epoch from at) / ${step}::int) * ${step}::int)::bigint::text, count(*)
    from seen group by 1, 2`;
  return scaled(rows, facetNames, sample);
}

/** Facets with many values, which hours do not have. */
export const manyValued = ['client_ip', 'path', 'country', 'asn'] as const;

export async function readManyValued(sql: Queryable, reading: Reading): Promise<Counted[]> {
  const rows = await sql<Counted[]>`
    with counted as (
      select grouping(client_ip, path_template, country, asn) as which,
        coalesce(client_ip, path_template, country, asn::text) as value, count(*) as n
      from (${seenOf(sql, reading)}) as seen
      group by grouping sets ((client_ip), (path_template), (country), (asn))
    ), ranked as (
      select which, value, n, row_number() over (partition by which order by n desc, value) as place
      from counted where value is not null and value <> ''
    )
    select which::text as facet, value, n from ranked where place <= ${valuesMax}`;
  return scaled(rows, manyValued, reading.sample);
}
