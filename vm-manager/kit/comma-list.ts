// Filters that take several words: `severity=high,critical`, or the parameter several times. A row fits that has one.
import { OneOf } from '#http-kit';
import { Type, type TSchema } from '@sinclair/typebox';
import type { Fragment, Queryable } from '../database.js';

/** One word, or a list of them. */
export const SomeOf = <const Words extends readonly string[]>(words: Words, description = '') =>
  Type.Union([OneOf(words), Type.Array(OneOf(words), { minItems: 1, maxItems: 30 })], {
    description: `${description === '' ? '' : `${description}; `}several are separated by commas`,
  });

export const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [value as T];

/** The column has one of the words. */
export const hasOneOf = (sql: Queryable, column: string, given: string | readonly string[]): Fragment =>
  sql`${sql(column)} in ${sql([...listOf(given)])}`;

const takesWords = (schema: TSchema | undefined): boolean =>
  (schema?.['anyOf'] as readonly TSchema[] | undefined)?.some(
    (one) => one['type'] === 'array' && Array.isArray((one['items'] as TSchema)['enum']),
  ) === true;

/** Splits the values of such filters in a query that was not checked yet; others keep their commas. */
export function splitCommas(schema: TSchema | undefined, query: unknown): void {
  if (schema === undefined || typeof query !== 'object' || query === null) return;
  const given = query as Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) {
    const properties = schema['properties'] as Readonly<Record<string, TSchema>>;
    if (!Object.hasOwn(properties, name) || !takesWords(properties[name])) continue;
    const values = listOf(value).flatMap((one) => (typeof one === 'string' ? one.split(',') : [one]));
    if (values.length > 1) given[name] = values.map((one) => (typeof one === 'string' ? one.trim() : one));
  }
}
