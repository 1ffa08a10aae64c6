// Scans of directories and archives as hostile as they come: what is read, what is told, and that it ends.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { tarOf, zipOf } from '../../testing/archives.js';
import type { Scanner } from '../contract.js';
import { secretsScanner } from '../secrets/scanner.js';
import { archiveSource } from '../sources/archive.js';
import { openSource } from '../sources/open.js';
import { sourceLimits, type Source } from '../sources/source.js';
import { madeChecked } from '../testing/made-secrets.js';
import { scan, scanLimits } from './scan.js';

const token = `t = '${madeChecked('ghp_', 1)}'\n`;

function directory(t: Test, files: Readonly<Record<string, string | Buffer>>): string {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-scan-test-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const scanned = async (path: string, limits = scanLimits, scanners: readonly Scanner[] = [secretsScanner]) => {
  const result = await scan(await openSource(path), scanners, () => undefined, new AbortController().signal, limits);
  const [one] = result.results;
  if (one === undefined) throw new Error('no result');
  return { ...one, files: result.files, paths: one.findings.map(({ path: at }) => at) };
};

t.test('a directory: every file once, links not followed, what is left out is told', async (t) => {
  const root = directory(t, {
    'a.ts': token,
    'b/c.env': token,
    'node_modules/x/index.js': token,
    '.git/config': token,
    'logo.png': Buffer.from([1, 2]),
  });
  symlinkSync('/etc', join(root, 'etc'));
  symlinkSync('.', join(root, 'loop'));
  const result = await scanned(root);
  t.same(result.paths, ['a.ts', 'b/c.env']);
  t.equal(result.complete, true, 'what is left out on purpose is no fault');
  t.match(result.notScannedByReason, {
    'symbolic links': 2,
    'directories named node_modules': 1,
    'directories named .git': 1,
  });
});

t.test('what cannot be read makes the scan incomplete', async (t) => {
  const root = directory(t, {
    'a.ts': token,
    'large.txt': 'x'.repeat(6 * 1024 * 1024),
    'large.bin': Buffer.alloc(6e6),
  });
  const large = await scanned(root);
  t.match(large, { paths: ['a.ts'], complete: false, notScannedByReason: { 'binary files': 1 } });
  t.same(large.faultReasons, ['files larger than 5242880 bytes']);
  if (process.getuid?.() === 0) return;
  chmodSync(join(root, 'a.ts'), 0);
  t.match(await scanned(root), { paths: [], complete: false });
});

t.test('archives are read without being unpacked, whatever they hold', async (t) => {
  const entries = [
    { name: 'a.ts', data: token },
    { name: './b/c.env', data: token },
    { name: 'link', type: 'symlink' as const },
    { name: 'b/', type: 'directory' as const },
  ];
  const tar = await tarOf(entries);
  const root = directory(t, { 'x.tar': tar, 'x.tgz': gzipSync(tar), 'x.zip': zipOf(entries.slice(0, 2)) });
  for (const name of ['x.tar', 'x.tgz', 'x.zip'])
    t.match(await scanned(join(root, name)), { paths: ['a.ts', 'b/c.env'], complete: true, files: 2 }, name);
});

t.test('names that lead elsewhere, encrypted entries and lies about sizes are told', async (t) => {
  const root = directory(t, {
    'up.tar': await tarOf([
      { name: '../../etc/passwd', data: token },
      { name: 'a.ts', data: token },
    ]),
    'up.zip': zipOf([
      { name: '../x', data: token },
      { name: 'a.ts', data: token },
    ]),
    'locked.zip': zipOf([
      { name: 'b.ts', data: token, isEncrypted: true },
      { name: 'a.ts', data: token },
    ]),
    'lie.zip': zipOf([
      { name: 'b.ts', data: token.repeat(100), claims: 3 },
      { name: 'a.ts', data: token },
    ]),
  });
  await t.rejects(scanned(join(root, 'up.zip')), /invalid relative path/);
  for (const name of ['up.tar', 'locked.zip', 'lie.zip'])
    t.match(await scanned(join(root, name)), { paths: ['a.ts'], complete: false }, name);
});

t.test('damaged and dense archives are refused with a reason', async (t) => {
  const tar = await tarOf([
    { name: 'a.ts', data: token },
    { name: 'b', data: 'x'.repeat(20_000) },
  ]);
  const packed = gzipSync(tar);
  const root = directory(t, {
    'cut.tgz': packed.subarray(0, packed.length - 30),
    'cut.tar': tar.subarray(0, tar.length - 12_000),
    'cut.zip': zipOf([{ name: 'a.ts', data: token }]).subarray(0, -10),
    'many.tar': await tarOf(Array.from({ length: 50 }, (_, index) => ({ name: `f${index}`, data: 'x' }))),
    'dense.tgz': gzipSync(Buffer.alloc(80 * 1024 * 1024)),
  });
  for (const name of ['cut.tgz', 'cut.tar', 'cut.zip'])
    await t.rejects(scanned(join(root, name)), /cannot be read to its end/, name);
  const few = archiveSource(join(root, 'many.tar'), 'tar', { ...sourceLimits, entriesMax: 10 });
  await t.rejects(
    scan(few, [secretsScanner], () => undefined, new AbortController().signal),
    /more than 10 entries/,
  );
  const dense = archiveSource(join(root, 'dense.tgz'), 'tar.gz');
  await t.rejects(
    scan(dense, [secretsScanner], () => undefined, new AbortController().signal),
    /times as large|read to its end/,
  );
});

t.test('a file that takes too long is counted, and the next ones are read', async (t) => {
  const root = directory(t, { 'a.ts': token, 'b.ts': token, 'c.ts': token });
  const result = await scanned(root, { ...scanLimits, fileMsMax: 0 });
  t.equal(result.complete, false);
  t.equal(result.paths.length + (Object.values(result.notScannedByReason)[0] ?? 0), 3, 'each is found or told');
});

t.test('a stop ends it, and nothing is complete then', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`f${index}.ts`, token]));
  const stop = new AbortController();
  const source = await openSource(directory(t, files));
  const result = await scan(source, [secretsScanner], () => stop.abort(), stop.signal);
  t.match(result, { stopped: 'it was stopped', results: [{ complete: false }] });
  t.ok(result.files < 400, 'and not at the end');
});

t.test('what is asked when it is stopped is not asked again', async (t) => {
  // a batch has 100 files; the process starts with the first of them
  for (const [batches, found] of [
    [1, 0],
    [2, 100],
  ] as const) {
    const stop = new AbortController();
    const last = batches * 100;
    let read = 0;
    const source: Source = {
      ...{ total: null, isOneFile: false },
      async *items() {
        for (let n = 0; n < last + 50; n++)
          yield {
            ...{ path: `f${String(n).padStart(3, '0')}.ts`, bytes: token.length },
            async read() {
              // once the batch of this file is on its way
              if (++read === last) setImmediate(() => stop.abort());
              return Buffer.from(token);
            },
          };
      },
    };
    const began = performance.now();
    const result = await scan(source, [secretsScanner], () => undefined, stop.signal);
    const [one] = result.results;
    t.equal(result.stopped, 'it was stopped');
    t.equal(one?.findings.length, found, `${batches}: nothing is found after the stop`);
    t.equal(one?.notScannedByReason['it was stopped'], 101, 'each file of the batch, and the rest');
    t.equal(read, last, 'nothing is read after the stop');
    t.ok(performance.now() - began < 30_000);
  }
});
