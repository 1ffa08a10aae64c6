// Filters of lists, as they come in a query string.
import { Type, type TSchema } from '@sinclair/typebox';
import { isIP } from 'node:net';
import { ApiError } from './problem.js';

/** One of some words; the refusal of another one names them. */
export const OneOf = <const Words extends readonly string[]>(words: Words, description = '') =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...(description === '' ? {} : { description }) });

/** A moment in a query string: a day, or a time of it in UTC. */
export const Moment = (description: string) =>
  Type.String({ maxLength: 40, pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?Z)?$', description });

/** Whether the day that a text begins with, if any, is in the calendar: JavaScript moves 30 February to March. */
export function isDayOfCalendar(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(text) ?? [];
  if (day === undefined) return true;
  const last = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  return Number(year) >= 1 && Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= last;
}

/** What `Moment` let in; throws `validation_failed` for dates that do not exist. */
export function parseMoment(text: string, path: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()) || !isDayOfCalendar(text))
    throw new ApiError('validation_failed', `${path} is not a moment.`, {
      errors: [{ path, reason: 'is not a moment in UTC such as 2026-01-31T12:00:00Z' }],
    });
  return at;
}

/** From one moment (inclusive) to another (exclusive); throws `validation_failed` where nothing can lie between. */
export function parseRange(given: { readonly from?: string | undefined; readonly to?: string | undefined }): {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
} {
  const from = given.from === undefined ? undefined : parseMoment(given.from, '/from');
  const to = given.to === undefined ? undefined : parseMoment(given.to, '/to');
  if (from !== undefined && to !== undefined && from >= to)
    throw new ApiError('validation_failed', '/to is not after /from: nothing can lie between.', {
      errors: [{ path: '/to', reason: 'is not after /from', fix: 'exchange the two' }],
    });
  return { from, to };
}

/** Throws `validation_failed` for what is no IPv4 or IPv6 address: a filter by it would find nothing for ever. */
export function checkAddress(text: string | undefined, path: string): void {
  if (text === undefined || isIP(text) !== 0) return;
  throw new ApiError('validation_failed', `${path} is not an address.`, {
    errors: [{ path, reason: 'is not an IPv4 or IPv6 address such as 192.0.2.1' }],
  });
}

/** The text itself in a pattern of SQL's `like`. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** One word, or a list of them. */
export const SomeOf = <const Words extends readonly string[]>(words: Words, description = '') =>
  Type.Union([OneOf(words), Type.Array(OneOf(words), { minItems: 1, maxItems: 30 })], {
    description: `${description === '' ? '' : `${description}; `}several are separated by commas`,
  });

export const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [value as T];

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
