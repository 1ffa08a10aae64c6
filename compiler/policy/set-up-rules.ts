// Raw rules that prepare the rule set instead of judging a request: SecAction and SecRule of phase 1 that only set
// variables of TX or switch something with ctl. They are heard behind our own set-up and before the CRS, as its
// documentation asks of such rules; behind it they would come too late.
import type { ActionIR, LinkIR, Program, RuleIR, Template } from '#engine/compile';

/** Sums that the CRS begins at 0 itself: what is set before it is lost. */
const sums = /anomaly_score(?:_pl\d)?$/;
const setUpScores = /^(?:critical|error|warning|notice)_anomaly_score$/;

const readsTx = (template: Template | null | undefined): boolean =>
  (template ?? []).some((part) => typeof part !== 'string' && part.variable === 'TX');

function prepares(action: ActionIR): boolean {
  if (action.kind === 'ctl') return true;
  if (action.kind !== 'setvar' || action.collection !== 'TX' || readsTx(action.key) || readsTx(action.value))
    return false;
  if (action.operation !== 'set' && action.operation !== 'unset') return false;
  const name = action.key
    .filter((part) => typeof part === 'string')
    .join('')
    .toLowerCase();
  return !sums.test(name) || setUpScores.test(name);
}

function isPreparing(rule: RuleIR): boolean {
  const actions = rule.links.flatMap((link) => link.actions);
  const reads = rule.links.some(
    ({ targets, operator }: LinkIR) => targets.some(({ variable }) => variable === 'TX') || readsTx(operator?.template),
  );
  return (
    rule.phase === 1 &&
    rule.disruptive.kind === 'pass' &&
    rule.skip === 0 &&
    rule.skipAfter === null &&
    !reads &&
    actions.length > 0 &&
    actions.every(prepares)
  );
}

/** Whether all of a raw rule's text prepares. `program`: the text alone, compiled; `text` may hold other directives. */
export function isSetUp(text: string, program: Program): boolean {
  const isRulesOnly = !/^[ \t]*Sec(?!Rule[ \t]|Action[ \t])/im.test(text);
  const rules = program.items.filter((item): item is RuleIR => item.kind === 'rule');
  return isRulesOnly && rules.length > 0 && rules.every(isPreparing);
}
