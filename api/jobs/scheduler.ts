// The background loop. About every 15 seconds one leader among all servers of a database looks which jobs are due. A
// job that throws, hangs or takes long harms no other: each runs on its own, against a time limit, and is counted. When
// a job ran last is in the database, so a new leader goes on where the old one stopped.
import type { Database, HeldLock } from '../db/client.js';
import type { Job } from '../http-kit/index.js';

export interface Scheduler {
  /** One look: leadership, due jobs. Resolves when the jobs it started have ended or run out of time. */
  tick(): Promise<readonly string[]>;
  start(): void;
  /** Aborts running jobs, waits for them, gives leadership up. */
  stop(): Promise<void>;
  readonly isLeader: boolean;
}

export interface SchedulerOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly jobs: readonly Job[];
  readonly tickMs?: number;
  readonly onError: (job: string, error: unknown) => void;
}

const tickMsDefault = 15_000;
const timeoutMsDefault = 60_000;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const names = new Set(options.jobs.map((job) => job.name));
  if (names.size !== options.jobs.length) throw new Error('two jobs have one name');
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  let lock: HeldLock | null = null;
  let timer: NodeJS.Timeout | null = null;
  let current: Promise<unknown> = Promise.resolve();

  const lead = async (): Promise<boolean> => {
    if (lock !== null && (await lock.isHeld())) return true;
    if (lock !== null) await lock.release();
    lock = await options.database.tryHold('leader');
    return lock !== null;
  };
  const tick = async (): Promise<readonly string[]> => {
    if (stopping.signal.aborted || !(await lead())) return [];
    const nowMs = options.now();
    const rows = await options.database.sql<
      { name: string; last_started_at: Date | null }[]
    >`select name, last_started_at from job_state`;
    const last = new Map(rows.map((row) => [row.name, row.last_started_at?.getTime() ?? -Infinity]));
    // a start in the future was before the clock was set back, and says nothing about how long ago it is
    const isDue = (sinceMs: number, everyMs: number): boolean => sinceMs >= everyMs || sinceMs < 0;
    const due = options.jobs.filter(
      (job) => !running.has(job.name) && isDue(nowMs - (last.get(job.name) ?? -Infinity), job.everyMs),
    );
    await Promise.all(due.map((job) => runJob(options, job, nowMs, stopping.signal, running)));
    return due.map((job) => job.name);
  };
  const loop = (): void => {
    if (stopping.signal.aborted) return;
    current = tick()
      .catch((error: unknown) => options.onError('scheduler', error))
      .then(() => {
        timer = setTimeout(loop, options.tickMs ?? tickMsDefault);
        timer.unref();
      });
  };
  return {
    tick,
    start: loop,
    get isLeader() {
      return lock !== null;
    },
    async stop() {
      stopping.abort();
      if (timer !== null) clearTimeout(timer);
      await current;
      await Promise.all(running.values());
      await lock?.release();
      lock = null;
    },
  };
}

async function runJob(
  options: SchedulerOptions,
  job: Job,
  nowMs: number,
  stop: AbortSignal,
  running: Map<string, Promise<void>>,
): Promise<void> {
  const { sql } = options.database;
  const limit = new AbortController();
  const timeoutMs = job.timeoutMs ?? timeoutMsDefault;
  await sql`
    insert into job_state (name, runs, last_started_at) values (${job.name}, 1, ${new Date(nowMs)})
    on conflict (name) do update set runs = job_state.runs + 1, last_started_at = excluded.last_started_at`;
  const work = (async () => job.run({ nowMs, signal: AbortSignal.any([stop, limit.signal]) }))();
  // a job that ignores its signal stays listed as running, and is not started a second time beside itself
  const ended = work
    .then(
      () => undefined,
      () => undefined,
    )
    .finally(() => running.delete(job.name));
  running.set(job.name, ended);
  let alarm: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    alarm = setTimeout(() => {
      limit.abort();
      reject(new Error(`it took longer than ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    const result = await Promise.race([work, late]);
    await sql`
      update job_state set last_ended_at = ${new Date(options.now())}, last_error = null,
        last_result = ${result.slice(0, 500)} where name = ${job.name}`;
  } catch (error) {
    options.onError(job.name, error);
    const text = error instanceof Error ? error.message : String(error);
    await sql`
      update job_state set failures = failures + 1, last_ended_at = ${new Date(options.now())},
        last_error = ${text.slice(0, 500)} where name = ${job.name}`;
  } finally {
    clearTimeout(alarm);
  }
}
