// Rules that are visited in every transaction because no scan answers them, made as cheap to visit as they can be:
//  - what depends only on the head's names and a few of its values is worked out once per shape of head
//    (head-shapes.ts);
//  - where the quick check is exact and nobody can see what matched, only the actions run, without the evaluator;
//  - runs of rules that add scores up (CRS 949xxx, 959xxx, 980xxx) are repeated while the scores they read are the
//    same.
import { runRuleMatched, runSetvars } from '../../actions/index.js';
import { variableName } from '../../actions/setvar.js';
import { seesEarlierRules } from '../../program/chain-links.js';
import { transformationContext } from '../../evaluate/evaluator.js';
import type { ActionIR, LinkIR, Program, RuleIR, Template } from '../../program/ir.js';
import type { PlanIR } from '../../program/plan.js';
import type { RemovalTable } from '../../evaluate/removals.js';
import type { Transaction } from '../../transaction/transaction.js';
import { variables } from '../../variables/index.js';
import { scannedLink } from '../atom-uses.js';
import { bothOf, createRuleCheck, type QuickCheck } from './quick-check.js';
import { createReplay, type Replay } from './tx-memo.js';

/** A rule visited in every transaction of its phase. */
export interface Resident {
  readonly item: number;
  readonly rule: RuleIR;
  /** Null = it is always run. In the lean form only what the shape of the head does not tell. */
  readonly check: QuickCheck | null;
  /** When the check says "maybe" the rule matches, and only its actions are left to run. */
  readonly isBare: boolean;
  readonly replay: Replay | null;
  /** Of the first rule of a run. */
  readonly run: ScoreRun | null;
}

export interface Residents {
  /** By phase (index 0 unused), in rule order. */
  readonly whole: readonly (readonly Resident[])[];
  /** Parallel: the same without the part of the check that `ofHead` answers. */
  readonly lean: readonly (readonly Resident[])[];
  /** Parallel: the part that depends on the head's shape; null = none. */
  readonly ofHead: readonly (readonly (QuickCheck | null)[])[];
  /** Lower-case names of the request headers that `ofHead` reads. */
  readonly headerNames: readonly string[];
}

export function createResidents(program: Program, plan: PlanIR): Residents {
  const constants = new Map(plan.constantArguments.map(([item, link, argument]) => [`${item}/${link}`, argument]));
  const certain = new Set(plan.certain);
  const context = transformationContext(program);
  const headOnly = seesEarlierRules(program);
  const headerNames = new Set<string>();
  const whole: Resident[][] = [];
  const lean: Resident[][] = [];
  const ofHead: (QuickCheck | null)[][] = [];
  for (const list of plan.active) {
    const rules = list
      .map((index) => program.items[index])
      .filter((item): item is RuleIR => item?.kind === 'rule' && scannedLink(plan, item.index) === -1);
    const found: { whole: Resident; lean: Resident; ofHead: QuickCheck | null }[] = rules.map((rule) => {
      const isCertain = certain.has(rule.index);
      const check = createRuleCheck(rule, (link) => constants.get(`${rule.index}/${link}`) ?? null, context, headOnly);
      const isBare = !headOnly && (isCertain ? runsUnseen(rule, true) : check.isExact && runsUnseen(rule, false));
      const resident = { item: rule.index, rule, isBare, replay: createReplay(rule, program), run: null };
      if (isCertain) return { whole: { ...resident, check: null }, lean: { ...resident, check: null }, ofHead: null };
      for (const name of check.headerNames) headerNames.add(name);
      return {
        whole: { ...resident, check: bothOf(check.ofHead, check.ofRest) },
        lean: { ...resident, check: check.ofRest },
        ofHead: check.ofHead,
      };
    });
    const runs = findRuns(found.map((one) => one.whole));
    whole.push(found.map((one, index) => ({ ...one.whole, run: runs[index] ?? null })));
    lean.push(found.map((one, index) => ({ ...one.lean, run: runs[index] ?? null })));
    ofHead.push(found.map((one) => one.ofHead));
  }
  return { whole, lean, ofHead, headerNames: [...headerNames] };
}

/**
 * Nothing but actions tells that the rule matched, and they run once: nothing logged, nothing captured, MATCHED_VAR not
 * in use (and by no rule after it: seesEarlierRules). A `certain` link has exactly one match by its proof.
 */
function runsUnseen(rule: RuleIR, isCertain: boolean): boolean {
  if (rule.log || rule.disruptive.kind !== 'pass') return false;
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

/** The rule matched: what is left of it. Only for `isBare`. */
export function runBare(rule: RuleIR, transaction: Transaction, removals: RemovalTable): void {
  for (const link of rule.links) runSetvars(link, transaction);
  runRuleMatched(transaction, rule, removals);
}

/** Certain rules in a row that only compute in TX: a function of the TX variables that they read. */
class ScoreRun {
  private readonly values: (string | undefined)[];
  private readonly results: string[];
  private isKnown = false;

  constructor(
    private readonly rules: readonly RuleIR[],
    /** TX variables whose value at the beginning matters. */
    private readonly reads: readonly string[],
    private readonly writes: readonly string[],
  ) {
    this.values = reads.map(() => undefined);
    this.results = writes.map(() => '');
  }

  get length(): number {
    return this.rules.length;
  }

  get lastItem(): number {
    return (this.rules[this.rules.length - 1] as RuleIR).index;
  }

  run(transaction: Transaction, removals: RemovalTable): void {
    const { tx } = transaction;
    const { reads, values, writes, results } = this;
    let isKnown = this.isKnown;
    for (let index = 0; index < reads.length; index += 1) {
      const value = tx.get(reads[index] as string);
      if (value === values[index]) continue;
      values[index] = value;
      isKnown = false;
    }
    if (isKnown) {
      for (let index = 0; index < writes.length; index += 1) tx.set(writes[index] as string, results[index] as string);
      transaction.rule = this.rules[this.rules.length - 1] as RuleIR;
      return;
    }
    for (const rule of this.rules) runBare(rule, transaction, removals);
    for (let index = 0; index < writes.length; index += 1) results[index] = tx.get(writes[index] as string) as string;
    this.isKnown = true;
  }
}

/** By position: the run that begins there. */
function findRuns(list: readonly Resident[]): (ScoreRun | null)[] {
  const found: (ScoreRun | null)[] = list.map(() => null);
  for (let first = 0; first < list.length; first += 1) {
    let end = first;
    while (end < list.length && computesOnly(list[end] as Resident)) end += 1;
    if (end - first < 2) continue;
    found[first] = createRun(list.slice(first, end).map(({ rule }) => rule));
    first = end - 1;
  }
  return found;
}

function computesOnly({ rule, check, isBare }: Resident): boolean {
  if (!isBare || check !== null || rule.severity !== null || rule.skip > 0 || rule.skipAfter !== null) return false;
  return rule.links.every((link) =>
    link.actions.every(
      (action) =>
        action.kind === 'setvar' &&
        action.collection === 'TX' &&
        action.operation !== 'unset' &&
        isLiteral(action.key) &&
        action.value.every((part) => typeof part === 'string' || (part.key !== null && !part.key.startsWith('/'))),
    ),
  );
}

function isLiteral(template: Template): boolean {
  return template.length === 1 && typeof template[0] === 'string' && template[0] !== '';
}

function createRun(rules: readonly RuleIR[]): ScoreRun {
  const reads = new Set<string>();
  const writes = new Set<string>();
  const read = (name: string): void => {
    if (!writes.has(name)) reads.add(name);
  };
  // In the order in which they run; a name that was written before it is read is no input.
  for (const { links } of rules) {
    for (const action of links.flatMap((link) => link.actions)) {
      if (action.kind !== 'setvar') continue;
      const name = variableName(action.key, noTransaction);
      for (const part of action.value) if (typeof part !== 'string') read(part.key as string);
      if (action.operation !== 'set') read(name);
      writes.add(name);
    }
  }
  return new ScoreRun(rules, [...reads], [...writes]);
}
/** A literal name is read without one. */
const noTransaction = null as unknown as Transaction;
