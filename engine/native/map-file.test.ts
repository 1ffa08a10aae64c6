import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { mapFile, nativeAddon } from './addon.js';

const skip = process.platform === 'linux' ? false : 'mapped files are for Linux';

t.test('what is stored is in the file, also after the process was killed', { skip }, async (t) => {
  const path = join(t.testdir({}), 'kept');
  const memory = mapFile(path, 100);
  if (memory === null) throw new Error('nothing was mapped');
  t.equal(memory.byteLength, 100);
  t.equal(statSync(path).mode & 0o777, 0o600, 'nobody else may read it');
  new Uint8Array(memory).set([7, 8, 9], 97);
  t.same([...readFileSync(path).subarray(96)], [0, 7, 8, 9]);
  const other = join(t.testdir({}), 'killed');
  const program = `
    const { mapFile } = await import(${JSON.stringify(new URL('./addon.js', import.meta.url).href)});
    const bytes = Buffer.from(mapFile(${JSON.stringify(other)}, 10));
    bytes.write('survived', 'latin1');
    process.kill(process.pid, 'SIGKILL');`;
  const arguments_ = ['--input-type=module', '-e', program];
  await new Promise((resolve) => spawn(process.execPath, arguments_, { stdio: 'inherit' }).once('exit', resolve));
  t.equal(readFileSync(other, 'latin1'), 'survived\0\0');
});

t.test('what cannot be mapped is null, and leaves nothing behind', { skip }, (t) => {
  const folder = t.testdir({ taken: 'mine' });
  t.equal(mapFile(join(folder, 'taken'), 10), null);
  t.equal(readFileSync(join(folder, 'taken'), 'utf8'), 'mine', 'nobody loses a file');
  t.equal(mapFile(join(folder, 'no', 'such', 'folder'), 10), null);
  t.notOk(existsSync(join(folder, 'no')));
  t.end();
});

t.test('wrong arguments throw', (t) => {
  const { mapFile: native } = nativeAddon() as unknown as { mapFile: (...values: unknown[]) => ArrayBuffer };
  const path = join(t.testdir({}), 'never');
  for (const wrong of [[], [path], [path, 0], [path, -1], [path, 1.5], [path, 2 ** 25], [path, '9'], [7, 9]])
    t.throws(() => native(...wrong), TypeError, JSON.stringify(wrong));
  t.end();
});
