// The only place where failing open or closed is chosen, and the only place where DetectionOnly withholds an answer.
import type { Interruption } from '#engine';
import type { FailMode, Mode } from '../contract.js';

/** What to do when inspection itself failed. Closed by default; open is never silent: both are recorded and counted. */
export function decideOnEngineError(failMode: FailMode): 'forward' | 'block' {
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
