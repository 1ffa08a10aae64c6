// Rules of people run here, not in the API's thread: a job has a thread of its own and a time after which it is ended.
import { Worker } from 'node:worker_threads';
import { ApiError } from '../http-kit/problem.js';
import type { RuleTestJob, RuleTestResult } from './rule-tests.js';
import type { ExclusionRequest, ExclusionSuggestion } from '../suggestions/suggest-exclusion.js';

export type LabJob =
  | { readonly kind: 'tests'; readonly jobs: readonly RuleTestJob[] }
  | { readonly kind: 'exclusion'; readonly request: ExclusionRequest };
export type LabReply =
  | { readonly kind: 'tests'; readonly results: RuleTestResult[][] }
  | { readonly kind: 'exclusion'; readonly suggestion: ExclusionSuggestion };

export interface RuleLab {
  /** Throws `busy` when too many jobs wait and `validation_failed` when a rule takes too long. */
  runTests(job: RuleTestJob): Promise<RuleTestResult[]>;
  /** The same for several rules in one thread; results in the order of the jobs. */
  runAll(jobs: readonly RuleTestJob[]): Promise<RuleTestResult[][]>;
  suggest(request: ExclusionRequest): Promise<ExclusionSuggestion>;
}

const waitingMax = 16;

export function createRuleLab(
  options: { readonly testTimeoutMs?: number; readonly suggestTimeoutMs?: number; readonly threads?: number } = {},
): RuleLab {
  const { testTimeoutMs = 10_000, suggestTimeoutMs = 120_000, threads = 1 } = options;
  const queue: (() => void)[] = [];
  let running = 0;

  const enter = async (): Promise<void> => {
    if (running < threads) {
      running += 1;
      return;
    }
    if (queue.length >= waitingMax)
      throw new ApiError('busy', 'Too many rule tests are waiting. Try again in a few seconds.', {
        headers: { 'retry-after': '5' },
      });
    await new Promise<void>((resolve) => queue.push(resolve));
  };
  const leave = (): void => {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  const run = async (job: LabJob, timeoutMs: number): Promise<LabReply> => {
    await enter();
    const worker = new Worker(new URL('./sandbox-worker.js', import.meta.url), {
      workerData: job,
      name: 'gatehouse-lab',
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
    });
    let alarm: NodeJS.Timeout | undefined;
    try {
      return await new Promise<LabReply>((resolve, reject) => {
        alarm = setTimeout(
          () =>
            reject(
              new ApiError(
                'validation_failed',
                `The test took longer than ${timeoutMs / 1000} seconds and was ended.`,
                { errors: [{ path: '/tests', reason: 'takes too long' }] },
              ),
            ),
          timeoutMs,
        );
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.once('exit', (code) => reject(new Error(`the lab's thread ended with ${code} before it answered`)));
      });
    } finally {
      clearTimeout(alarm);
      await worker.terminate();
      leave();
    }
  };
  const runAll: RuleLab['runAll'] = async (jobs) => {
    if (jobs.every(({ tests }) => tests.length === 0)) return jobs.map(() => []);
    const reply = await run({ kind: 'tests', jobs }, testTimeoutMs);
    if (reply.kind !== 'tests') throw new Error('the lab answered another question');
    return reply.results;
  };
  return {
    runAll,
    async runTests(job) {
      return (await runAll([job]))[0] ?? [];
    },
    async suggest(request) {
      const reply = await run({ kind: 'exclusion', request }, suggestTimeoutMs);
      if (reply.kind !== 'exclusion') throw new Error('the lab answered another question');
      return reply.suggestion;
    },
  };
}
