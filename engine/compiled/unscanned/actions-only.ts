// Rules whose match nobody can see but by their actions: for them the evaluator, which works out what matched where, is
// left out.
import { evidenceRules } from '../../second-opinion/evidence-rules.js';
import { runRuleMatched, runSetvars } from '../../actions/index.js';
import type { RemovalTable } from '../../evaluate/removals.js';
import type { ActionIR, LinkIR, RuleIR } from '../../program/ir.js';
import type { Transaction } from '../../transaction/transaction.js';
import { variables } from '../../variables/index.js';

/**
 * Nothing but actions tells that the rule matched, and they run once: nothing logged, nothing captured, MATCHED_VAR not
 * in use (and by no rule after it: seesEarlierRules),
 * and no value to be noted for the second opinion. A `certain` link has exactly one match by its proof.
 */
export function isActionsOnly(rule: RuleIR, isCertain: boolean): boolean {
  if (rule.log || rule.disruptive.kind !== 'pass' || evidenceRules.has(rule.id)) return false;
  return rule.links.every((link) => {
    if (link.capture && link.operator?.negated !== true) return false;
    if (!link.actions.every(isPlain)) return false;
    return (
      !link.actions.some((action) => action.kind === 'setvar') ||
      (isCertain ? link.targets.length <= 1 : hasOneValue(link))
    );
  });
}

/** Its arguments do not show what matched. */
function isPlain(action: ActionIR): boolean {
  if (action.kind === 'ctl') return true;
  return (
    action.kind === 'setvar' &&
    [...action.key, ...action.value].every((part) => typeof part === 'string' || part.variable === 'TX')
  );
}

/** setvar runs once per matching value. */
function hasOneValue(link: LinkIR): boolean {
  const [target] = link.targets;
  if (link.operator === null) return true;
  if (target === undefined || link.targets.length > 1 || link.exclusions.length > 0) return false;
  const kind = variables.get(target.variable)?.kind;
  return kind === 'scalar' || (kind === 'record' && target.selector?.kind === 'name' && !target.count);
}

/** The rule matched: what is left of it. Only for rules that `isActionsOnly` takes. */
export function runActions(rule: RuleIR, transaction: Transaction, removals: RemovalTable): void {
  for (const link of rule.links) runSetvars(link, transaction);
  runRuleMatched(transaction, rule, removals);
}
