// Sockets that outlive the process that serves: who connects while it is dead waits, and is answered by the next one.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '#api/testing/free-port';
import { readEnvironment } from '../environment/read-environment.js';
import { Child } from './child.js';
import { holdSockets, type HeldSockets } from './held-sockets.js';

const isPossible = process.platform === 'linux';

/** Answers with its name on what it was handed, and says what of it there was. */
const program = `
  const { takeHeldSockets } = await import(process.argv[1]);
  const { createServer } = await import('node:http');
  const store = takeHeldSockets(process.env);
  const names = process.argv[3].split(',').map((name) => [name, store?.take(name) ?? null]);
  const fds = names.flatMap(([, fd]) => (fd === null ? [] : [fd]));
  const unused = store?.unused() ?? [];
  process.send({ found: fds.length, unused,
    again: names.filter(([name]) => (store?.take(name) ?? null) !== null).length,
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
  t.same(
    first.found,
    { found: 2, unused: [], again: 0, isNamed: false },
    'both, each once, and no word of them is left',
  );
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

t.test(
  'nobody is left to sockets that nobody listens on',
  { skip: !isPossible && 'sockets are held on Linux' },
  async (t) => {
    const port = await freePort();
    const held = holdSockets(valuesOf({ WAF_PORT: String(port), DATA_WORKERS: '3' }));
    if (held === null) throw new Error('nothing is held');
    t.teardown(() => held.close());
    // as where the file of the environment says another number of workers by now
    const { found } = await startServer(t, held, 'one', `plain-1_${port}_127.0.0.1`);
    const unused = [0, 2].map((index) => `plain-${index}_${port}_127.0.0.1`);
    t.same(found, { found: 1, unused, again: 0, isNamed: false }, 'it closes what it does not take');
    held.drop(unused);
    t.same([held.numbers.length, held.env], [1, { GATEHOUSE_HELD_SOCKETS: `plain-1_${port}_127.0.0.1` }]);
    const asked = Array.from({ length: 24 }, () =>
      fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(20_000) }),
    );
    for (const answer of await Promise.all(asked)) t.equal(await answer.text(), 'one');
  },
);

/** What becomes of a connection on which nothing is said: `ended` by the system, or the reason why there is none. */
function connectionTo(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(code));
    socket.on('close', () => resolve('ended'));
  });
}

t.test('one that stays away leaves nobody waiting', { skip: !isPossible && 'sockets are held on Linux' }, async (t) => {
  const [port, demoPort] = [await freePort(), await freePort()];
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-held-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  let opened = 0;
  const child = new Child({
    name: 'part',
    args: ['data-plane', '--nonsense'],
    env: { PATH: process.env['PATH'], GATEHOUSE_ENV_FILE: devNull, DEMO_PORT: String(demoPort) },
    logFile: join(directory, 'part.log'),
    heldMsMax: 300,
    holdSockets: () => {
      opened += 1;
      return holdSockets(valuesOf({ WAF_PORT: String(port), DATA_WORKERS: '2' }));
    },
  });
  t.teardown(() => child.stop());
  const { error } = console;
  const said: string[] = [];
  console.error = (text: string) => said.push(text);
  t.teardown(() => (console.error = error));
  const started = child.start().catch((reason: Error) => reason.message);
  const waiting = connectionTo(port);
  t.match(await started, /does not know --nonsense/);
  t.equal(await waiting, 'ECONNRESET', 'who waited is told');
  t.equal(await connectionTo(port), 'ECONNREFUSED', 'and who comes afterwards');
  t.match(said, [/part has been away for 0\.3 s; clients are refused until it serves/]);
  t.match(await child.start().catch((reason: Error) => reason.message), /--nonsense/);
  t.equal(await connectionTo(port), 'ECONNREFUSED', 'nothing is held while it does not serve');
  t.equal(opened, 1);
  child.args = ['demo'];
  await child.start();
  const gone = new Promise((resolve) => (child.onExit = resolve));
  child.signal('SIGKILL');
  await gone;
  await child.start();
  t.equal(opened, 2, 'one that served is held again');
});

t.test('one that hangs at its start is ended', { skip: !isPossible && 'sockets are held on Linux' }, async (t) => {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-held-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const hang = '--import=data:text/javascript,setInterval(()=>{},1000);await(new(Promise)(()=>{}))';
  const child = new Child({
    name: 'part',
    args: ['demo'],
    env: { PATH: process.env['PATH'], GATEHOUSE_ENV_FILE: devNull, NODE_OPTIONS: hang },
    logFile: join(directory, 'part.log'),
    readyMsMax: 1000,
    holdSockets: () => holdSockets(valuesOf({ WAF_PORT: String(port), DATA_WORKERS: '1' })),
  });
  t.teardown(() => child.stop());
  const gone = new Promise((resolve) => (child.onExit = resolve));
  t.match(await child.start().catch((reason: Error) => reason.message), /part did not become ready in 1 s/);
  t.equal(await gone, 'SIGKILL');
});

t.test('what cannot be handed over is not held', { skip: !isPossible && 'sockets are held on Linux' }, async (t) => {
  const port = String(await freePort());
  t.equal(holdSockets(valuesOf({ WAF_PORT: port, DATA_LISTENER: 'uws' })), null, 'its library opens its own');
  t.equal(holdSockets(valuesOf({ WAF_PORT: port, WAF_BIND: '203.0.113.1' })), null, 'an address of another machine');
});
