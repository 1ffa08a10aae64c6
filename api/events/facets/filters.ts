// What events are counted by, and conditions of SQL made of it.
import type { Queryable } from '../../db/client.js';

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

/** A row of what was counted: a facet's value, or a bar (`facet`: blocked or other; `value`: seconds since 1970). */
export interface Counted {
  readonly facet: string;
  readonly value: string;
  readonly n: number;
}

/** Of each facet. */
export const valuesMax = 12;

const hourly: ReadonlySet<string> = new Set(['site', 'category', 'rule_id', 'verdict', 'status']);
const withIndex: ReadonlySet<string> = new Set(['client_ip', 'path', 'country', 'asn']);

const given = ({ from: _from, to: _to, ...wanted }: StatsFilters): [string, unknown][] =>
  Object.entries(wanted).filter(([, value]) => value !== undefined);

/** Whether hours can tell how many match. */
export const isOfHours = (filters: StatsFilters): boolean => given(filters).every(([name]) => hourly.has(name));

/** Whether few matching events are found without reading the others. */
export const hasIndex = (filters: StatsFilters): boolean => given(filters).some(([name]) => withIndex.has(name));

/** What hours can answer of it. */
export const ofHours = ({ from, to, ...wanted }: StatsFilters): StatsFilters => ({
  from,
  to,
  ...Object.fromEntries(given({ from, to, ...wanted }).filter(([name]) => hourly.has(name))),
});

/**
 * The column of a category. Events stored before there were categories have none and count as `other`; only where
 * `other` is wanted is that asked, so that an index on the column serves all others.
 */
export const categoryColumn = (sql: Queryable, wanted: readonly string[]) =>
  wanted.includes('other') ? sql`coalesce(category, 'other')` : sql`category`;

/** `and …` for each filter that there is, without the range. */
export function conditions(sql: Queryable, filters: StatsFilters) {
  const each = given(filters).map(([name, value]) => {
    const column =
      name === 'category'
        ? categoryColumn(sql, value as string[])
        : sql`${sql(name === 'path' ? 'path_template' : name)}`;
    return Array.isArray(value)
      ? sql`and ${column} in ${sql(value as string[])}`
      : sql`and ${column} = ${value as string}`;
  });
  return [sql``, ...each]; // an empty list would be taken for a value
}
