// Rules that score and stop nothing, and only note values (compiler/policy/second-opinion/evidence-rules.ts).
import type { AttackKind } from './sign.js';

/** Their kinds of attack, by id. */
export const evidenceRules: ReadonlyMap<number, AttackKind> = new Map([
  [1_006_600, 'file'],
  [1_006_601, 'sql'],
  [1_006_602, 'code'],
  [1_006_603, 'script'],
  // of paths alone
  [1_006_604, 'sql'],
  [1_006_605, 'code'],
]);

/** Stands in records for what the second opinion denies though no rule did. */
export const raisedRuleId = 1_006_610;
