// What does not fit a specification, as the road and the preview get it. Never a value: those may be anybody's secrets.
import type { SchemaAction } from './plan.js';

export interface SchemaViolation {
  /** The specification. */
  readonly specification: string;
  /** `POST /v1/orders/{id}`, or the method and `(unknown)` where no path fits. */
  readonly operation: string;
  /** Where: `/body/items/0/price`, `/query/page`, `/path/id`, `/header/x-tenant`, `/cookie/s`, `/method`, … */
  readonly pointer: string;
  /** What did not hold: a keyword of JSON Schema, or one of ours (`unknown`, `duplicate`, `method`, `mediaType`, …). */
  readonly keyword: string;
  readonly action: SchemaAction;
}

/** Before it is known which specification and action it falls under. */
export interface Problem {
  readonly pointer: string;
  readonly keyword: string;
}

export const escapeName = (name: string): string =>
  `/${name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`;
