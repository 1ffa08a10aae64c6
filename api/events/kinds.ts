// The words of records: what became of a request, and what an event is about.
import type { EventVerdict } from '#proxy/contract';

/** What became of a request that rules, gates or a failure had something to say of. */
export const eventVerdicts: readonly EventVerdict[] = ['pass', 'flag', 'block', 'engine-error'];

/** The words of the request log: the same, and how a request without a verdict ended. */
export const requestVerdicts: readonly string[] = [...eventVerdicts, 'blocked', 'refused', 'aborted', 'failed'];

/**
 * Kinds of security events. A node names the kind; whatever is not in this table is stored as it came, because a newer
 * node may run beside an older control plane.
 */
export const eventKinds = {
  'attack-mode': 'a node went into attack mode or left it; `details` has the rates that led to it',
  waf: 'rules matched a request or its answer; `details.messages` says which, where and on what',
} as const;
