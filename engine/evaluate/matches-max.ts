// How many matching values a rule has to see before more of them can say nothing new. A rule that only adds to scores
// costs some 5 µs a value, and 500 bytes of brotli hold thousands of values.
import type { OperatorIR, Program, RuleIR } from '../program/ir.js';
import { evidenceRules } from '../second-opinion/evidence-rules.js';
import { limits } from '../transaction/limits.js';

const comparisons: ReadonlySet<string> = new Set(['eq', 'ge', 'gt', 'le', 'lt']);
const wholeNumber = /^\d+$/;

const numberOf = (text: string): number => (wholeNumber.test(text.trim()) ? Number(text.trim()) : 0);

const comparedNumber = (operator: OperatorIR | null): number =>
  operator !== null && operator.template === null && comparisons.has(operator.name) ? numberOf(operator.argument) : 0;

/**
 * Matches of one rule up to which scores are exact in this program: over every number that the program compares a
 * variable of TX with, and over every threshold that it sets (`tx.inbound_anomaly_score_threshold`), so that a point a
 * match suffices to get there. At least `limits.scoredMatchesMax`.
 */
export function scoredMatchesMaxOf({ items }: Program): number {
  let most: number = limits.scoredMatchesMax;
  for (const item of items) {
    if (item.kind !== 'rule') continue;
    for (const { targets, operator, actions } of item.links) {
      if (targets.some(({ variable }) => variable === 'TX')) most = Math.max(most, comparedNumber(operator) + 1);
      for (const action of actions) {
        if (action.kind !== 'setvar' || action.operation !== 'set') continue;
        const name = action.key.at(-1);
        const [value, ...more] = action.value;
        if (typeof name !== 'string' || !name.endsWith('threshold')) continue;
        if (typeof value === 'string' && more.length === 0) most = Math.max(most, numberOf(value) + 1);
      }
    }
  }
  return most;
}

/**
 * Values that this rule tests after it matched; Infinity where what follows depends on each: a chain looks at the
 * values of its first link again, and a rule that notes evidence must not be kept from the one that counts.
 */
export function matchesMaxOf({ id, links }: RuleIR, scoredMatchesMax: number): number {
  let adds = 0;
  for (const action of links[0]?.actions ?? []) {
    if (action.kind !== 'setvar') continue;
    if (action.operation !== 'add') return Number.POSITIVE_INFINITY;
    adds += 1;
  }
  return links.length === 1 && adds > 0 && !evidenceRules.has(id) ? scoredMatchesMax : Number.POSITIVE_INFINITY;
}
