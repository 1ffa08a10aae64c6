// Filters that take several words, in SQL. A row fits that has one of them.
import { listOf } from '#http-kit';
import type { Fragment, Queryable } from '../database.js';

export { listOf, SomeOf, splitCommas } from '#http-kit';

/** The column has one of the words. */
export const hasOneOf = (sql: Queryable, column: string, given: string | readonly string[]): Fragment =>
  sql`${sql(column)} in ${sql([...listOf(given)])}`;
