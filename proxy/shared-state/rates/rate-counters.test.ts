// Limits are exact: held to a slow twin in whole numbers of any size, and to a plain sum over two threads.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import { createKeyTable, KeyTable, keyTableBytes } from '../key-table.js';
import { compileRate, rateColumns, rateEntries, take } from './rate-counters.js';
import type { Hammering } from '../testing/hammer-counters.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_122) });
t.setTimeout(Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000);

const tableOf = (entries: number): KeyTable => new KeyTable(createKeyTable(entries, rateColumns), rateColumns);

t.test('1: a limit gives its events at once, then one each window / events', async (t) => {
  const table = tableOf(64);
  const rate = compileRate('default', 5, 60);
  const at = (ms: number): number => take(table, rate, 1, 2, 1e9 + ms);
  t.strictSame([at(0), at(0), at(0), at(0), at(0)], [0, 0, 0, 0, 0]);
  t.equal(Math.round(at(0)), 12_000, 'the sixth has to wait for a fifth of the window');
  t.equal(Math.round(at(11_000)), 1000, 'who asks before is told how long it still takes, and pays nothing for it');
  t.equal(at(12_000), 0);
  t.not(at(12_000), 0);
  t.strictSame(
    [0, 1, 2, 3, 4, 5].map((step) => at(500_000 + step) === 0),
    [true, true, true, true, true, false],
  );
});

t.test('1: thirds of a second and other fractions lose nobody', async (t) => {
  for (const [events, seconds] of [
    [3, 1],
    [7, 1],
    [600, 60],
    [7, 86_400],
    [10_000_000, 1],
    [9_999_991, 60],
  ] as const) {
    const table = tableOf(64);
    const rate = compileRate('x', events, seconds);
    const many = Math.min(events, 100_000);
    let given = 0;
    for (let index = 0; index < many; index += 1) if (take(table, rate, 9, 9, 4e11) === 0) given += 1;
    t.equal(given, many, `${events} in ${seconds} s`);
    if (many === events) {
      t.not(take(table, rate, 9, 9, 4e11), 0);
      for (let event = 1; event <= 3; event += 1)
        t.equal(take(table, rate, 9, 9, 4e11 + Math.ceil((event * seconds * 1000) / events)), 0, `place ${event}`);
    }
  }
});

/** The definition, in rational numbers: `places` taken, each free again after `window / events`. Time in µs. */
class SlowLimit {
  /** When all places are free, in µs × events. */
  private freeAt = 0n;
  constructor(
    private readonly events: bigint,
    private readonly windowUs: bigint,
  ) {}
  /** How much too early it comes, in µs × events; 0 or less: it is taken. */
  excess(nowUs: bigint): bigint {
    const now = nowUs * this.events;
    const free = this.freeAt > now ? this.freeAt : now;
    return free + this.windowUs - now - this.windowUs * this.events;
  }
  take(nowUs: bigint): void {
    const now = nowUs * this.events;
    this.freeAt = (this.freeAt > now ? this.freeAt : now) + this.windowUs;
  }
}

t.test('1: property: the slow twin decides the same', async (t) => {
  const request = fc.record({ key: fc.nat(5), waitUs: fc.oneof(fc.nat(10), fc.nat(2_000_000), fc.nat(400_000_000)) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(1, 2, 10, 60, 3600),
      fc.array(request, { maxLength: 300 }),
      (events, seconds, requests) => {
        const table = tableOf(64);
        const rate = compileRate('p', events, seconds);
        const slow = Array.from({ length: 6 }, () => new SlowLimit(BigInt(events), BigInt(seconds) * 1_000_000n));
        let nowUs = 5_000_000;
        for (const { key, waitUs } of requests) {
          nowUs += waitUs;
          const limit = slow[key] as SlowLimit;
          const excess = limit.excess(BigInt(nowUs));
          const isTaken = take(table, rate, key, key, nowUs / 1000) === 0;
          // the clock counts in microseconds: at a distance of less, either answer is the limit's
          const isClose = excess > -2n * BigInt(events) && excess < 2n * BigInt(events);
          if (!isClose && isTaken !== excess <= 0n) return false;
          if (isTaken) limit.take(BigInt(nowUs));
        }
        return true;
      },
    ),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('1: two threads, 4 zones, 200,000 keys: exactly what each limit allows', async (t) => {
  const zones = 4;
  const keys = 200_000;
  const events = 3;
  const buffer = createKeyTable(rateEntries, rateColumns);
  const gate = new SharedArrayBuffer(8);
  const url = new URL('../testing/hammer-counters.js', import.meta.url);
  const threads = [0, 1].map((index) => {
    const workerData: Hammering = { table: buffer, zones, keys, rounds: 3, events, offset: index * 77, gate };
    return new Worker(url, { workerData });
  });
  // A thread that cannot start is a failure at once, not a wait without end.
  let broken: unknown = null;
  for (const thread of threads) thread.on('error', (error) => (broken = error));
  const results = threads.map(async (thread) => ((await once(thread, 'message')) as [Uint8Array])[0]);
  const state = new Int32Array(gate);
  while (Atomics.load(state, 0) < 2) {
    if (broken !== null) throw broken;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  Atomics.store(state, 1, 1);
  Atomics.notify(state, 1);
  const [first = new Uint8Array(), second = new Uint8Array()] = await Promise.all(results);
  let wrong = 0;
  let shared = 0;
  for (let at = 0; at < zones * keys; at += 1) {
    if ((first[at] as number) + (second[at] as number) !== events) wrong += 1;
    if ((first[at] as number) > 0 && (second[at] as number) > 0) shared += 1;
  }
  const table = new KeyTable(buffer, rateColumns);
  t.comment(`${shared} of ${zones * keys} keys were given by both threads; ${table.evictions} gave way`);
  t.equal(wrong, 0);
  t.equal(table.evictions, 0);
  t.equal(table.countLive(1001), zones * keys);
  await Promise.all(threads.map((thread) => thread.terminate()));
});

t.test('1: memory is what it says, and a flood of keys makes the lightest give way', async (t) => {
  t.equal(keyTableBytes(rateEntries, rateColumns), 42_214_288);
  const table = tableOf(64);
  const rate = compileRate('flood', 10, 60);
  for (let event = 0; event < 10; event += 1) take(table, rate, 1, 1, 5000);
  for (let key = 2; key < 5000; key += 1) take(table, rate, key, key, 5000);
  t.equal(table.countLive(5), table.entries);
  t.ok(table.evictions > 4000);
  t.not(take(table, rate, 1, 1, 5000), 0, 'who has used up everything is not the one who is forgotten');
  t.equal(table.countLive(5 + 70), 0, 'after the window nothing is kept');
  t.throws(() => createKeyTable(0.5, 1), /has entries/);
  t.throws(() => new KeyTable(new SharedArrayBuffer(1000), 1), /no table of keys/);
});

t.test('1: a lock whose holder died does not stop the others for ever', async (t) => {
  const table = tableOf(64);
  table.enter(7);
  const rate = compileRate('stuck', 1, 60);
  for (let key = 0; key < 50; key += 1) t.equal(take(table, rate, key, 0, 1000), 0);
});
