// Pieces of route schemas that nearly every route needs.
import { Type, type TSchema } from '@sinclair/typebox';
import type { Problem } from './problem.js';

const problem = {
  description: 'refused',
  content: { 'application/problem+json': { schema: Type.Unsafe<Problem>({ $ref: 'Problem#' }) } },
};
/** Every route's answers beside its own. The schema is registered once under the name Problem. */
export const refusals = { '4xx': problem, '5xx': problem };

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const Time = Type.String({ format: 'date-time', description: 'UTC' });
/** An address that somebody logs in with; its exact form is for the mail server to judge. */
export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
});
/** What somebody is called. */
export const PersonName = Type.String({ maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' });
export const closed = { additionalProperties: false } as const;
