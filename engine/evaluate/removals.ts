// Run-time removals: ctl:ruleRemoveById/ByTag/ByMsg and ctl:ruleRemoveTargetById/ByTag/ByMsg, from that point on in
// this transaction. Which rules a removal names depends only on the program, so it is worked out once per control
// and program and kept as a bitmap; asking on the request road is an array look-up.
import type { OperatorIR, Program, RuleIR } from '../program/ir.js';
import { createMatcher } from '../operators/index.js';
import { OperatorArgumentError } from '../operators/operator.js';
import type { BoundExclusion } from '../variables/targets.js';
import { bindExclusion } from '../variables/targets.js';
import type { Removal, RemovalIR, Transaction } from '../transaction/transaction.js';

const metacharacters = /[\\^$.|?*+()[\]{}]/;

/**
 * Tags: equal (ModSecurity v3), or, when the pattern is written as an expression (it has a metacharacter), found in the
 * tag by regex search (the reference manual). A plain word never matches inside a longer tag.
 */
function textMatcher(pattern: string): (text: string) => boolean {
  if (!metacharacters.test(pattern)) return (text) => text === pattern;
  const operator: OperatorIR = { name: 'rx', negated: false, argument: pattern, template: null, phrases: null };
  try {
    const matcher = createMatcher(operator, pattern);
    return (text) => text === pattern || matcher.matches(text);
  } catch (error) {
    // A tag may hold metacharacters without being an expression: then equality is all there is.
    if (!(error instanceof OperatorArgumentError)) throw error;
    return (text) => text === pattern;
  }
}

/** The rule's message as written: macros in messages are compared as text. */
function messageOf(rule: RuleIR): string {
  const msg = rule.links[0]?.msg ?? null;
  return msg === null
    ? ''
    : msg
        .map((part) =>
          typeof part === 'string' ? part : `%{${part.variable}${part.key === null ? '' : `.${part.key}`}}`,
        )
        .join('');
}

/** Which rules of a program a removal names; also the compiler asks (a gate that may be removed folds less). */
export function namesRule(control: RemovalIR): (rule: RuleIR) => boolean {
  switch (control.kind) {
    case 'ruleRemoveById':
    case 'ruleRemoveTargetById': {
      const { ranges } = control;
      return (rule) => ranges.some(([from, to]) => rule.id >= from && rule.id <= to);
    }
    case 'ruleRemoveByTag':
    case 'ruleRemoveTargetByTag': {
      const matches = textMatcher(control.pattern);
      return (rule) => rule.tags.some(matches);
    }
    case 'ruleRemoveByMsg':
    case 'ruleRemoveTargetByMsg': {
      const matches = textMatcher(control.pattern);
      return (rule) => matches(messageOf(rule));
    }
  }
}

const none: readonly BoundExclusion[] = [];
const bound = new WeakMap<RemovalIR, BoundExclusion>();

/** Made once per loaded program (per thread); `apply` is what the ctl action calls. */
export class RemovalTable {
  private readonly known = new WeakMap<RemovalIR, Removal>();

  constructor(private readonly program: Program) {}

  private removalOf(control: RemovalIR): Removal {
    const known = this.known.get(control);
    if (known !== undefined) return known;
    const affected = new Uint8Array(this.program.items.length);
    const names = namesRule(control);
    for (const item of this.program.items) if (item.kind === 'rule' && names(item)) affected[item.index] = 1;
    const removal = { control, affected };
    this.known.set(control, removal);
    return removal;
  }

  apply(transaction: Transaction, control: RemovalIR): void {
    const list = 'target' in control ? transaction.targetRemovals : transaction.ruleRemovals;
    const removal = this.removalOf(control);
    if (!list.includes(removal)) list.push(removal);
  }
}

/** True when a `ctl:ruleRemove…` of this transaction took the rule out. */
export function isRuleRemoved(transaction: Transaction, rule: RuleIR): boolean {
  for (const removal of transaction.ruleRemovals) if (removal.affected[rule.index] === 1) return true;
  return false;
}

/** True when a `ctl:ruleRemoveTarget…` of this transaction touches the rule. */
export function isTargetRemoved(transaction: Transaction, rule: RuleIR): boolean {
  for (const removal of transaction.targetRemovals) if (removal.affected[rule.index] === 1) return true;
  return false;
}

/** Target removals in force for the rule, for every link of its chain; the shared empty list when there are none. */
export function removedTargets(transaction: Transaction, rule: RuleIR): readonly BoundExclusion[] {
  let found: BoundExclusion[] | null = null;
  for (const removal of transaction.targetRemovals) {
    if (removal.affected[rule.index] !== 1 || !('target' in removal.control)) continue;
    let exclusion = bound.get(removal.control);
    if (exclusion === undefined) {
      exclusion = bindExclusion(removal.control.target);
      bound.set(removal.control, exclusion);
    }
    found ??= [];
    found.push(exclusion);
  }
  return found ?? none;
}
