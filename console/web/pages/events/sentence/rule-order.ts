// Which rules say most about an event: those with points and evidence first, minor ones last.
import { isSummary, pointsOf, type RuleMessage } from '../event-text.js';

/** Rules about the form of requests (920, 911, 922), unless they are all there is, and rules without severity. */
const isMinor = (one: RuleMessage): boolean =>
  one.file !== '' && (one.severity === '' || [911, 920, 922].includes(Math.floor(one.rule_id / 1000)));

export interface OrderedRules {
  readonly significant: readonly RuleMessage[];
  readonly minor: readonly RuleMessage[];
}

export function orderRules(messages: readonly RuleMessage[]): OrderedRules {
  const listed = messages.filter((one) => !isSummary(one));
  const byPoints = [...listed].sort((a, b) => pointsOf(b.severity) - pointsOf(a.severity));
  const significant = byPoints.filter((one) => !isMinor(one));
  if (significant.length === 0) return { significant: byPoints, minor: [] };
  return { significant, minor: byPoints.filter(isMinor) };
}
