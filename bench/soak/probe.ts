// What somebody else notices while the soak runs: one request every 20 ms, from a thread of its own, so that the
// harness's own stalls are not counted. A latency counts from when its request was due.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../statistics.js';
import { createTarget, send, type Target } from './traffic.js';

const everyMs = 20;

/** Milliseconds since the epoch, with fractions: equal in both threads. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Probed {
  readonly samples: readonly { readonly dueMs: number; readonly tookMs: number }[];
  readonly answered: number;
  readonly failures: ReadonlyMap<string, number>;
}

export interface Probe {
  /** Ends the thread; resolves with what it saw. */
  stop(): Promise<Probed>;
}

/** Asks the ports in turn until it is stopped. */
export function startProbe(ports: readonly number[]): Probe {
  const worker = new Worker(new URL(import.meta.url), { workerData: { ports } });
  const told = new Promise<Probed>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  told.catch(() => undefined); // whoever stops it hears
  return {
    stop() {
      worker.postMessage('stop');
      return told;
    },
  };
}

/** p99 in milliseconds of the requests that were due within one of the intervals, and of all others. */
export function p99Within({ samples }: Probed, intervals: readonly Interval[]): { within: number; beside: number } {
  const isWithin = (ms: number): boolean => intervals.some(({ fromMs, toMs }) => fromMs <= ms && ms <= toMs);
  const p99 = (wanted: boolean): number =>
    quantile(
      samples.filter(({ dueMs }) => isWithin(dueMs) === wanted).map(({ tookMs }) => tookMs),
      0.99,
    );
  return { within: p99(true), beside: p99(false) };
}

/** Numbers that the load does not come to, and of them none that stands for an attack. */
const ordinary = (n: number): number => 1e9 + (n % 10 === 9 ? n - 1 : n);

async function run(targets: readonly Target[]): Promise<Probed> {
  const ending = new AbortController();
  parentPort?.once('message', () => ending.abort());
  const samples: { dueMs: number; tookMs: number }[] = [];
  const running = new Set<Promise<void>>();
  const startedMs = nowMs();
  for (let n = 0; !ending.signal.aborted; n++) {
    const dueMs = startedMs + n * everyMs;
    await pause(Math.max(0, dueMs - nowMs()));
    const call: Promise<void> = send(targets[n % targets.length] as Target, ordinary(n)).then(() => {
      samples.push({ dueMs, tookMs: nowMs() - dueMs });
      running.delete(call);
    });
    running.add(call);
  }
  await Promise.all(running);
  const answered = targets.reduce((sum, { tally }) => sum + tally.answered, 0);
  const failures = new Map(targets.flatMap(({ tally }) => [...tally.failures]));
  return { samples, answered, failures };
}

if (!isMainThread && parentPort !== null) {
  const { ports } = workerData as { readonly ports: readonly number[] };
  const targets = ports.map((port) => createTarget(port, 64));
  parentPort.postMessage(await run(targets));
  for (const { agent } of targets) agent.destroy();
}
