// Somebody who does no harm while others do: a request every 25 ms on few connections of an own address, from a process
// of its own, so that what the harness does beside is not counted. A latency counts from when its request was due.
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../statistics.js';
import { given, isPart, startPart, tellAndEnd, untilFinish } from './part.js';
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
export function startWellBehaved(client: Given): { stop(): Promise<Served> } {
  const part = startPart<Served>(import.meta.url, client);
  return {
    stop() {
      part.finish();
      return part.told;
    },
  };
}

export async function during(client: Given, ms: number): Promise<Served> {
  const running = startWellBehaved(client);
  await pause(ms);
  return running.stop();
}

async function run({ port, from }: Given): Promise<Served> {
  const ending = untilFinish();
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
  for (let dueMs = performance.now(); !ending.aborted; dueMs += everyMs) {
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

if (isPart(import.meta.url)) tellAndEnd(await run(given<Given>()));
