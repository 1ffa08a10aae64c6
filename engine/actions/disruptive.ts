import type { RuleIR } from '../program/ir.js';
import type { Interruption, Transaction } from '../transaction/transaction.js';
import { isOverruled } from '../second-opinion/decide.js';
import { expand } from '../variables/index.js';

function interruptionOf(rule: RuleIR, transaction: Transaction): Interruption | null {
  const { disruptive } = rule;
  switch (disruptive.kind) {
    case 'deny':
    case 'drop':
      return {
        ruleId: rule.id,
        action: disruptive.kind,
        status: disruptive.status,
        phase: transaction.phase,
        data: '',
      };
    case 'redirect':
      return {
        ruleId: rule.id,
        action: 'redirect',
        status: disruptive.status,
        phase: transaction.phase,
        data: expand(disruptive.url, transaction),
      };
    default:
      return null;
  }
}

/**
 * The disruptive action of a rule whose whole chain matched. With the engine On the first one interrupts; in
 * DetectionOnly nothing happens (the reference manual counts `allow` among what DetectionOnly withholds) but the first
 * would-be interruption is remembered. In the logging phase everything has been sent: the interruption is recorded, and
 * the verdict calls it a flag (transaction/session.ts). The second opinion may overrule a rule that compares scores.
 */
export function runDisruptive(rule: RuleIR, transaction: Transaction): void {
  const { disruptive } = rule;
  if (disruptive.kind === 'pass' || isOverruled(transaction, rule)) return;
  if (transaction.engineMode === 'On') {
    if (disruptive.kind === 'allow') transaction.allowed = disruptive.scope;
    else transaction.interruption ??= interruptionOf(rule, transaction);
  } else if (transaction.engineMode === 'DetectionOnly') {
    transaction.withheldInterruption ??= interruptionOf(rule, transaction);
  }
}
