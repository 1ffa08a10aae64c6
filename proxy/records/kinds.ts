// The words that records use, each once: what an event is about, and what became of a request.
import type { EventVerdict } from '../contract/index.js';
import type { Action } from '../metrics/families.js';

/** Kinds of security events, as the control plane stores them. */
export const eventKinds = {
  /** Rules, gates or a failure had something to say of a request. */
  request: 'waf',
  /** The node went into attack mode, or left it. */
  attack: 'attack-mode',
} as const;

/** The word of the request log for a request that has no verdict, by how it ended. */
const wordOfAction = {
  served: 'pass',
  flagged: 'pass',
  blocked: 'blocked',
  refused: 'refused',
  aborted: 'aborted',
  failed: 'failed',
} as const satisfies Readonly<Record<Action, string>>;

export type LineVerdict = EventVerdict | (typeof wordOfAction)[Action];

/** What became of it, in one word: the verdict where there is one, else how the request ended. */
export function lineVerdict(action: Action, kind: EventVerdict): LineVerdict {
  return kind === 'pass' ? wordOfAction[action] : kind;
}
