// A throw-away Redis on a socket of its own, that can be killed and started again where it was.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

const isThere = spawnSync('redis-server', ['--version']).status === 0;

/** Set to 1 where it is not to be tested, as for the tests of api/. */
const variable = 'GATEHOUSE_TEST_WITHOUT_REDIS';

/** Why tests of shared limits are skipped, or false. */
export const withoutRedis: string | false =
  process.env[variable] === '1'
    ? `${variable}=1: limits of several nodes are not tested`
    : isThere || process.env['CI'] === 'true'
      ? false
      : 'redis-server is not on this machine, so limits of several nodes are not tested: apt-get install redis-server';

export interface TestRedis {
  readonly url: string;
  start(): Promise<void>;
  /** By SIGKILL: what was in it is gone. */
  kill(): Promise<void>;
}

export async function startRedis(t: Test): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-'));
  const socket = join(directory, 'redis.sock');
  const options = { port: '0', unixsocket: socket, save: '', appendonly: 'no', dir: directory };
  let child: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    const dying = child;
    child = null;
    if (dying === null || dying.exitCode !== null) return;
    const exited = new Promise<void>((resolve) => dying.once('exit', () => resolve()));
    dying.kill('SIGKILL');
    await exited;
  };
  const start = async (): Promise<void> => {
    const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const started = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'ignore'] });
    child = started;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      started.once('exit', () => reject(new Error(`redis-server ended: ${output}`)));
      started.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (/ready to accept connections/i.test(output)) resolve();
      });
    });
  };
  t.teardown(async () => {
    await kill();
    await rm(directory, { recursive: true, force: true });
  });
  await start();
  return { url: socket, start, kill };
}
