// Somebody who does no harm while others do: a request every 25 ms on few connections of an own address, from a thread
// of its own, so that what the harness does beside is not counted. A latency counts from when its request was due.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../statistics.js';
import { RawClient, requestOf } from './raw-client.js';

const everyMs = 25;
const clientsAtOnce = 8;
/** What the machine does to a single request is no news of the system. */
const leastSamples = 50;

export interface Served {
  readonly asked: number;
  /** Answers other than 200, and connections that ended without any. */
  readonly refused: number;
  /** Of those, by status; 0 = no answer. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly p99Ms: number;
}

interface Given {
  readonly port: number;
  readonly from: string;
}

/** Begins at once; the result tells of the time until `stop`. */
export function startWellBehaved(given: Given): { stop(): Promise<Served> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: given });
  const told = new Promise<Served>((resolve, reject) => {
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

export async function during(given: Given, ms: number): Promise<Served> {
  const client = startWellBehaved(given);
  await pause(ms);
  return client.stop();
}

async function run({ port, from }: Given): Promise<Served> {
  const ending = new AbortController();
  parentPort?.once('message', () => ending.abort());
  const idle = Array.from(
    { length: clientsAtOnce },
    () => new RawClient({ port, from, request: requestOf('/shop/items') }),
  );
  const all = [...idle];
  const latencies: number[] = [];
  const running = new Set<Promise<void>>();
  let refused = 0;
  const refusals: Record<string, number> = {};
  // What was missed while nothing went on is not made up for: that would be a burst, which limits refuse with reason.
  for (let dueMs = performance.now(); !ending.signal.aborted; dueMs += everyMs) {
    dueMs = Math.max(dueMs, performance.now() - everyMs);
    await pause(Math.max(0, dueMs - performance.now()));
    while (idle.length === 0) await Promise.race(running); // a wait that counts: it was due
    const client = idle.shift() as RawClient;
    const wasDueMs = dueMs;
    const call: Promise<void> = client.ask().then(({ status, atMs }) => {
      if (status !== 200) {
        refused += 1;
        refusals[status] = (refusals[status] ?? 0) + 1;
      }
      latencies.push(atMs - wasDueMs);
      idle.push(client);
      running.delete(call);
    });
    running.add(call);
  }
  await Promise.all(running);
  for (const client of all) client.close();
  const p99Ms = latencies.length < leastSamples ? Number.NaN : quantile(latencies, 0.99);
  return { asked: latencies.length, refused, refusals, p99Ms };
}

if (!isMainThread && parentPort !== null) parentPort.postMessage(await run(workerData as Given));
