// The second opinion: evidence → decision. Each value that a weak rule matched (weak-rules.ts) is held against the
// signs of that kind of attack (signs/): prior of the rule + weights of the signs; below `supportedFrom` the match is
// unsupported, and its points do not count. Values that only evidence rules noted count like a critical match, once a
// kind of attack. Rules about how a request is written are weighed by the rest of it (protocol-rules.ts). What is left
// is compared with the threshold that the rules themselves have.
//
// Why an attacker wins nothing by adding: the sum has one term a value and none is negative; a value's own points need
// only signs that it has, and nothing added to it takes one away (sign.ts); what is too much to judge (values, bytes)
// counts as supported. So who is blocked with a value stays blocked with that value and anything besides.
// Rejected: shares (letters to spaces, entropy) and a verdict over the whole request, which padding would move.
import { leadingInteger } from '../transaction/memory-store.js';
import type { Transaction } from '../transaction/transaction.js';
import { evidenceRules } from './evidence-rules.js';
import { blockingScore } from './evidence.js';
import type { Evidence, Feature, OpinionMode, SecondOpinion } from './opinion.js';
import type { AttackKind } from './sign.js';
import { protocolRules } from './protocol-rules.js';
import { findSigns, supportedFrom, supportOf } from './support.js';
import { weakRules } from './weak-rules.js';

/** Points of values that only evidence rules noted, once a kind: those of one critical rule. */
const raisedPoints = 5;
/** Of one value, and of all values of a request that are judged; beyond them the rules' word stands. */
const judgedBytesMax = 16_384;
const judgedBytesTotalMax = 131_072;
/** Findings that a record lists, and characters of a variable's name in them. */
const featuresMax = 32;
const variableMax = 128;
/** Names of what speaks for a match of a protocol rule. */
const doubtsMax = 8;

/** Without the member of a collection of names, which is the value itself. */
function shownVariable(variable: string): string {
  const colon = variable.indexOf(':');
  const isName = colon > 0 && variable.slice(0, colon).endsWith('_NAMES');
  return variable.slice(0, isName ? colon : variableMax);
}

/** null: the rule is believed as it is, and nothing was looked at. */
function judge(transaction: Transaction, one: Evidence, isTooMuch: boolean): Feature | null {
  const { rule, points } = one;
  const protocol = protocolRules.get(rule.id);
  if (protocol !== undefined) {
    const signs = protocol.doubts(transaction, one, isTooMuch).slice(0, doubtsMax);
    const variable = shownVariable(one.variable);
    const support = signs.length === 0 ? 0 : supportedFrom;
    return { rule_id: rule.id, variable, points, support, is_supported: signs.length > 0, signs };
  }
  const weak = weakRules.get(rule.id);
  const kind = weak?.kind ?? evidenceRules.get(rule.id);
  if (kind === undefined) return null;
  const shown = { rule_id: rule.id, variable: shownVariable(one.variable), points };
  if (isTooMuch) return { ...shown, support: supportedFrom, is_supported: true, signs: ['too-long'] };
  const signs = findSigns(kind, one);
  const support = supportOf(weak?.prior ?? 0, signs);
  return { ...shown, support, is_supported: support >= supportedFrom, signs: signs.map(({ name }) => name) };
}

/** What is left of the rules' score, or came to it, and why. */
function weigh(transaction: Transaction, evidence: readonly Evidence[], rulesScore: number) {
  let score = rulesScore;
  let bytes = 0;
  const features: Feature[] = [];
  const counted = new Set<string>(); // a text that ten rules matched is searched once
  const raised = new Set<AttackKind | undefined>();
  for (const one of evidence) {
    const length = one.raw.length + one.value.length;
    for (const text of new Set([one.raw, one.value])) if (!counted.has(text)) bytes += text.length;
    counted.add(one.raw).add(one.value);
    const feature = judge(transaction, one, length > 2 * judgedBytesMax || bytes > judgedBytesTotalMax);
    if (feature === null) continue;
    if (features.length < featuresMax) features.push(feature);
    if (one.points > 0) {
      if (!feature.is_supported && !transaction.evidenceIsCut) score -= one.points;
    } else if (!raised.has(evidenceRules.get(one.rule.id))) {
      raised.add(evidenceRules.get(one.rule.id));
      score += raisedPoints;
    }
  }
  return { score, features };
}

/** The opinion on what the rules found so far; null: nothing is, or would be, blocked. */
export function giveOpinion(transaction: Transaction, mode: OpinionMode): SecondOpinion | null {
  const { evidence, tx } = transaction;
  if (evidence === null || evidence.length === 0) return null;
  const threshold = leadingInteger(tx.get('inbound_anomaly_score_threshold') ?? '0');
  if (threshold <= 0) return null;
  const rulesScore = blockingScore(transaction);
  const { score, features } = weigh(transaction, evidence, rulesScore);
  const [wasBlocked, isBlocked] = [rulesScore >= threshold, score >= threshold];
  if (!wasBlocked && !isBlocked) return null;
  const decision = wasBlocked === isBlocked ? 'agree' : isBlocked ? 'raise' : 'overrule';
  return { mode, decision, rules_score: rulesScore, score, threshold, features };
}
