// Rules of people run here, not in the API's thread: a job has a thread to itself and a time after which it is ended.
import type { MatchJudgement } from '#compiler';
import { ApiError } from '../../http-kit/index.js';
import type { ExclusionRequest, ExclusionSuggestion } from '../../suggestions/suggest-exclusion.js';
import type { ChangedRules, RulesFinding, RulesOfSettings } from '../check-settings.js';
import type { RecordedJob, RecordedMatches } from '../recorded.js';
import type { RuleTestJob, RuleTestResult } from '../rule-tests.js';
import { SpareThreads } from './sandbox-thread.js';

export type SandboxJob =
  | { readonly kind: 'tests'; readonly jobs: readonly RuleTestJob[] }
  | { readonly kind: 'rules'; readonly rules: RulesOfSettings; readonly changed: ChangedRules }
  | { readonly kind: 'exclusion'; readonly request: ExclusionRequest }
  | { readonly kind: 'matches'; readonly matches: readonly StoredMatch[] }
  | { readonly kind: 'recorded'; readonly job: RecordedJob };
export type SandboxReply =
  | { readonly kind: 'tests'; readonly results: RuleTestResult[][] }
  | { readonly kind: 'rules'; readonly found: RulesFinding[] }
  | { readonly kind: 'exclusion'; readonly suggestion: ExclusionSuggestion }
  | { readonly kind: 'matches'; readonly judged: readonly MatchJudgement[] }
  | { readonly kind: 'recorded'; readonly found: RecordedMatches };

/** What a rule matched, as an event has it. */
export interface StoredMatch {
  readonly ruleId: number;
  readonly value: string;
}

export interface RuleSandbox {
  /**
   * Throws `busy` when too many jobs wait or the machine leaves the thread no time, and `validation_failed` when a rule
   * takes too long.
   */
  runTests(job: RuleTestJob): Promise<RuleTestResult[]>;
  /** The same for several rules in one thread; results in the order of the jobs. */
  runAll(jobs: readonly RuleTestJob[]): Promise<RuleTestResult[][]>;
  /** What is wrong with these rules of a settings object, tests included; throws like `runTests`. */
  checkRules(rules: RulesOfSettings, changed: ChangedRules): Promise<RulesFinding[]>;
  /** What a rule meets among recorded requests; throws like `runTests`. */
  matchRecorded(job: RecordedJob): Promise<RecordedMatches>;
  suggest(request: ExclusionRequest): Promise<ExclusionSuggestion>;
  /** What these values look like, in their order; the engine is loaded in the thread, not in the API's. */
  judge(matches: readonly StoredMatch[]): Promise<readonly MatchJudgement[]>;
}

const waitingMax = 16;

/** So many run at once; the others wait for their turn, and beyond `waitingMax` of them nobody may. */
class Turns {
  private readonly queue: (() => void)[] = [];
  private running = 0;

  constructor(private readonly most: number) {}

  async enter(): Promise<void> {
    if (this.running < this.most) {
      this.running += 1;
      return;
    }
    if (this.queue.length >= waitingMax)
      throw new ApiError('busy', 'Too many rule tests are waiting. Try again in a few seconds.', {
        headers: { 'retry-after': '5' },
      });
    await new Promise<void>((resolve) => this.queue.push(resolve));
  }

  leave(): void {
    const next = this.queue.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}

export interface SandboxOptions {
  readonly testTimeoutMs?: number;
  readonly suggestTimeoutMs?: number;
  /** A job that the machine gives no time is waited for so long. */
  readonly patienceMs?: number;
  /** Processor time that this process, with all its threads, has used; milliseconds from any origin. */
  readonly cpuMs?: () => number;
  readonly threads?: number;
}

function cpuOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export function createRuleSandbox(options: SandboxOptions = {}): RuleSandbox {
  const { testTimeoutMs = 10_000, suggestTimeoutMs = 120_000, threads = 1 } = options;
  const { patienceMs = 60_000, cpuMs = cpuOfProcess } = options;
  const makeLine = () => {
    const turns = new Turns(threads);
    const spare = new SpareThreads();
    return async (job: SandboxJob, timeoutMs: number): Promise<SandboxReply> => {
      await turns.enter();
      try {
        return await spare.run(job, (ring) =>
          watch({ timeoutMs, patienceMs: Math.max(patienceMs, timeoutMs), cpuMs }, ring),
        );
      } finally {
        turns.leave();
      }
    };
  };
  const run = makeLine();
  // a page asks for it again while an exclusion is tried, which may take minutes: it does not wait for that
  const runJudges = makeLine();
  const runAll: RuleSandbox['runAll'] = async (jobs) => {
    if (jobs.every(({ tests }) => tests.length === 0)) return jobs.map(() => []);
    const reply = await run({ kind: 'tests', jobs }, testTimeoutMs);
    if (reply.kind !== 'tests') throw new Error('the sandbox answered another question');
    return reply.results;
  };
  return {
    runAll,
    async runTests(job) {
      return (await runAll([job]))[0] ?? [];
    },
    async checkRules(rules, changed) {
      const reply = await run({ kind: 'rules', rules, changed }, testTimeoutMs);
      if (reply.kind !== 'rules') throw new Error('the sandbox answered another question');
      return reply.found;
    },
    async matchRecorded(job) {
      const reply = await run({ kind: 'recorded', job }, testTimeoutMs);
      if (reply.kind !== 'recorded') throw new Error('the sandbox answered another question');
      return reply.found;
    },
    async suggest(request) {
      const reply = await run({ kind: 'exclusion', request }, suggestTimeoutMs);
      if (reply.kind !== 'exclusion') throw new Error('the sandbox answered another question');
      return reply.suggestion;
    },
    async judge(matches) {
      if (matches.length === 0) return [];
      const reply = await runJudges({ kind: 'matches', matches }, testTimeoutMs);
      if (reply.kind !== 'matches') throw new Error('the sandbox answered another question');
      return reply.judged;
    },
  };
}

interface Bounds {
  readonly timeoutMs: number;
  readonly patienceMs: number;
  readonly cpuMs: () => number;
}

const lookAgainMsMin = 10;

function tooLong(timeoutMs: number): ApiError {
  return new ApiError('validation_failed', `The test took longer than ${timeoutMs / 1000} seconds and was ended.`, {
    errors: [{ path: '/tests', reason: 'takes too long' }],
  });
}

function noTime(): ApiError {
  return new ApiError('busy', 'The rules could not be tried: the machine has too much to do. Nothing was changed.', {
    headers: { 'retry-after': '10' },
  });
}

/**
 * Rings when the job has had its time. As long as the whole process has used less processor time than that, the job
 * cannot have had it: the machine was busy with something else, and no rule is to blame. Returns what ends it.
 */
function watch({ timeoutMs, patienceMs, cpuMs }: Bounds, ring: (error: ApiError) => void): () => void {
  const startedMs = performance.now();
  const startedCpuMs = cpuMs();
  const look = (): void => {
    const leftMs = timeoutMs - (cpuMs() - startedCpuMs);
    if (leftMs <= 0) return ring(tooLong(timeoutMs));
    if (performance.now() - startedMs >= patienceMs) return ring(noTime());
    alarm = setTimeout(look, Math.max(lookAgainMsMin, leftMs));
  };
  let alarm = setTimeout(look, timeoutMs);
  return () => clearTimeout(alarm);
}
