// The compiled engine. Per phase: collect the values that became known, look each up in the memo or scan it, and run,
// in rule order, only (a) rules one of whose atoms may hold on one of their values (candidates.ts) and (b) rules that
// no scan can answer and whose quick check says "maybe" (unscanned/). What runs, runs in the shared evaluator, exactly
// as in the interpreter.
import { phaseIsOver } from '../actions/index.js';
import { RuleEvaluator } from '../evaluate/evaluator.js';
import { isRuleRemoved, isTargetRemoved, type RemovalTable } from '../evaluate/removals.js';
import type { Program, RuleIR } from '../program/ir.js';
import type { FoldedIR, PlanIR } from '../program/plan.js';
import type { Ruleset } from '../program/ruleset.js';
import { finishSteps, type Steps } from '../program/steps.js';
import type { Inspector } from '../transaction/inspector.js';
import { createSession, type PhaseRunner } from '../transaction/session.js';
import type { TransactionEnvironment } from '../transaction/transaction.js';
import { CandidateFinder } from './candidates.js';
import { createHitFinder } from './scan/create-hit-finder.js';
import type { HitFinder, MemoSize } from './scan/hit-finder.js';
import { Skips } from './skips.js';
import { classesOfSources } from './sources.js';
import { CompiledTransaction } from './transaction.js';
import { runActions } from './unscanned/actions-only.js';
import { HeadShapes } from './unscanned/head-shapes.js';
import { createUnscannedRules, type UnscannedRule, type UnscannedRules } from './unscanned/unscanned-rules.js';
import { createValueFilter } from './value-filter.js';

export interface CompiledOptions {
  /** What is remembered of values, per thread; null = nothing (a variant that tests compare). */
  readonly memo?: MemoSize;
}

const defaultMemo = { entriesMax: 32_768, bytesMax: 8 * 1024 * 1024, valueBytesMax: 4096 } as const;

/** An inspector for one thread, with counters for metrics. */
export interface CompiledInspector extends Inspector {
  counters(): ReturnType<HitFinder['counters']>;
  /** Frees the thread's native scratch. The Ruleset stays. */
  release(): void;
}

export function createCompiledInspector(ruleset: Ruleset, options: CompiledOptions = {}): CompiledInspector {
  return finishSteps(creatingInspector(ruleset, options));
}

/** The same, with a place to pause at after each part of it, and after the engine of each policy. */
export function* creatingInspector(ruleset: Ruleset, options: CompiledOptions = {}): Steps<CompiledInspector> {
  const memo = options.memo === undefined ? defaultMemo : options.memo;
  const { program, plan, library, databases } = ruleset;
  const scanner = databases.length === 0 ? null : library.createScanner(databases);
  yield;
  const finder = createHitFinder(program, plan, scanner, memo);
  yield;
  const isOff = program.settings.ruleEngine === 'Off';
  const unit = (folded: FoldedIR): PolicyUnit => ({
    engine: new CompiledEngine(program, { ...plan, ...folded }, finder, memo),
    baseTx: isOff ? undefined : new Map(folded.initialTx),
  });
  // The plan for all comes first: it serves requests of a policy that the rules do not know.
  const policies = plan.policies ?? [];
  const units = [unit(plan)];
  for (const policy of policies) {
    yield;
    units.push(unit(policy));
  }
  const places = new Map(policies.map(({ key }, index) => [key, index + 1]));
  const create = ({ policy = null }: TransactionEnvironment): CompiledTransaction => {
    const place = policies.length === 0 ? 0 : (places.get(policy) ?? 0);
    const transaction = new CompiledTransaction((units[place] as PolicyUnit).baseTx);
    transaction.unit = place;
    return transaction;
  };
  const session = createSession(program, create, (transaction, phase, removals) =>
    (units[transaction.unit] as PolicyUnit).engine.runPhase(transaction, phase, removals),
  );
  return {
    ...session,
    counters: () => finder.counters(),
    release: () => scanner?.release(),
  };
}

/** The rules as requests of one policy meet them. */
interface PolicyUnit {
  readonly engine: CompiledEngine;
  readonly baseTx: ReadonlyMap<string, string> | undefined;
}

const none: readonly number[] = [];

function ascending(a: number, b: number): number {
  return a - b;
}

class CompiledEngine {
  private readonly evaluator: RuleEvaluator;
  private readonly unscanned: UnscannedRules;
  private readonly candidates: CandidateFinder;
  private readonly skips: Skips;

  /** `finder`: shared by the engines of all policies, with what it remembers of values. */
  constructor(
    private readonly program: Program,
    plan: PlanIR,
    finder: HitFinder,
    memo: MemoSize,
  ) {
    const classes = classesOfSources(plan);
    this.evaluator = new RuleEvaluator(program, memo === null ? null : createValueFilter(plan, finder, classes));
    this.unscanned = createUnscannedRules(program, plan);
    this.skips = new Skips(program);
    // Without records of header values, or where a check reads the Cookie header, there are no shapes.
    const hasShapes = classes.headerValue !== -1 && memo !== null && !this.unscanned.headerNames.includes('cookie');
    const shapes = hasShapes ? new HeadShapes(this.unscanned) : null;
    this.candidates = new CandidateFinder(program, plan, finder, classes, shapes);
  }

  readonly runPhase: PhaseRunner<CompiledTransaction> = (transaction, phase, removals) => {
    this.candidates.find(transaction, phase);
    const candidates = transaction.candidates?.[phase] ?? none;
    if (candidates.length > 1) (candidates as number[]).sort(ascending);
    const unscanned = (
      transaction.headShape === null ? this.unscanned.all[phase] : transaction.headShape.unscanned[phase]
    ) as readonly UnscannedRule[];
    let visited = 0;
    let candidate = 0;
    let resumeAt = -1; // items before it are skipped
    while (visited < unscanned.length || candidate < candidates.length) {
      const nextCandidate = candidate < candidates.length ? (candidates[candidate] as number) : Number.MAX_SAFE_INTEGER;
      const next = visited < unscanned.length ? (unscanned[visited] as UnscannedRule) : null;
      let index: number;
      if (next !== null && next.item < nextCandidate) {
        visited += 1;
        index = next.item;
        if (index < resumeAt || (next.check !== null && !next.check(transaction))) continue;
        const { sequence } = next;
        if (sequence !== null && sequence.lastItem < nextCandidate && transaction.ruleRemovals.length === 0) {
          sequence.run(transaction, removals);
          visited += sequence.length - 1;
          continue;
        }
        if (transaction.ruleRemovals.length > 0 && isRuleRemoved(transaction, next.rule)) continue;
        this.runUnscanned(next, transaction, removals);
      } else {
        index = nextCandidate;
        candidate += 1;
        if (index < resumeAt) continue;
        const rule = this.program.items[index] as RuleIR;
        if (transaction.ruleRemovals.length > 0 && isRuleRemoved(transaction, rule)) continue;
        this.evaluator.runRule(rule, transaction, removals);
      }
      if (transaction.skipRules > 0 || transaction.skipAfter !== null)
        resumeAt = this.skips.take(transaction, phase, index);
      if (phaseIsOver(transaction)) return;
    }
  };

  private runUnscanned(
    { rule, isActionsOnly, memo }: UnscannedRule,
    transaction: CompiledTransaction,
    removals: RemovalTable,
  ): void {
    const hasRemovals = transaction.targetRemovals.length > 0;
    if (isActionsOnly && !(hasRemovals && isTargetRemoved(transaction, rule))) {
      runActions(rule, transaction, removals);
      return;
    }
    if (memo === null || hasRemovals) {
      this.evaluator.runRule(rule, transaction, removals);
      return;
    }
    const key = memo.keyOf(transaction);
    if (!memo.repeat(transaction, key) && !this.evaluator.runRule(rule, transaction, removals))
      memo.remember(transaction, key);
  }
}
