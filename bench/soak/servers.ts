// PostgreSQL and Redis for a soak: each can be killed as a crash would and comes back on the same port with the same
// data. Debian's binaries, Debian's defaults (fsync on).
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { adopt, findCommand, freePort, HarnessProblem, runToEnd, temporaryDirectory } from '../processes.js';

export interface Killable {
  readonly name: string;
  readonly url: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it can be connected to. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

const readyMsMax = 60_000;

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

interface Kind {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  readonly command: readonly [string, ...string[]];
  readonly isReady: () => Promise<boolean>;
  readonly removeData: () => void;
}

function killable({ name, url, command: [program, ...args], isReady, removeData }: Kind): Killable {
  let child: ChildProcess | null = null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      ending.once('exit', () => resolve());
      ending.kill(signal);
    });
  };
  return {
    name,
    url,
    kill: () => end('SIGKILL'),
    async start() {
      const started = spawn(program, args, { stdio: 'ignore' });
      child = started;
      adopt(started);
      const startedMs = performance.now();
      while (!(await isReady())) {
        if (started.exitCode !== null || performance.now() - startedMs > readyMsMax)
          throw new HarnessProblem(`${name} did not come up (${started.exitCode ?? 'no answer'})`);
        await pause(50);
      }
    },
    async remove() {
      await end('SIGKILL');
      removeData();
    },
  };
}

export async function createPostgres(): Promise<Killable> {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((left, right) => Number(right) - Number(left)) : [];
  const bin = versions
    .map((version) => join(root, version, 'bin'))
    .find((directory) => existsSync(join(directory, 'postgres')));
  if (bin === undefined) throw new HarnessProblem('PostgreSQL is not installed; on Debian: apt-get install postgresql');
  const temporary = temporaryDirectory('soak-postgres');
  const isRoot = userInfo().uid === 0; // PostgreSQL refuses to run as root
  const as = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : ['env'];
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  if (isRoot) chownSync(temporary.path, idOf('-u'), idOf('-g'));
  const data = join(temporary.path, 'data');
  const [first = 'env', ...rest] = as;
  const initdb = [join(bin, 'initdb'), '-D', data, '-U', 'gatehouse', '-A', 'trust', '--no-locale', '-E', 'UTF8'];
  const made = await runToEnd(first, [...rest, ...initdb]);
  if (made.code !== 0) throw new HarnessProblem(`initdb ended with ${made.code}: ${made.stderr.slice(-1000)}`);
  const port = await freePort();
  const where = ['-q', '-h', '127.0.0.1', '-p', String(port)];
  return killable({
    name: 'PostgreSQL',
    port,
    url: `postgres://gatehouse@127.0.0.1:${port}/postgres`,
    command: [first, ...rest, join(bin, 'postgres'), '-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', ''],
    isReady: async () => (await runToEnd(join(bin, 'pg_isready'), where)).code === 0,
    removeData: temporary.remove,
  });
}

export async function createRedis(): Promise<Killable> {
  const program = findCommand('redis-server');
  if (program === null) throw new HarnessProblem('Redis is not installed; on Debian: apt-get install redis-server');
  const temporary = temporaryDirectory('soak-redis');
  mkdirSync(temporary.path, { recursive: true });
  const port = await freePort();
  return killable({
    name: 'Redis',
    port,
    url: `redis://127.0.0.1:${port}`,
    command: [program, '--port', String(port), '--bind', '127.0.0.1', '--dir', temporary.path, '--save', ''],
    isReady: () => answers(port),
    removeData: temporary.remove,
  });
}
