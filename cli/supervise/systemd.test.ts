// What systemd is sent. The words are checked against a recorder, the datagram and the open file in it against a reader
// in Python, since Node.js has no datagrams of that kind.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openSharedSocket, tellServiceManager } from '#engine';
import { program } from '../environment/directories.js';
import { listenerKept, readServiceManager } from './systemd.js';

const host = '127.0.0.1';
const skip = process.platform === 'linux' ? false : 'Linux only';
const isThere = (name: string): boolean => spawnSync(name, ['--version']).status === 0;

interface Told {
  readonly text: string;
  readonly sockets: readonly number[];
}

function recorder() {
  const told: Told[] = [];
  let isFull = false;
  return {
    told,
    fill: (full: boolean) => void (isFull = full),
    tell: (_path: string, text: string, sockets: readonly number[] = []) => {
      if (!isFull) told.push({ text, sockets });
      return !isFull;
    },
    texts: () => told.map(({ text }) => text),
  };
}

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await sleep(5);
};

t.test('without systemd nothing is sent, and its words go no further', async (t) => {
  const { tell } = recorder();
  const env = { NOTIFY_SOCKET: '/x', WATCHDOG_USEC: '1', LISTEN_FDS: '0', OTHER: 'stays' };
  t.equal(readServiceManager({}, 1, tell), null);
  t.not(readServiceManager(env, 1, tell), null);
  t.same(env, { OTHER: 'stays' }, 'no program started from here tells systemd anything');
});

t.test('ready once, then well as long as it is well', async (t) => {
  const { tell, texts, fill } = recorder();
  const manager = readServiceManager({ NOTIFY_SOCKET: '/x', WATCHDOG_USEC: '40000' }, 1, tell);
  let isWell = true;
  const keepsRunning = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(keepsRunning));
  fill(true);
  manager?.ready(() => isWell);
  await sleep(30);
  t.same(texts(), [], 'its queue is full');
  fill(false);
  await until(() => texts().includes('READY=1'));
  await until(() => texts().filter((text) => text === 'WATCHDOG=1').length >= 3);
  t.equal(texts().filter((text) => text === 'READY=1').length, 1);
  isWell = false;
  const before = texts().length;
  await sleep(100);
  t.equal(texts().length, before, 'a node that serves no client says nothing, and is started again');
});

for (const [name, env] of Object.entries({
  'no watchdog': {},
  'the watchdog of another process': { WATCHDOG_USEC: '1000', WATCHDOG_PID: '2' },
}))
  t.test(`${name}: nothing is said after READY`, async (t) => {
    const { tell, texts } = recorder();
    const manager = readServiceManager({ NOTIFY_SOCKET: '/x', ...env }, 1, tell);
    manager?.ready();
    await sleep(50);
    t.same(texts(), ['READY=1']);
    manager?.status('Compiling\nrules');
    t.same(texts().slice(1), ['STATUS=Compiling rules']);
    manager?.atWork('Restoring')();
    t.same(texts().slice(2), ['STATUS=Restoring', 'EXTEND_TIMEOUT_USEC=120000000']);
  });

t.test('a socket is opened once and left with systemd', { skip }, async (t) => {
  const { tell, told } = recorder();
  const manager = readServiceManager({ NOTIFY_SOCKET: '/x' }, 1, tell);
  t.equal(listenerKept(null, 'console', host, 1), null);
  t.equal(listenerKept(manager, 'console', host, 0), null);
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.throws(() => listenerKept(manager, 'console', host, port), { code: 'EADDRINUSE' });
  await new Promise((done) => server.close(done));
  const socket = listenerKept(manager, 'console', host, port);
  t.same(told, [{ text: `FDSTORE=1\nFDPOLL=0\nFDNAME=console_${port}_${host}`, sockets: [socket] }]);
  closeSync(socket ?? -1);
});

/** Prints a line a datagram; of a socket in it the port that it listens on. */
const reader = `
import array, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
path = sys.argv[1]
s.bind('\\0' + path[1:] if path[0] == '@' else path)
print('bound', flush=True)
while True:
    data, control, _, _ = s.recvmsg(4096, 4096)
    fds = array.array('i')
    for level, kind, part in control:
        fds.frombytes(part)
    ports = [socket.socket(fileno=fd).getsockname()[1] for fd in fds]
    print(data.decode().replace('\\n', ' '), *ports, flush=True)
`;

const withReader = { skip: skip || (isThere('python3') ? false : 'python3 is not installed') };
for (const kind of ['file', 'abstract'])
  t.test(`a datagram with an open socket in it (${kind})`, withReader, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'gatehouse-notify-'));
    const path = kind === 'file' ? join(directory, 'notify') : `@${directory}`;
    t.equal(tellServiceManager(path, 'READY=1'), false, 'no manager is there');
    const child = spawn('python3', ['-c', reader, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true });
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async (): Promise<string> => String((await lines.next()).value);
    t.equal(await next(), 'bound');
    const socket = openSharedSocket(host, 0, 4);
    t.equal(tellServiceManager(path, 'READY=1'), true);
    t.equal(await next(), 'READY=1');
    t.equal(tellServiceManager(path, 'FDSTORE=1\nFDNAME=x', [socket, socket]), true);
    const server = createServer().listen({ fd: socket });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    t.equal(await next(), `FDSTORE=1 FDNAME=x ${port} ${port}`);
    server.close();
  });

t.test('the demo and the console say that they are ready', withReader, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-notify-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'notify');
  const child = spawn('python3', ['-c', reader, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  t.equal((await lines.next()).value, 'bound');
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  const env = {
    ...process.env,
    NOTIFY_SOCKET: path,
    GATEHOUSE_DATA: directory,
    GATEHOUSE_ENV_FILE: '/dev/null',
    UI_PORT: String(port),
    DEMO_PORT: String(port),
    CONSOLE_TOKEN: 'x'.repeat(40),
  };
  const ended: Promise<unknown>[] = [];
  for (const [command, first] of [
    ['demo', 'READY=1'],
    ['console', `FDSTORE=1 FDPOLL=0 FDNAME=console_${port}_${host} ${port}`],
  ] as const) {
    const service = spawn(process.execPath, [program, command], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    ended.push(once(service, 'exit'));
    t.equal((await lines.next()).value, first, command);
    if (command === 'console') t.equal((await lines.next()).value, 'READY=1');
    service.kill('SIGTERM');
    t.equal((await lines.next()).value, 'STOPPING=1');
    await ended.at(-1);
  }
  t.ok(existsSync(path));
});
