// Filters of lists, as they come in a query string.
import { Type } from '@sinclair/typebox';
import { ApiError } from './problem.js';

/** A moment in a query string: a day, or a time of it in UTC. */
export const Moment = (description: string) =>
  Type.String({ maxLength: 40, pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?Z)?$', description });

/** What `Moment` let in; throws `validation_failed` for dates that do not exist. */
export function parseMoment(text: string, path: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new ApiError('validation_failed', `${path} is not a moment.`, {
      errors: [{ path, reason: 'is not a moment in UTC such as 2026-01-31T12:00:00Z' }],
    });
  return at;
}

/** The text itself in a pattern of SQL's `like`. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
