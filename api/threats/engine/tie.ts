import type { ObjectKey, Tie } from './memory.js';

/** A tie of a principal to an object, as it is learned and stored. */
export interface NewTie extends ObjectKey, Tie {
  readonly principal: string;
}
