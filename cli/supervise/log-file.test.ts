// What `gatehouse up` keeps of its parts' output while the disk is full.
import { lstat, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { LogFile } from './log-file.js';

t.test('a full disk loses lines, says so once, and is written again when it can', async (t) => {
  const path = join(t.testdir({}), 'log', 'part.log');
  const said: string[] = [];
  const log = new LogFile(path, (text) => said.push(text), { retryAfterMs: 0 });
  log.write(Buffer.from('one\n'));
  log.close();
  await rm(path);
  await symlink('/dev/full', path);
  log.write(Buffer.from('lost\n'));
  log.write(Buffer.from('lost, too\n'));
  t.match(log.lastWords, /^one\nlost\nlost, too$/, 'whoever asks why it ended is told');
  await rm(path);
  log.write(Buffer.from('two\n'));
  log.write(Buffer.from('three\n'));
  log.close();
  t.equal(await readFile(path, 'utf8'), 'two\nthree\n');
  t.match(said, [/part\.log cannot be written \(ENOSPC\); what goes there is lost/, /part\.log can be written again/]);
  t.equal(said.length, 2);
});

t.test('while it waits for the disk it does not ask it', async (t) => {
  const path = join(t.testdir({ 'part.log': t.fixture('symlink', '/dev/full') }), 'part.log');
  const log = new LogFile(path, () => undefined, { retryAfterMs: 3_600_000 });
  log.write(Buffer.from('lost\n'));
  await rm(path);
  log.write(Buffer.from('lost, too\n'));
  await t.rejects(lstat(path), { code: 'ENOENT' });
});

t.test('a large log is set aside while its part runs', async (t) => {
  const path = join(t.testdir({}), 'part.log');
  await writeFile(path, 'of an earlier start\n');
  const log = new LogFile(path, () => undefined, { bytesMax: 25 });
  for (const line of ['first\n', 'second\n', 'third\n']) log.write(Buffer.from(line));
  log.close();
  t.same(
    [await readFile(`${path}.1`, 'utf8'), await readFile(path, 'utf8')],
    ['of an earlier start\nfirst\n', 'second\nthird\n'],
  );
});
