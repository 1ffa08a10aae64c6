// Rules that are visited in every transaction because no scan answers them, made as cheap to visit as they can be:
//  - what depends only on the head's names and a few of its values is worked out once per shape of head
//    (head-shapes.ts);
//  - where the quick check is exact and nobody can see what matched, only the actions run (actions-only.ts);
//  - sequences of rules that add scores up are repeated while the scores they read are the same (score-sequence.ts);
//  - notes of header names are repeated for the same names (tx-memo.ts).
import { transformationContext } from '../../transformations/context.js';
import { seesEarlierRules } from '../../program/chain-links.js';
import type { Program, RuleIR } from '../../program/ir.js';
import type { PlanIR } from '../../program/plan.js';
import { scannedLink } from '../atom-uses.js';
import { isActionsOnly } from './actions-only.js';
import { bothOf, createRuleCheck, type QuickCheck } from './quick-check.js';
import { findSequences, type ScoreSequence } from './score-sequence.js';
import { createTxMemo, type TxMemo } from './tx-memo.js';

/** A rule visited in every transaction of its phase. */
export interface UnscannedRule {
  readonly item: number;
  readonly rule: RuleIR;
  /** Null = it is always run. Behind a head of known shape only what the shape does not tell. */
  readonly check: QuickCheck | null;
  /** When the check says "maybe" the rule matches, and only its actions are left to run. */
  readonly isActionsOnly: boolean;
  readonly memo: TxMemo | null;
  /** Of the first rule of a sequence. */
  readonly sequence: ScoreSequence | null;
}

export interface UnscannedRules {
  /** By phase (index 0 unused), in rule order. */
  readonly all: readonly (readonly UnscannedRule[])[];
  /** Parallel: the same without the part of the check that `headChecks` answers. */
  readonly afterHead: readonly (readonly UnscannedRule[])[];
  /** Parallel: the part that depends on the head's shape; null = none. */
  readonly headChecks: readonly (readonly (QuickCheck | null)[])[];
  /** Lower-case names of the request headers that `headChecks` read. */
  readonly headerNames: readonly string[];
}

/** One rule in both forms. */
interface Prepared {
  readonly whole: UnscannedRule;
  readonly afterHead: UnscannedRule;
  readonly headCheck: QuickCheck | null;
}

export function createUnscannedRules(program: Program, plan: PlanIR): UnscannedRules {
  const constants = new Map(plan.constantArguments.map(([item, link, argument]) => [`${item}/${link}`, argument]));
  const certain = new Set(plan.certain);
  const context = transformationContext(program);
  const headOnly = seesEarlierRules(program);
  const headerNames = new Set<string>();
  const prepare = (rule: RuleIR): Prepared => {
    const isCertain = certain.has(rule.index);
    const check = createRuleCheck(rule, (link) => constants.get(`${rule.index}/${link}`) ?? null, context, headOnly);
    const visited = {
      item: rule.index,
      rule,
      isActionsOnly: !headOnly && (isCertain || check.isExact) && isActionsOnly(rule, isCertain),
      memo: createTxMemo(rule, program),
      sequence: null,
    };
    if (isCertain) {
      const always = { ...visited, check: null };
      return { whole: always, afterHead: always, headCheck: null };
    }
    for (const name of check.headerNames) headerNames.add(name);
    return {
      whole: { ...visited, check: bothOf(check.ofHead, check.ofRest) },
      afterHead: { ...visited, check: check.ofRest },
      headCheck: check.ofHead,
    };
  };
  const all: UnscannedRule[][] = [];
  const afterHead: UnscannedRule[][] = [];
  const headChecks: (QuickCheck | null)[][] = [];
  for (const list of plan.active) {
    const prepared = list
      .map((index) => program.items[index])
      .filter((item): item is RuleIR => item?.kind === 'rule' && scannedLink(plan, item.index) === -1)
      .map(prepare);
    const sequences = findSequences(prepared.map(({ whole }) => whole));
    all.push(prepared.map(({ whole }, index) => ({ ...whole, sequence: sequences[index] ?? null })));
    afterHead.push(prepared.map((one, index) => ({ ...one.afterHead, sequence: sequences[index] ?? null })));
    headChecks.push(prepared.map(({ headCheck }) => headCheck));
  }
  return { all, afterHead, headChecks, headerNames: [...headerNames] };
}
