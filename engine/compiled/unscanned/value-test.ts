// One value against one operator, as a quick check asks it: transformed, tested, and remembered where that is cheaper.
import { createMatcher } from '../../operators/index.js';
import { OperatorArgumentError, type Matcher } from '../../operators/operator.js';
import { SeenOnce } from '../../parse/seen-once.js';
import type { OperatorIR } from '../../program/ir.js';
import type { Transaction } from '../../transaction/transaction.js';
import type { Transformation, TransformationContext } from '../../transformations/transformation.js';
import { expand } from '../../variables/index.js';

export type ValueTest = (value: string, transaction: Transaction) => boolean;

/** Answers about short values are remembered: methods, protocols, content types repeat in every request. */
const rememberedValuesMax = 512;
const rememberedValueBytesMax = 512;
/**
 * Distinct arguments that the macros of one link expand to are few; the bound only guards against request data in them.
 */
const expandedMatchersMax = 64;

/** null: a macro expanded to what the operator cannot use; then nothing matches, negated or not (evaluator.ts). */
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

/** `argument`: known beforehand. */
export function constantTest(
  operator: OperatorIR,
  argument: string,
  steps: readonly Transformation[],
  context: TransformationContext,
): ValueTest {
  const { negated } = operator;
  const plain = steps.length === 0;
  const isCheap = cheapOperators.has(operator.name);
  // Patterns and lists are built when the first value is asked about: most ask about headers that nobody sends, and
  // would cost every thread memory and a part of its start.
  let matcher = isCheap ? matcherOrNull(operator, argument) : undefined;
  const compute = (value: string): boolean => {
    if (matcher === undefined) matcher = matcherOrNull(operator, argument);
    return matcher !== null && matcher.matches(plain ? value : transform(value, steps, context)) !== negated;
  };
  if (plain && isCheap) return compute;
  let known = new Map<string, boolean>();
  const once = new SeenOnce();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const answer = compute(value);
    if (value.length <= rememberedValueBytesMax && once.wasSeen(value)) {
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

/** The argument holds macros. */
export function dynamicTest(
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
