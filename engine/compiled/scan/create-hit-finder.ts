// A hit finder for a rule set: byte groups for everything that is asked of single bytes, RE2 sets, and the matchers of
// the operators that are called.
import { transformationContext } from '../../transformations/context.js';
import type { Scanner } from '../../native/matcher.js';
import { createMatcher } from '../../operators/index.js';
import type { Matcher } from '../../operators/operator.js';
import type { LinkIR, Program, RuleIR } from '../../program/ir.js';
import type { PlanIR } from '../../program/plan.js';
import { transformations } from '../../transformations/index.js';
import { createByteGroups, type ByteGroups } from './byte-groups.js';
import { HitFinder, highBytes, type MemoSize } from './hit-finder.js';
import { createPatternSet } from './pattern-set.js';

/** `scanner`: over plan.databases; null when there are none. Belongs to one thread. */
export function createHitFinder(program: Program, plan: PlanIR, scanner: Scanner | null, memo: MemoSize): HitFinder {
  return new HitFinder({
    plan,
    scanner,
    groups: askedBytes(plan),
    transformations,
    context: transformationContext(program),
    sets: plan.classes.map(({ sets }) => sets.map((set) => createPatternSet(set.sources))),
    matchers: calledMatchers(program, plan),
    memo,
  });
}

function askedBytes(plan: PlanIR): ByteGroups {
  const asked = [
    highBytes,
    ...plan.alphabets.map((alphabet) => [...alphabet].map((character) => character.charCodeAt(0))),
  ];
  for (const name of new Set(plan.pipelines.flat())) asked.push(transformations.get(name)?.triggers ?? []);
  for (const { called } of plan.classes)
    for (const { neededBytes } of called) if (neededBytes !== null) asked.push(neededBytes);
  return createByteGroups(asked);
}

/** By atom. Atoms with the same operator and argument, behind different pipelines, get the same matcher. */
function calledMatchers(program: Program, plan: PlanIR): (Matcher | undefined)[] {
  const constants = new Map(plan.constantArguments.map(([item, link, argument]) => [`${item}/${link}`, argument]));
  const called = new Set(plan.classes.flatMap((scanClass) => scanClass.called.map(({ atom }) => atom)));
  const known = new Map<string, Matcher>();
  return plan.atoms.map(({ item, link }, index) => {
    if (!called.has(index)) return undefined;
    const rule = program.items[item] as RuleIR;
    const operator = (rule.links[link] as LinkIR).operator;
    if (operator === null) return undefined;
    const argument = constants.get(`${item}/${link}`) ?? operator.argument;
    const question = JSON.stringify([operator.name, argument, operator.phrases]);
    let matcher = known.get(question);
    if (matcher === undefined) known.set(question, (matcher = createMatcher(operator, argument)));
    return matcher;
  });
}
