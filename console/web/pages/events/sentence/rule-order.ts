// Which rules say most about an event: those with points and evidence first, noise last.
import { isSummary, pointsOf, type RuleMessage } from '../event-text.js';

/** Rules about the form of requests (920, 911, 922), unless they are all there is, and rules without severity. */
export const isNoise = (one: RuleMessage): boolean =>
  one.file !== '' && (one.severity === '' || [911, 920, 922].includes(Math.floor(one.rule_id / 1000)));

export interface OrderedRules {
  readonly telling: readonly RuleMessage[];
  readonly noise: readonly RuleMessage[];
}

export function orderRules(messages: readonly RuleMessage[]): OrderedRules {
  const told = messages.filter((one) => !isSummary(one));
  const byPoints = [...told].sort((a, b) => pointsOf(b.severity) - pointsOf(a.severity));
  const telling = byPoints.filter((one) => !isNoise(one));
  if (telling.length === 0) return { telling: byPoints, noise: [] };
  return { telling, noise: byPoints.filter(isNoise) };
}
