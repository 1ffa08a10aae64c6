// The background loop. About every 15 seconds one leader among all servers of a database starts the jobs that are due
// and waits for none of them: a job that throws, hangs or is slow delays no other job and no later round. A job never
// runs beside itself. When a job ran last is in the database, so a new leader continues where the old one stopped.
//
// What a job can still do to others: hold a transaction of the embedded database, which has one connection, or compute
// without a pause on this thread. Jobs work in bounded batches for both reasons.
import type { Database, HeldLock } from '../db/client.js';
import type { Job } from '../http-kit/index.js';
import { JobStates } from './states.js';

export interface Scheduler {
  /** One round: leadership, then start of what is due. Returns the names of started jobs without waiting for them. */
  tick(): Promise<readonly string[]>;
  /** Resolves when each job that runs now is over or past its time limit. */
  settled(): Promise<void>;
  start(): void;
  /**
   * Aborts running jobs, waits for them for `stopMsMax`, gives leadership up. Never rejects. A job that ignores its
   * signal is reported by `onError` and left behind.
   */
  stop(): Promise<void>;
  readonly isLeader: boolean;
}

export interface SchedulerOptions {
  readonly database: Database;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly jobs: readonly Job[];
  readonly tickMs?: number;
  /** How long `stop` takes at most. */
  readonly stopMsMax?: number;
  readonly onError: (job: string, error: unknown) => void;
}

const tickMsDefault = 15_000;
/** Of a server that does not lead: how soon another one takes over, beside what the database needs to notice. */
const candidateMs = 3_000;
const timeoutMsDefault = 60_000;
const stopMsMaxDefault = 10_000;
const releaseMsMax = 3000;
/** Timers fire a little early or late; a job must not miss its round by a millisecond. */
const earlyMs = 100;

interface Run {
  readonly limit: AbortController;
  /** The work is over or past its time limit, and that is noted. Never rejects. */
  readonly settled: Promise<void>;
  /** The work is over, and that is noted. Never rejects. */
  readonly ended: Promise<void>;
}

function refuseSameNames(jobs: readonly Job[]): void {
  const names = new Set(jobs.map((job) => job.name));
  if (names.size !== jobs.length) throw new Error('two jobs have one name');
}

async function whenAll(runs: Iterable<Run>, what: 'settled' | 'ended'): Promise<void> {
  await Promise.all([...runs].map((run) => run[what]));
}

const leftBehind = (stopMsMax: number): Error =>
  new Error(`it did not end within ${stopMsMax} ms of the shutdown, and is left behind`);

export function createScheduler(options: SchedulerOptions): Scheduler {
  refuseSameNames(options.jobs);
  const running = new Map<string, Run>();
  const states = new JobStates(options.database.sql, options.now);
  let isStopping = false;
  let lock: HeldLock | null = null;
  let timer: NodeJS.Timeout | null = null;
  let current: Promise<unknown> = Promise.resolve();

  const abortAll = (): void => {
    for (const run of running.values()) run.limit.abort();
  };
  const lead = async (): Promise<boolean> => {
    if (lock !== null && (await lock.isHeld())) return true;
    // another server may lead by now, and starts the same jobs
    abortAll();
    await lock?.release();
    lock = await options.database.tryHold('leader');
    if (lock !== null) await states.forgetRunning([...running.keys()]);
    return lock !== null;
  };
  const tick = async (): Promise<readonly string[]> => {
    if (isStopping || !(await lead())) return [];
    const nowMs = options.now();
    const last = await states.lastStarts();
    const due = options.jobs.filter((job) => !running.has(job.name) && isDue(job, last.get(job.name), nowMs));
    const started = due.map((job) => job.name);
    await states.begin(started, new Date(nowMs));
    for (const job of isStopping ? [] : due) {
      const run = startJob(options, states, job, nowMs);
      running.set(job.name, run);
      // a job that ignores its signal stays listed as running, and is not started a second time beside itself
      void run.ended.then(() => running.delete(job.name));
    }
    return isStopping ? [] : started;
  };
  const loop = (): void => {
    const before = lock;
    current = tick()
      .catch((error: unknown) => options.onError('scheduler', error))
      .then(() => {
        if (isStopping) return;
        timer = setTimeout(loop, pauseMs(options.tickMs, lock !== null && lock === before));
        timer.unref();
      });
  };
  const close = async (): Promise<void> => {
    await current;
    abortAll();
    await whenAll(running.values(), 'ended');
  };
  return {
    tick,
    settled: () => whenAll(running.values(), 'settled'),
    start: loop,
    get isLeader() {
      return lock !== null;
    },
    async stop() {
      isStopping = true;
      if (timer !== null) clearTimeout(timer);
      abortAll();
      const stopMsMax = options.stopMsMax ?? stopMsMaxDefault;
      await within(stopMsMax, close());
      for (const name of running.keys()) options.onError(name, leftBehind(stopMsMax));
      await within(releaseMsMax, lock?.release());
      lock = null;
    },
  };
}

/** A new leader finds what the one before started a moment ago not due yet, and must not leave it for a whole round. */
const pauseMs = (tickMs = tickMsDefault, ledBefore: boolean): number =>
  ledBefore ? tickMs : Math.min(tickMs, candidateMs);

/** A start in the future was before the clock was set back, and says nothing about how long ago it is. */
function isDue(job: Job, lastMs: number | undefined, nowMs: number): boolean {
  if (lastMs === undefined || lastMs > nowMs) return true;
  return nowMs - lastMs >= job.everyMs - earlyMs;
}

/** Resolves when `work` is over, whatever came of it, at the latest after `ms`. */
async function within(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const alarm = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work?.catch(() => undefined), alarm]);
  clearTimeout(timer);
}

function startJob(options: SchedulerOptions, states: JobStates, job: Job, nowMs: number): Run {
  const limit = new AbortController();
  const timeoutMs = job.timeoutMs ?? timeoutMsDefault;
  const note = async (write: () => Promise<void>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      options.onError(job.name, error);
    }
  };
  const fail = async (error: unknown, isOver: boolean): Promise<void> => {
    options.onError(job.name, error);
    const text = error instanceof Error ? error.message : String(error);
    await note(() => states.failed(job.name, text, isOver));
  };
  const work = (async () => job.run({ nowMs, signal: limit.signal }))();
  let alarm: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    alarm = setTimeout(() => resolve('late'), timeoutMs);
  });
  const settle = async (): Promise<boolean> => {
    try {
      const first = await Promise.race([work.then((result) => ({ result })), late]);
      if (first === 'late') {
        limit.abort();
        await fail(new Error(`it took longer than ${timeoutMs} ms`), false);
        return false;
      }
      await note(() => states.succeeded(job.name, first.result));
    } catch (error) {
      await fail(error, true);
    } finally {
      clearTimeout(alarm);
    }
    return true;
  };
  const inTime = settle();
  const ended = inTime.then(async (isOver) => {
    if (isOver) return;
    await work.catch(() => undefined);
    await note(() => states.endedLate(job.name));
  });
  return { limit, settled: inTime.then(() => undefined), ended };
}
