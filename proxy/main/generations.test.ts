// What a node keeps of its generations on disk, and what it does not.
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { configOf } from '../e2e/harness.js';
import type { GenerationPayload } from '../worker/messages.js';
import { Generations } from './generations.js';
import type { Supervisor } from './supervisor.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Workers that take everything. */
const supervisor = {
  prepare: () => Promise.resolve({ kind: 'prepared' }),
  commit: () => Promise.resolve(1),
} as unknown as Supervisor;

function start(t: Test): {
  readonly dataDir: string;
  readonly generations: Generations;
  readonly problems: string[];
  give(text: string): Promise<unknown>;
} {
  const dataDir = t.testdir({});
  const problems: string[] = [];
  const config = configOf({});
  const first: GenerationPayload = { id: 1, sha256: '', artifact: null, config, selfTest: 'skip' };
  const generations = new Generations(dataDir, first, (message) => problems.push(message));
  const give = (text: string): Promise<unknown> =>
    generations.activate(supervisor, {
      id: 0,
      sha256: sha256(text),
      artifactPath: '',
      artifactBase64: Buffer.from(text).toString('base64'),
      config,
    });
  return { dataDir, generations, problems, give };
}

t.test('old artifacts go, what serves stays, however old', async (t) => {
  const { dataDir, give } = start(t);
  const directory = join(dataDir, 'artifacts');
  const serving = sha256('serving');
  await give('serving');
  for (let n = 0; n < 30; n += 1) await writeFile(join(directory, sha256(String(n))), String(n));
  await writeFile(join(directory, 'dead.4711.tmp'), 'half');
  await writeFile(join(directory, 'alive.4712.tmp'), 'half');
  for (const name of [serving, 'dead.4711.tmp']) await utimes(join(directory, name), 1, 1);
  t.match(await give('serving'), { outcome: 'active', isPersisted: true });
  const names = await readdir(directory);
  t.equal(names.length, 22, 'the newest twenty, the one that serves, and what may still be being written');
  t.ok(names.includes(serving));
  t.ok(names.includes('alive.4712.tmp'));
  await give('next');
  t.ok((await readdir(directory)).includes(serving), 'the one before may have to come back');
  await give('next but one');
  t.notOk((await readdir(directory)).includes(serving), 'it goes when it serves no more');
});

t.test('a disk that takes nothing is told, and keeps no half files', async (t) => {
  const { dataDir, give, problems } = start(t);
  await mkdir(join(dataDir, 'current.json'));
  t.match(await give('a'), { outcome: 'active', isPersisted: false });
  t.match(problems, [/generation 2 serves, but cannot be kept in .*after a restart the one before it would serve/]);
  t.same(
    (await readdir(dataDir)).filter((name) => name.endsWith('.tmp')),
    [],
  );
  await rm(join(dataDir, 'current.json'), { recursive: true });
  t.match(await give('b'), { outcome: 'active', isPersisted: true });
  t.match(JSON.parse(await readFile(join(dataDir, 'current.json'), 'utf8')), { id: 3, sha256: sha256('b') });
});

t.test('rules come compressed, and a node that is asked whether it has them refuses no change', async (t) => {
  const { generations } = start(t);
  const config = configOf({});
  const text = 'rules '.repeat(1000);
  const send = (more: object) =>
    generations.activate(supervisor, { id: 0, sha256: sha256(text), artifactPath: '', config, ...more });
  t.match(await send({}), { outcome: 'refused', reason: /ENOENT/ });
  t.equal(generations.lastOutcome, 'none', 'it was a question');
  const packed = gzipSync(text).toString('base64');
  for (const [what, artifactGzipBase64, reason] of [
    ['other rules', gzipSync('other').toString('base64'), /SHA-256/],
    ['what is not compressed', Buffer.from(text).toString('base64'), /header/],
    ['what was cut', packed.slice(0, packed.length / 2), /end/],
  ] as const) {
    t.match(await send({ artifactGzipBase64 }), { outcome: 'refused', reason }, what);
    t.equal(generations.lastOutcome, 'refused');
  }
  t.match(await send({ artifactGzipBase64: packed }), { outcome: 'active', id: 2, sha256: sha256(text) });
  t.equal(generations.lastOutcome, 'active');
  t.match(await send({}), { outcome: 'active', id: 3 }, 'asked again it has them');
});
