import { createHash } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { makeDirectory } from '../testing/temporary.js';
import { artifactPath, findArtifact, pruneArtifacts, storeArtifact } from './artifacts.js';

t.test('artifacts on disk', async (t) => {
  const directory = await makeDirectory(t, 'artifacts');
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const put = async (text: string): Promise<string> => {
    await storeArtifact(directory, hash(text), Buffer.from(text));
    return hash(text);
  };
  const one = await put('one');
  t.equal(findArtifact(directory, one)?.toString(), 'one');
  await put('one');
  t.same(await readdir(directory), [one], 'once, without leftovers');
  t.equal(findArtifact(directory, hash('two')), null);
  await writeFile(artifactPath(directory, one), 'damaged');
  t.equal(findArtifact(directory, one), null, 'a damaged one is none');
  await put('one');
  t.equal(findArtifact(directory, one)?.toString(), 'one', 'and is written anew');
  for (const name of ['../x', 'ABC', '', `${one}/..`]) t.throws(() => artifactPath(directory, name), /not the hash/);

  const nowMs = Date.parse('2026-06-01T00:00:00Z');
  const all = await Promise.all(Array.from({ length: 5 }, (_, n) => put(`n${n}`)));
  for (const [age, sha256] of [...all, one].entries())
    await utimes(artifactPath(directory, sha256), new Date(nowMs), new Date(nowMs - age * 1000));
  for (const [name, age] of [
    ['.a.part', 7_200_000],
    ['.b.part', 1000],
  ] as const) {
    await writeFile(join(directory, name), '');
    await utimes(join(directory, name), new Date(nowMs), new Date(nowMs - age));
  }
  await writeFile(join(directory, 'key-x.json'), '{}');
  pruneArtifacts(directory, 2, new Set([one]), nowMs);
  t.same(
    (await readdir(directory)).sort(),
    [all[0], all[1], one, '.b.part', 'key-x.json'].sort(),
    'the newest, the needed, other files and young leftovers stay',
  );
});
