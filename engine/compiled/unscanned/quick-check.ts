// Rules that no scan can answer (numbers, counts, single headers, negations) get a quick check instead: a function that
// says "certainly no match" or "maybe". It sees the same values as the evaluator, or more (run-time target removals are
// not looked at), so a "no" is always right; the evaluator decides the rest. Where every link is looked at (`isExact`)
// and no target of the rule was removed, a "maybe" is a match.
import { isActingLink, readsEarlierLinks } from '../../program/chain-links.js';
import type { Collection } from '../../transaction/collection.js';
import type { LinkIR, OperatorIR, RuleIR } from '../../program/ir.js';
import { createMatcher } from '../../operators/index.js';
import { OperatorArgumentError, type Matcher } from '../../operators/operator.js';
import { bindTargets, visitTarget, type BoundExclusion, type BoundTarget } from '../../variables/targets.js';
import type { Transaction } from '../../transaction/transaction.js';
import { transformations } from '../../transformations/index.js';
import type { Transformation, TransformationContext } from '../../transformations/transformation.js';
import { expand } from '../../variables/index.js';
import type { CollectionVariable } from '../../variables/variable.js';

export type QuickCheck = (transaction: Transaction) => boolean;
type ValueTest = (value: string, transaction: Transaction) => boolean;

/** Answers about short values are remembered: methods, protocols, content types repeat in every request. */
const rememberedValuesMax = 512;
const rememberedValueBytesMax = 512;
/**
 * Distinct arguments that the macros of one link expand to are few; the bound only guards against request data in them.
 */
const expandedMatchersMax = 64;

/** A rule's check in two parts; both must say "maybe". Null = says nothing. */
export interface RuleCheck {
  /**
   * Depends on the method, the protocol and request headers named in `headerNames` (lower-case) and on nothing else.
   */
  readonly ofHead: QuickCheck | null;
  readonly headerNames: readonly string[];
  readonly ofRest: QuickCheck | null;
  /** Every link is in one of the parts. */
  readonly isExact: boolean;
}

/**
 * The check of a whole chain: every link up to the first that acts on a match of its own (`headOnly`: only the head,
 * where a failing chain can be seen: seesEarlierRules). `constantArguments` (by link) replace macros that the compiler
 * proved constant.
 */
export function createRuleCheck(
  rule: RuleIR,
  constantArguments: (link: number) => string | null,
  context: TransformationContext,
  headOnly: boolean,
): RuleCheck {
  const ofHead: QuickCheck[] = [];
  const ofRest: QuickCheck[] = [];
  const headerNames = new Set<string>();
  let seen = 0;
  for (let position = 0; position < (headOnly ? 1 : rule.links.length); position += 1) {
    const link = rule.links[position] as LinkIR;
    if (position > 0 && readsEarlierLinks(link)) break;
    const check = createLinkCheck(link, constantArguments(position), context);
    if (check !== null) {
      seen += 1;
      const names = headNamesOf(link, constantArguments(position));
      if (names === null) ofRest.push(check);
      else {
        ofHead.push(check);
        for (const name of names) headerNames.add(name);
      }
    }
    if (isActingLink(link)) break;
  }
  return {
    ofHead: allOf(ofHead),
    headerNames: [...headerNames],
    ofRest: allOf(ofRest),
    isExact: seen === rule.links.length,
  };
}

/** The two parts of a rule's check as one; null when the rule must always be evaluated. */
export function bothOf(first: QuickCheck | null, second: QuickCheck | null): QuickCheck | null {
  return allOf([first, second].filter((check) => check !== null));
}

function allOf(checks: readonly QuickCheck[]): QuickCheck | null {
  if (checks.length <= 1) return checks[0] ?? null;
  return (transaction) => {
    for (const check of checks) if (!check(transaction)) return false;
    return true;
  };
}

/** These differ from request to request: what depends on them is asked each time. */
const changingHeaders: ReadonlySet<string> = new Set([
  'content-length',
  'content-range',
  'cookie',
  'range',
  'referer',
  'authorization',
  'if-none-match',
  'if-modified-since',
  'x-request-id',
  'traceparent',
]);

/** Names of the request headers that the link reads when it reads nothing else but method and protocol; else null. */
function headNamesOf(link: LinkIR, constantArgument: string | null): readonly string[] | null {
  if (link.exclusions.length > 0 || (link.operator?.template != null && constantArgument === null)) return null;
  const names: string[] = [];
  for (const { variable, selector } of link.targets) {
    const name = variable === 'REQUEST_HEADERS' && selector?.kind === 'name' ? selector.name.toLowerCase() : null;
    if (name !== null && !changingHeaders.has(name)) names.push(name);
    else if (variable !== 'REQUEST_METHOD' && variable !== 'REQUEST_PROTOCOL') return null;
  }
  return names;
}

function createLinkCheck(
  link: LinkIR,
  constantArgument: string | null,
  context: TransformationContext,
): QuickCheck | null {
  const { operator } = link;
  if (operator === null || (link.multiMatch && link.transformations.length > 0) || readsRule(link)) return null;
  const steps = link.transformations.map((name) => transformations.get(name));
  if (steps.some((step) => step === undefined)) return null;
  const argument = operator.template === null ? operator.argument : constantArgument;
  const test =
    argument === null
      ? dynamicTest(operator, steps as Transformation[], context)
      : constantTest(operator, argument, steps as Transformation[], context);
  const bound = bindTargets(link);
  const checks = bound.targets.map((target) => targetCheck(target, bound.exclusions, test));
  if (checks.length === 1) return checks[0] as QuickCheck;
  return (transaction) => {
    for (const check of checks) if (check(transaction)) return true;
    return false;
  };
}

/** RULE is the rule that asks, which the transaction does not know before the evaluator runs it. */
function readsRule(link: LinkIR): boolean {
  return (
    link.targets.some((target) => target.variable === 'RULE') ||
    (link.operator?.template ?? []).some((part) => typeof part !== 'string' && part.variable === 'RULE')
  );
}

/** null: a macro expanded to what the operator cannot use; then nothing matches, negated or not (evaluate.ts). */
function matcherOrNull(operator: OperatorIR, argument: string): Matcher | null {
  try {
    return createMatcher(operator, argument);
  } catch (error) {
    if (error instanceof OperatorArgumentError && operator.template !== null) return null;
    throw error;
  }
}

function transform(value: string, steps: readonly Transformation[], context: TransformationContext): string {
  let text = value;
  for (const step of steps) text = step.apply(text, context);
  return text;
}

function constantTest(
  operator: OperatorIR,
  argument: string,
  steps: readonly Transformation[],
  context: TransformationContext,
): ValueTest {
  const matcher = matcherOrNull(operator, argument);
  if (matcher === null) return () => false;
  const { negated } = operator;
  const plain = steps.length === 0;
  const compute = (value: string): boolean =>
    matcher.matches(plain ? value : transform(value, steps, context)) !== negated;
  if (plain && cheapOperators.has(operator.name)) return compute;
  let known = new Map<string, boolean>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const answer = compute(value);
    if (value.length <= rememberedValueBytesMax) {
      if (known.size >= rememberedValuesMax) known = new Map();
      known.set(value, answer);
    }
    return answer;
  };
}
/** Cheaper to ask than to look up. */
const cheapOperators = new Set([
  'eq',
  'ge',
  'gt',
  'le',
  'lt',
  'streq',
  'beginsWith',
  'endsWith',
  'contains',
  'unconditionalMatch',
  'noMatch',
]);

function dynamicTest(
  operator: OperatorIR,
  steps: readonly Transformation[],
  context: TransformationContext,
): ValueTest {
  const { negated } = operator;
  const template = operator.template ?? [];
  const matchers = new Map<string, Matcher | null>();
  return (value, transaction) => {
    const argument = expand(template, transaction);
    let matcher = matchers.get(argument);
    if (matcher === undefined) {
      if (matchers.size >= expandedMatchersMax) matchers.clear();
      matcher = matcherOrNull(operator, argument);
      matchers.set(argument, matcher);
    }
    return matcher !== null && matcher.matches(transform(value, steps, context)) !== negated;
  };
}

function targetCheck(target: BoundTarget, exclusions: readonly BoundExclusion[], test: ValueTest): QuickCheck {
  const { variable, ir } = target;
  if (variable === null) return () => false;
  const isMember = target.name !== null && target.regex === null;
  if (exclusions.length === 0 && !ir.count) {
    if (variable.kind === 'scalar') return (transaction) => test(variable.read(transaction), transaction);
    if (variable.kind === 'record' && isMember) {
      const name = target.name;
      return (transaction) => {
        const value = variable.find(transaction, name);
        return value !== null && test(value, transaction);
      };
    }
  }
  if (
    exclusions.length === 0 &&
    variable.kind === 'collection' &&
    target.regex === null &&
    target.xpath === null &&
    !variable.name.startsWith('MATCHED_')
  )
    return collectionCheck(target, variable, test);
  return (transaction) => {
    let maybe = false;
    visitTarget(target, exclusions, transaction, (_variable, _key, value) => {
      if (!maybe) maybe = test(value, transaction);
    });
    return maybe;
  };
}

/**
 * Members of a request collection by name (or all), or how many there are: plain loops, no visitor, nothing allocated.
 */
function collectionCheck(target: BoundTarget, variable: CollectionVariable, test: ValueTest): QuickCheck {
  const { name, ir } = target;
  const { first, second, shows } = variable;
  const isNamed = (key: string): boolean =>
    name === null || (key.length === name.length && (key === name || key.toLowerCase() === name));
  if (ir.count) {
    const count = (collection: Collection): number => {
      if (name === null) return collection.names.length;
      let found = 0;
      for (let index = 0; index < collection.names.length; index += 1)
        if (isNamed(collection.names[index] as string)) found += 1;
      return found;
    };
    return (transaction) =>
      test(String(count(first(transaction)) + (second === null ? 0 : count(second(transaction)))), transaction);
  }
  const some = (collection: Collection, transaction: Transaction): boolean => {
    const { names } = collection;
    const shown = shows === 'name' ? names : collection.values;
    for (let index = 0; index < names.length; index += 1)
      if (isNamed(names[index] as string) && test(shown[index] as string, transaction)) return true;
    return false;
  };
  return (transaction) =>
    some(first(transaction), transaction) || (second !== null && some(second(transaction), transaction));
}
