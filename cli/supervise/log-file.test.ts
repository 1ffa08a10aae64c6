// What `gatehouse up` keeps of its parts' output while the disk is full, and what a command says of a disk that
// refuses.
import { lstat, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';

interface Log {
  write(chunk: Buffer): void;
  close(): void;
}
type LogFileType = new (
  path: string,
  say: (text: string) => void,
  limits?: { bytesMax?: number; retryAfterMs?: number },
) => Log;

const bin = new URL('../../../bin/', import.meta.url);
const { LogFile } = (await import(new URL('log-file.mjs', bin).href)) as { LogFile: LogFileType };
const { diskRefusal } = (await import(new URL('environment.mjs', bin).href)) as {
  diskRefusal: (error: unknown) => string | null;
};

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

t.test('what a disk refuses is told with how to mend it; bugs keep their stack', async (t) => {
  const refused = (code: string): unknown =>
    Object.assign(new Error(`${code}: it may not be, open '/srv/x'`), { code, syscall: 'open' });
  for (const [code, mend] of [
    ['ENOSPC', /free some space/],
    ['EROFS', /read-only/],
    ['EACCES', /chown/],
  ] as const) {
    const message = diskRefusal(refused(code)) ?? '';
    t.match(message, mend);
    t.match(message, /\/srv\/x/, 'and where');
  }
  t.equal(diskRefusal(refused('EBADF')), null);
  t.equal(diskRefusal(new TypeError('x is not a function')), null);
});
