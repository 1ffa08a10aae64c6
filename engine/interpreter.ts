// The oracle: every rule of the phase in order, every target, every transformation, every operator, no cleverness.
// Whatever the compiled engine does must be what this does. Read it as the definition of the rule language.
import { beginRuleMatch, phaseIsOver, recordValueMatch, runRuleMatched, runSetvars } from './actions/index.js';
import type { Inspector } from './inspector.js';
import type { LinkIR, MarkerIR, OperatorIR, Phase, Program, RuleIR } from './ir.js';
import { createMatcher } from './operators/index.js';
import { OperatorArgumentError } from './operators/operator.js';
import type { Matcher } from './operators/operator.js';
import type { RemovalTable } from './removals.js';
import { isRuleRemoved, removedTargets } from './removals.js';
import { createSession } from './session.js';
import type { BoundExclusion, BoundTargets } from './targets.js';
import { bindTargets, collectTargets } from './targets.js';
import type { Transaction } from './transaction.js';
import { transformations } from './transformations/index.js';
import type { Transformation, TransformationContext } from './transformations/transformation.js';
import { expand } from './variables.js';

interface BoundLink {
  readonly ir: LinkIR;
  readonly targets: BoundTargets;
  readonly transformations: readonly Transformation[];
  /** Null for SecAction, and for operators whose argument holds macros (see `matcherOf`). */
  readonly matcher: Matcher | null;
}

/** Distinct expanded arguments are few (paranoia levels, allow lists); the bound only guards against request data in them. */
const expandedMatchersMax = 1000;

function bindLink(link: LinkIR): BoundLink {
  const { operator } = link;
  return {
    ir: link,
    targets: bindTargets(link),
    transformations: link.transformations.map((name) => {
      const transformation = transformations.get(name);
      if (transformation === undefined) throw new Error(`The program names the transformation "${name}", which this engine does not have: compile the rules again with this version.`);
      return transformation;
    }),
    matcher: operator === null || operator.template !== null ? null : createMatcher(operator, operator.argument),
  };
}

class Interpreter {
  private readonly links = new Map<RuleIR, readonly BoundLink[]>();
  private readonly expanded = new Map<OperatorIR, Map<string, Matcher | null>>();
  private readonly context: TransformationContext;

  constructor(private readonly program: Program) {
    const { unicodeMap } = program.settings;
    const map = unicodeMap === null ? null : new Map<number, number>();
    if (map !== null && unicodeMap !== null) {
      for (let index = 0; index + 1 < unicodeMap.length; index += 2) map.set(unicodeMap[index] as number, unicodeMap[index + 1] as number);
    }
    this.context = { unicodeMap: map };
    for (const item of program.items) if (item.kind === 'rule') this.links.set(item, item.links.map(bindLink));
  }

  /** The matcher of a link at this moment; null when an expanded argument is no valid argument (then nothing matches). */
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
  private linkMatches(rule: RuleIR, link: BoundLink, isHead: boolean, removed: readonly BoundExclusion[], transaction: Transaction): boolean {
    const { operator } = link.ir;
    if (operator === null) {
      if (isHead) beginRuleMatch(transaction, rule);
      runSetvars(link.ir, transaction);
      return true;
    }
    let matched = false;
    const test = (variable: string, key: string | null, value: string): void => {
      // Per value, as in ModSecurity: setvar of one match may change the macro for the next.
      const matcher = this.matcherOf(link, transaction);
      if (matcher === null || matcher.matches(value) === operator.negated) return;
      if (isHead && !matched) beginRuleMatch(transaction, rule);
      matched = true;
      const captures = link.ir.capture && !operator.negated && matcher.capture !== undefined ? matcher.capture(value) : null;
      recordValueMatch(transaction, link.ir, variable, key, value, captures);
    };
    collectTargets(link.targets, removed, transaction, (variable, key, value) => {
      this.transformAndTest(link, variable, key, value, test);
    });
    return matched;
  }

  /** multiMatch tests the untransformed value and then each step that changed it. */
  private transformAndTest(link: BoundLink, variable: string, key: string | null, value: string, test: (variable: string, key: string | null, value: string) => void): void {
    let current = value;
    if (link.ir.multiMatch) test(variable, key, current);
    for (const transformation of link.transformations) {
      const next = transformation.apply(current, this.context);
      if (link.ir.multiMatch && next !== current) test(variable, key, next);
      current = next;
    }
    if (!link.ir.multiMatch) test(variable, key, current);
  }

  private runRule(rule: RuleIR, transaction: Transaction, removals: RemovalTable): void {
    const links = this.links.get(rule) as readonly BoundLink[];
    const removed = removedTargets(transaction, rule);
    transaction.rule = rule;
    for (let index = 0; index < links.length; index += 1) {
      if (!this.linkMatches(rule, links[index] as BoundLink, index === 0, removed, transaction)) return;
    }
    runRuleMatched(transaction, rule, removals);
  }

  readonly runPhase = (transaction: Transaction, phase: Phase, removals: RemovalTable): void => {
    for (const index of this.program.phases[phase] ?? []) {
      const item = this.program.items[index] as RuleIR | MarkerIR;
      if (transaction.skipAfter !== null) {
        // A missing marker skips to the end of the phase.
        if (item.kind === 'marker' ? item.name === transaction.skipAfter : String(item.id) === transaction.skipAfter) transaction.skipAfter = null;
        continue;
      }
      if (item.kind === 'marker') continue;
      if (transaction.skipRules > 0) {
        transaction.skipRules -= 1;
        continue;
      }
      if (transaction.ruleRemovals.length > 0 && isRuleRemoved(transaction, item)) continue;
      this.runRule(item, transaction, removals);
      if (phaseIsOver(transaction)) return;
    }
  };
}

/**
 * The plain engine for a program. Throws OperatorArgumentError (or Error) when the program names what the engine does
 * not have; never throws on a request.
 */
export function createInterpreter(program: Program): Inspector {
  return createSession(program, new Interpreter(program).runPhase);
}
