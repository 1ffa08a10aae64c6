// The posture score: 100 where nothing is open, and less with everything that is. What one finding costs is a row here
// and nowhere else; the endpoints, the trend's statement and the tests read it.
import type { Fragment, Queryable } from '../database.js';

/** Numbers of one application on one day: columns of vm_app_days. */
export interface AppDay {
  readonly open_critical: number;
  readonly open_high: number;
  readonly open_medium: number;
  readonly open_low: number;
  readonly open_info: number;
  readonly overdue: number;
  readonly kev: number;
}

interface Factor {
  readonly column: keyof AppDay;
  readonly label: string;
  /** What one such finding costs. */
  readonly weight: number;
}

export const factors: readonly Factor[] = [
  { column: 'open_critical', label: 'open critical findings', weight: 10 },
  { column: 'open_high', label: 'open high findings', weight: 4 },
  { column: 'open_medium', label: 'open medium findings', weight: 1 },
  { column: 'open_low', label: 'open low findings', weight: 0.25 },
  { column: 'kev', label: 'open findings that are known to be exploited', weight: 10 },
  { column: 'overdue', label: 'findings past their due date', weight: 2 },
];

/** An application whose findings cost so much has half of the points. */
const halfAt = 40;

/** How much an application counts where several make one score. */
export const importance: Readonly<Record<string, number>> = { critical: 4, high: 3, medium: 2, low: 1, unknown: 2 };

export const costOf = (day: AppDay): number =>
  factors.reduce((sum, { column, weight }) => sum + day[column] * weight, 0);

/** 0 to 100. */
export const scoreOf = (day: AppDay): number => (100 * halfAt) / (halfAt + costOf(day));

/** The same in SQL; `table` has the columns. The weights are numbers of this file, never somebody's text. */
export function scoreIn(sql: Queryable, table: 'd'): Fragment {
  const cost = factors.map(({ column, weight }) => `${table}.${column} * ${weight}`).join(' + ');
  return sql`${sql.unsafe(`(${100 * halfAt} / (${halfAt} + ${cost})::float8)`)}`;
}

/** The importance in SQL, of the criticality of `a`. */
export function importanceIn(sql: Queryable): Fragment {
  const cases = Object.entries(importance).map(([name, weight]) => `when '${name}' then ${weight}`);
  return sql`${sql.unsafe(`(case a.business_criticality ${cases.join(' ')} end)`)}`;
}
