// Where the second opinion is asked: by the rules that compare the score with the threshold, before they block, and at
// the end of phase 2. In `monitor` it is only noted; in `enforce` a block that it overrules does not come, and what it
// raises is denied. Other rules that deny (custom rules, limits, bodies that cannot be parsed) are not its business.
import type { RuleIR } from '../program/ir.js';
import type { Interruption, Transaction } from '../transaction/transaction.js';
import { raisedRuleId } from './evidence-rules.js';
import { giveOpinion } from './judge.js';

/** Of both generations of the CRS, at the end of phase 2 and, with early blocking, of phase 1. */
const evaluations: ReadonlySet<number> = new Set([949_110, 949_111]);

/** Whether the rule that is about to block shall not. */
export function isOverruled(transaction: Transaction, rule: RuleIR): boolean {
  const { opinionMode } = transaction;
  if (opinionMode === null || !evaluations.has(rule.id)) return false;
  transaction.opinion = giveOpinion(transaction, opinionMode);
  return opinionMode === 'enforce' && transaction.opinion?.decision === 'overrule';
}

/** After phase 2: what is to be denied although no rule denied it; null: nothing. */
export function raiseAfterPhase2(transaction: Transaction): Interruption | null {
  const { opinionMode, evidence } = transaction;
  if (opinionMode === null || evidence === null || evidence.length === 0) return null;
  if (transaction.interruption !== null || transaction.withheldInterruption !== null) return null;
  if (transaction.allowed !== 'none' || transaction.engineMode === 'Off') return null;
  const opinion = giveOpinion(transaction, opinionMode);
  // It may have overruled the comparing rule before all was noted; else only what it raises is new.
  if (opinion === null || (transaction.opinion?.decision !== 'overrule' && opinion.decision !== 'raise')) return null;
  transaction.opinion = opinion;
  if (opinionMode !== 'enforce' || opinion.decision === 'overrule') return null;
  return { ruleId: raisedRuleId, action: 'deny', status: 403, phase: 2, data: '' };
}
