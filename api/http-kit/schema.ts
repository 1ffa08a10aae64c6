import { Type, type TSchema } from '@sinclair/typebox';
import { ApiError } from './problem.js';
import type { Problem } from './error-table.js';

const problem = {
  description: 'refused',
  content: { 'application/problem+json': { schema: Type.Unsafe<Problem>({ $ref: 'Problem#' }) } },
};
/** Every route's answers beside its own. The schema is registered once under the name Problem. */
export const refusals = { '4xx': problem, '5xx': problem };

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const Time = Type.String({ format: 'date-time', description: 'UTC' });
export const closed = { additionalProperties: false } as const;

/** A moment in a query string: a day, or a time of it in UTC. */
export const Moment = (description: string) =>
  Type.String({ maxLength: 40, pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?Z)?$', description });

/** What `Moment` let in; throws `validation_failed` for dates that do not exist. */
export function parseTime(text: string, path: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new ApiError('validation_failed', `${path} is not a moment.`, {
      errors: [{ path, reason: 'is not a moment in UTC such as 2026-01-31T12:00:00Z' }],
    });
  return at;
}
