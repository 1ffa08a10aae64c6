// A thread that takes places of many keys as fast as it can; rate-counters.test.ts adds up what it was given.
import { parentPort, workerData } from 'node:worker_threads';
import { KeyTable } from '../key-table.js';
import { compileRate, rateColumns, take } from '../rates/rate-counters.js';

export interface Hammering {
  readonly table: SharedArrayBuffer;
  readonly zones: number;
  readonly keys: number;
  readonly rounds: number;
  readonly events: number;
  /** Of this thread: where it begins, so that threads meet on keys and do not follow each other. */
  readonly offset: number;
  readonly gate: SharedArrayBuffer;
}

const { table: buffer, zones, keys, rounds, events, offset, gate } = workerData as Hammering;
const table = new KeyTable(buffer, rateColumns);
const rates = Array.from({ length: zones }, (_, zone) => compileRate(`zone-${zone}`, events, 86_400));
const given = new Uint8Array(new SharedArrayBuffer(zones * keys));
const state = new Int32Array(gate);
Atomics.add(state, 0, 1);
Atomics.notify(state, 0);
Atomics.wait(state, 1, 0); // until all threads are there
const nowMs = 1_000_000;
for (let round = 0; round < rounds; round += 1)
  for (let step = 0; step < keys; step += 1) {
    const key = (step + offset) % keys;
    for (const [zone, rate] of rates.entries())
      if (take(table, rate, key, key ^ 0x5bd1e995, nowMs) === 0) {
        const at = zone * keys + key;
        given[at] = (given[at] as number) + 1;
      }
  }
parentPort?.postMessage(given);
