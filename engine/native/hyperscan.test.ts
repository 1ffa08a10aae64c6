import { Worker } from 'node:worker_threads';
import t from 'tap';
import { nativeAddon } from './addon.js';
import { hyperscanLibrary } from './hyperscan.js';
import { DatabaseRefused } from './matcher.js';
import { idsIn, runMatcherContract, spec } from './matcher.contract.js';

runMatcherContract(t, { create: hyperscanLibrary, skip: [] });

t.test('every changed byte of the payload or its length is noticed', (t) => {
  const library = hyperscanLibrary();
  const good = Buffer.from(library.compile([spec(0, 'needle'), spec(1, 'a.{1,30}b')]));
  let refused = 0;
  for (let at = 0; at < good.length; at++) {
    const damaged = Buffer.from(good);
    damaged[at] = damaged[at]! ^ (1 << (at % 8));
    try {
      library.load(damaged, 'flip');
    } catch (error) {
      if (!(error instanceof DatabaseRefused)) throw error;
      refused++;
    }
  }
  t.equal(refused, good.length, `${refused} of ${good.length} refused`);
  t.end();
});

t.test('one copy per process, whoever loads it; freed with the last handle', (t) => {
  const library = hyperscanLibrary();
  const addon = nativeAddon();
  const before = addon.databaseCount();
  const bytes = library.compile([spec(0, 'shared')]);
  const one = library.load(bytes, 'same key');
  const two = library.load(bytes, 'same key');
  t.equal(addon.databaseCount(), before + 1);
  const other = library.load(library.compile([spec(0, 'different')]), 'same key');
  t.equal(addon.databaseCount(), before + 2, 'other bytes under the same key are another database');
  t.strictSame(idsIn(library.createScanner([other]), 'different'), [0]);
  const scanner = library.createScanner([one]);
  one.release();
  two.release();
  t.strictSame(idsIn(scanner, 'is shared'), [0], 'a scanner keeps its databases');
  t.equal(addon.databaseCount(), before + 2);
  scanner.release();
  t.equal(addon.databaseCount(), before + 1);
  t.ok(other.bytes > 0);
  t.end();
});

const workerSource = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ hyperscanLibrary }) => {
    const library = hyperscanLibrary();
    const scanner = library.createScanner([library.load(workerData.bytes, 'threads')]);
    const data = Buffer.from('xx needle xx');
    const hits = new Int32Array(8);
    let found = 0;
    for (let round = 0; round < 2000; round++) found += scanner.scan(data, Int32Array.of(0, 0, data.length), 1, hits);
    parentPort.postMessage(found);
  });
`;

t.test('worker threads share a database, end in any way, and leave nothing behind', async (t) => {
  const library = hyperscanLibrary();
  const bytes = library.compile([spec(0, 'needle')]);
  const module = new URL('./hyperscan.js', import.meta.url).href;
  const run = (endEarly: boolean): Promise<number> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(workerSource, { eval: true, workerData: { bytes, module } });
      worker.once('message', (found: number) => {
        if (endEarly) void worker.terminate();
        worker.once('exit', () => resolve(found));
      });
      worker.once('error', reject);
    });
  for (let round = 0; round < 3; round++) {
    t.strictSame(await Promise.all([run(false), run(true)]), [2000, 2000]);
  }
  const own = library.load(bytes, 'threads');
  t.strictSame(idsIn(library.createScanner([own]), 'needle'), [0], 'the main thread loads it anew');
});

t.test('the addon checks every argument of every function', (t) => {
  const addon = nativeAddon() as unknown as Record<string, (...values: unknown[]) => unknown>;
  const odd = [
    undefined,
    null,
    0,
    -1,
    NaN,
    '',
    'x',
    {},
    [],
    new Uint8Array(4),
    new Int32Array(4),
    new Uint32Array(1),
    Symbol('s'),
    () => 1,
    new DataView(new ArrayBuffer(8)),
    Object.create(null),
  ];
  let calls = 0;
  for (const name of [
    'compile',
    'load',
    'databaseBytes',
    'releaseDatabase',
    'createScanner',
    'releaseScanner',
    'scan',
    'checksum',
    'sqli',
    'xss',
  ]) {
    for (const one of odd) {
      for (const two of odd) {
        calls++;
        try {
          addon[name]!(one, two, one, 1, two);
        } catch (error) {
          if (!(error instanceof Error)) t.fail(`${name} threw something else`);
        }
      }
    }
  }
  t.equal(calls, 10 * odd.length ** 2, `${calls} calls survived`);
  t.end();
});
