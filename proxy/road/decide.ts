// The only place where failing open or closed is chosen, and the only place where DetectionOnly withholds an answer:
// for rules and for gates alike.
import type { Interruption } from '#engine';
import type { Decision } from '../admit/decision.js';
import type { FailMode, Mode } from '../contract/index.js';

/**
 * What to do when inspection itself, or a gate, failed. Closed by default; open is never silent: both are recorded and
 * counted.
 */
export function decideOnFailure(failMode: FailMode): 'forward' | 'block' {
  return failMode === 'open' ? 'forward' : 'block';
}

/**
 * What to do with an interruption the engine reports. An engine in DetectionOnly reports none; a site may be stricter
 * about that than the ruleset.
 */
export function decide(interruption: Interruption | null, mode: Mode): 'forward' | 'flag' | 'block' {
  if (interruption === null) return 'forward';
  return mode === 'DetectionOnly' ? 'flag' : 'block';
}

/** A decision that ends the request. */
export type Enforced = Exclude<Decision, { readonly kind: 'flag' }>;

/** What of a gate's decision is enforced; null: it is recorded, and the request goes on. */
export function decideOnGate(decision: Decision, mode: Mode): Enforced | null {
  if (decision.kind === 'flag' || mode === 'DetectionOnly') return null;
  return decision.kind === 'throttle' && decision.isDryRun === true ? null : decision;
}
