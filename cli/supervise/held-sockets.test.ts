// Sockets that outlive the process that serves: who connects while it is dead waits, and is answered by the next one.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { devNull } from 'node:os';
import t, { type Test } from 'tap';
import { freePort } from '#api/testing/free-port';
import { readEnvironment } from '../environment/read-environment.js';
import { holdSockets, type HeldSockets } from './held-sockets.js';

const isPossible = process.platform === 'linux';

/** Answers with its name on what it was handed, and says what of it there was. */
const program = `
  const { takeHeldSockets } = await import(process.argv[1]);
  const { createServer } = await import('node:http');
  const store = takeHeldSockets(process.env);
  const names = process.argv[3].split(',').map((name) => [name, store?.take(name) ?? null]);
  const fds = names.flatMap(([, fd]) => (fd === null ? [] : [fd]));
  process.send({ found: fds.length, again: names.filter(([name]) => (store?.take(name) ?? null) !== null).length,
    isNamed: 'GATEHOUSE_HELD_SOCKETS' in process.env });
  for (const fd of fds) createServer((asked, answer) => answer.end(process.argv[2])).listen({ fd });
`;

const module = new URL('./held-sockets.js', import.meta.url).href;

async function startServer(t: Test, held: HeldSockets, name: string, wanted: string) {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program, module, name, wanted], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...held.numbers],
    env: { PATH: process.env['PATH'], ...held.env },
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [found] = (await once(child, 'message')) as [unknown];
  return { child, found };
}

process.env['GATEHOUSE_ENV_FILE'] = devNull;

function valuesOf(variables: Readonly<Record<string, string>>) {
  return readEnvironment({ WAF_BIND: '127.0.0.1', TLS_EDGE: 'off', ...variables });
}

t.test('the next process takes them over', { skip: !isPossible && 'sockets are held on Linux' }, async (t) => {
  const port = await freePort();
  const held = holdSockets(valuesOf({ WAF_PORT: String(port), DATA_WORKERS: '2' }));
  if (held === null) throw new Error('nothing is held');
  const names = [0, 1].map((index) => `plain-${index}_${port}_127.0.0.1`).join(',');
  const first = await startServer(t, held, 'first', names);
  t.same(first.found, { found: 2, again: 0, isNamed: false }, 'both, each once, and no word of them is left');
  const ask = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).text();
  t.equal(await ask(), 'first');
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const waiting = [ask(), ask(), ask(), ask()];
  await new Promise((resolve) => setTimeout(resolve, 300));
  await startServer(t, held, 'second', names);
  t.same(await Promise.all(waiting), ['second', 'second', 'second', 'second'], 'nobody was refused');
  held.close();
  t.same(held.numbers, [], 'closed once');
});

t.test('what cannot be handed over is not held', { skip: !isPossible && 'sockets are held on Linux' }, async (t) => {
  const port = String(await freePort());
  t.equal(holdSockets(valuesOf({ WAF_PORT: port, DATA_LISTENER: 'uws' })), null, 'its library opens its own');
  t.equal(holdSockets(valuesOf({ WAF_PORT: port, WAF_BIND: '203.0.113.1' })), null, 'an address of another machine');
});
