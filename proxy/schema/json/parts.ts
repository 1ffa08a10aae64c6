// What the checks of objects, lists and combinations ask of the compiler: checks of parts of a schema.
import type { JsonSchema } from '../plan.js';
import type { Check } from './check.js';

export interface Parts {
  /** By the text of the reference; `true` where it leads nowhere. */
  resolve(reference: string): JsonSchema;
  pattern(pattern: string): { test(text: string): boolean };
  /** Of a value of its own: a body, a member, an item. */
  part(schema: unknown): Check;
  /** Of a value that another schema describes as well. */
  inPlace(schema: unknown): Check;
  /** A member that may not be sent in this direction. */
  isRefused(schema: unknown): boolean;
  readonly refusal: Check;
}
