// Rules that no scan can answer (numbers, counts, single headers, negations) get a quick check instead: a function that
// says "certainly no match" or "maybe". It sees the same values as the evaluator, or more (run-time target removals are
// not looked at), so a "no" is always right; the evaluator decides the rest. Where every link is looked at (`isExact`)
// and no target of the rule was removed, a "maybe" is a match.
import { isActingLink, readsEarlierLinks } from '../../program/chain-links.js';
import type { LinkIR, RuleIR } from '../../program/ir.js';
import { transformations } from '../../transformations/index.js';
import type { Transformation, TransformationContext } from '../../transformations/transformation.js';
import { bindTargets } from '../../variables/targets.js';
import { targetCheck, type QuickCheck } from './target-check.js';
import { constantTest, dynamicTest } from './value-test.js';

export type { QuickCheck } from './target-check.js';

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
