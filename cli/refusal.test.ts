// What is told to a person in words, and what keeps its stack.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { root } from './environment/directories.js';
import {
  diskRefusal,
  networkRefusal,
  pathRefusal,
  Refusal,
  startRefusal,
  tellRefusals,
  unreadable,
  withFiles,
  wrongUsage,
  type SystemError,
} from './refusal.js';

t.test('what a disk refuses is told with how to fix it; bugs keep their stack', async (t) => {
  const refused = (code: string): unknown =>
    Object.assign(new Error(`${code}: it may not be, open '/srv/x'`), { code, syscall: 'open' });
  for (const [code, fix] of [
    ['ENOSPC', /free some space/],
    ['EROFS', /read-only/],
    ['EACCES', /chown/],
    ['EMFILE', /LimitNOFILE/],
    ['ENFILE', /file-max/],
  ] as const) {
    const message = diskRefusal(refused(code))?.message ?? '';
    t.match(message, fix);
    t.match(message, /\/srv\/x/, 'and where');
  }
  t.equal(diskRefusal(refused('EBADF')), null);
  const port = Object.assign(new Error('listen EACCES: 80'), { code: 'EACCES', syscall: 'listen' });
  t.equal(diskRefusal(port), null, 'a port is no directory');
  t.throws(() => withFiles(() => readFileSync(join(root, 'none'))), { exitCode: 1, message: /^ENOENT: / });
  t.throws(() => withFiles(() => JSON.parse('{')), SyntaxError);
  t.equal(
    withFiles(() => 1),
    1,
  );
  t.equal(diskRefusal(new TypeError('x is not a function')), null);
  const denied = refused('EACCES') as SystemError;
  const words = /^KEY: cannot be read [^]*This runs as the user \S+: let that one read it, or pass it in\.$/;
  t.match(unreadable('KEY', denied, 'or pass it in').message, words);
  t.notMatch(unreadable('KEY', refused('EISDIR') as SystemError, '').message, /runs as/);
});

t.test('what keeps a plane from starting is told, bugs are not', async (t) => {
  const coded = (code: string, text = 'it says so'): Error => Object.assign(new Error(text), { code });
  t.equal(startRefusal(new Error('the port is taken'))?.message, 'the port is taken', 'by the plane itself');
  t.equal(startRefusal(coded('28P01'))?.message, 'it says so', 'by the database');
  t.equal(startRefusal(coded('ECONNREFUSED', ''))?.message, 'ECONNREFUSED', 'by the system, without words');
  class OtherError extends Error {}
  for (const bug of [
    new TypeError('x is not a function'),
    new ReferenceError('x is not defined'),
    new RangeError('Invalid array length'),
    new OtherError('whatever'),
    coded('ERR_INVALID_ARG_TYPE'),
    coded('FST_ERR_DUPLICATED_ROUTE'),
    'a string',
  ])
    t.equal(startRefusal(bug), null, String(bug));
});

t.test('nobody answers', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const error = await fetch(`http://127.0.0.1:${port}/`).catch((reason: unknown) => reason);
  t.equal(networkRefusal('the data plane', error)?.message, 'the data plane does not answer (ECONNREFUSED)');
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  t.equal(networkRefusal('it', late)?.message, 'it does not answer in time');
  const wrong = await fetch(`http://127.0.0.1:${port}/`, { headers: { a: 'b\nc' } }).catch((reason: unknown) => reason);
  t.equal(networkRefusal('it', wrong), null, 'a wrong call is a bug');
});

t.test('a refusal is told in one voice and ends with its code; a bug goes on', async (t) => {
  const told: string[] = [];
  const { error } = console;
  console.error = (text: string): void => void told.push(text);
  t.teardown(() => void (console.error = error));
  const code = (thrown: Error): Promise<number> => tellRefusals('gatehouse', () => Promise.reject(thrown));
  t.equal(await code(new Refusal('no')), 1);
  t.equal(await code(wrongUsage('not so')), 2);
  t.equal(await code(Object.assign(new Error('ENOSPC: full, write'), { code: 'ENOSPC', syscall: 'write' })), 1);
  t.same(told.slice(0, 2), ['gatehouse: no', 'gatehouse: not so']);
  t.match(told[2], /^gatehouse: ENOSPC: full, write\n {2}Fix: free some space/);
  await t.rejects(code(new TypeError('a bug')), TypeError);
  t.equal(
    pathRefusal(Object.assign(new Error('ENOENT: x'), { code: 'ENOENT', syscall: 'open' }))?.message,
    'ENOENT: x',
  );
  t.equal(pathRefusal(new SyntaxError('x')), null);
});
