// One rule against one transaction, exactly: every target, every transformation, the real operator, the actions. Both
// engines end here; they differ only in which rules they bring. The compiled engine passes a `filter` that may say
// "certainly no match" about a link and a value; the interpreter passes none.
import { beginRuleMatch, recordValueMatch, runRuleMatched, runSetvars } from '../actions/index.js';
import type { LinkIR, OperatorIR, Program, RuleIR } from '../program/ir.js';
import { createMatcher } from '../operators/index.js';
import { OperatorArgumentError } from '../operators/operator.js';
import type { Matcher } from '../operators/operator.js';
import { matchesMaxOf, scoredMatchesMaxOf } from './matches-max.js';
import type { RemovalTable } from './removals.js';
import { removedTargets } from './removals.js';
import type { BoundExclusion, BoundTargets } from '../variables/targets.js';
import { bindTargets, collectTargets } from '../variables/targets.js';
import { areTransparent } from '../transaction/origins.js';
import type { Transaction } from '../transaction/transaction.js';
import { transformations } from '../transformations/index.js';
import { transformationContext } from '../transformations/context.js';
import type { Transformation, TransformationContext } from '../transformations/transformation.js';
import { expand } from '../variables/index.js';

/** False = the link certainly does not match this (untransformed) value of this variable. */
export type ValueFilter = (rule: RuleIR, link: number, variable: string, value: string) => boolean;

interface BoundLink {
  readonly ir: LinkIR;
  readonly targets: BoundTargets;
  readonly transformations: readonly Transformation[];
  /** They leave what masks look for: a match shows the value as well as it is masked. */
  readonly isTransparent: boolean;
  /** Null for SecAction, and for operators whose argument holds macros (see `matcherOf`). */
  readonly matcher: Matcher | null;
  /** A pattern that captures: whether it matches is asked with the groups, as most values that get here match. */
  readonly asksOnce: boolean;
  /** Of values that match; Infinity where what follows depends on each. */
  readonly matchesMax: number;
}

/**
 * Distinct expanded arguments are few (paranoia levels, allow lists); the bound only guards against request data in
 * them.
 */
const expandedMatchersMax = 1000;

/**
 * A matcher that is built when it is first asked. Most of a rule set's patterns never are: the scan says no. Their RE2
 * programs would cost every thread its memory and its start.
 */
function lateMatcher(operator: OperatorIR): Matcher {
  let built: Matcher | null = null;
  const matcher = (): Matcher => (built ??= createMatcher(operator, operator.argument));
  return { matches: (value) => matcher().matches(value), capture: (value) => matcher().capture?.(value) ?? null };
}

function bindLink(link: LinkIR, isLate: boolean, matchesMax: number): BoundLink {
  const { operator } = link;
  return {
    ir: link,
    targets: bindTargets(link),
    transformations: link.transformations.map((name) => {
      const transformation = transformations.get(name);
      if (transformation === undefined)
        throw new Error(
          `The program names the transformation "${name}", which this engine does not have: compile the rules again ` +
            'with this version.',
        );
      return transformation;
    }),
    isTransparent: areTransparent(link.transformations),
    matchesMax,
    asksOnce: link.capture && operator?.name === 'rx' && !operator.negated,
    matcher:
      operator === null || operator.template !== null
        ? null
        : isLate
          ? lateMatcher(operator)
          : createMatcher(operator, operator.argument),
  };
}

export class RuleEvaluator {
  private readonly links = new Map<RuleIR, readonly BoundLink[]>();
  private readonly expanded = new Map<OperatorIR, Map<string, Matcher | null>>();
  private readonly context: TransformationContext;

  constructor(
    program: Program,
    /** Given by the compiled engine, whose programs went through the compiler: its matchers are then built late. */
    private readonly filter: ValueFilter | null = null,
  ) {
    this.context = transformationContext(program);
    const scoredMatchesMax = scoredMatchesMaxOf(program);
    for (const item of program.items)
      if (item.kind === 'rule')
        this.links.set(
          item,
          item.links.map((link) => bindLink(link, filter !== null, matchesMaxOf(item, scoredMatchesMax))),
        );
  }

  /**
   * The matcher of a link at this moment; null when an expanded argument is no valid argument (then nothing matches).
   */
  private matcherOf(link: BoundLink, transaction: Transaction): Matcher | null {
    const { operator } = link.ir;
    if (link.matcher !== null || operator === null || operator.template === null) return link.matcher;
    const argument = expand(operator.template, transaction);
    let known = this.expanded.get(operator);
    if (known === undefined) this.expanded.set(operator, (known = new Map()));
    let matcher = known.get(argument);
    if (matcher === undefined) {
      matcher = this.createExpanded(operator, argument);
      if (known.size >= expandedMatchersMax) known.clear();
      known.set(argument, matcher);
    }
    return matcher;
  }

  private createExpanded(operator: OperatorIR, argument: string): Matcher | null {
    try {
      return createMatcher(operator, argument);
    } catch (error) {
      if (error instanceof OperatorArgumentError) return null;
      throw error;
    }
  }

  /** Every value of the link, transformed and tested; true when one matched. */
  private linkMatches(
    rule: RuleIR,
    position: number,
    link: BoundLink,
    removed: readonly BoundExclusion[],
    transaction: Transaction,
  ): boolean {
    const { operator } = link.ir;
    const { filter } = this;
    const isHead = position === 0;
    if (operator === null) {
      if (isHead) beginRuleMatch(transaction, rule);
      runSetvars(link.ir, transaction);
      return true;
    }
    const { asksOnce } = link;
    let matches = 0;
    let raw = '';
    const test = (variable: string, key: string | null, value: string): void => {
      // Per value, as in ModSecurity: setvar of one match may change the macro for the next.
      const matcher = this.matcherOf(link, transaction);
      if (matcher === null) return;
      let captures: readonly string[] | null = null;
      if (asksOnce && matcher.capture !== undefined) {
        captures = matcher.capture(value);
        // what a pattern takes before a final newline is another form of it, whose groups may be nothing
        if (captures === null && (!value.endsWith('\n') || !matcher.matches(value))) return;
      } else if (matcher.matches(value) === operator.negated) return;
      else if (link.ir.capture && !operator.negated && matcher.capture !== undefined) captures = matcher.capture(value);
      if (isHead && matches === 0) beginRuleMatch(transaction, rule);
      matches += 1;
      recordValueMatch(transaction, link.ir, {
        variable,
        key,
        raw,
        value,
        isTransparent: link.isTransparent,
        captures,
      });
    };
    collectTargets(link.targets, removed, transaction, (variable, key, value) => {
      if (filter !== null && !filter(rule, position, variable, value)) return;
      if (matches >= link.matchesMax) {
        transaction.evidenceIsCut = true; // of what is not looked at nobody can say that it is harmless
        return;
      }
      raw = value;
      this.transformAndTest(link, variable, key, value, test);
    });
    return matches > 0;
  }

  /** multiMatch tests the untransformed value and then each step that changed it. */
  private transformAndTest(
    link: BoundLink,
    variable: string,
    key: string | null,
    value: string,
    test: (variable: string, key: string | null, value: string) => void,
  ): void {
    let current = value;
    if (link.ir.multiMatch) test(variable, key, current);
    for (const transformation of link.transformations) {
      const next = transformation.apply(current, this.context);
      if (link.ir.multiMatch && next !== current) test(variable, key, next);
      current = next;
    }
    if (!link.ir.multiMatch) test(variable, key, current);
  }

  /** Evaluates the rule's chain and, when it matched, runs its actions; returns whether it matched. */
  runRule(rule: RuleIR, transaction: Transaction, removals: RemovalTable): boolean {
    const links = this.links.get(rule) as readonly BoundLink[];
    const removed = removedTargets(transaction, rule);
    transaction.rule = rule;
    for (let index = 0; index < links.length; index += 1) {
      if (!this.linkMatches(rule, index, links[index] as BoundLink, removed, transaction)) return false;
    }
    runRuleMatched(transaction, rule, removals);
    return true;
  }
}
