// One redis-server of a test, that can be killed, stand still and come back where it was.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { findPrograms, required, skipWithout, type Wanted } from './programs.js';
import { until } from '../waiting.js';

const wanted: Wanted = {
  server: 'redis-server',
  untested: 'what processes share through Redis',
  install: 'apt-get install redis-server',
  variable: 'GATEHOUSE_TEST_WITHOUT_REDIS',
};
const directoryFound = findPrograms(['redis-server'], ['/usr/bin', '/usr/local/bin']);

/** Why tests of Redis are skipped. */
export const withoutRedis = skipWithout(directoryFound, wanted);

export interface RedisProcess {
  /** Its own directory, for files of the configuration. */
  readonly directory: string;
  start(): Promise<void>;
  /** By SIGKILL: what was in it is gone. */
  kill(): Promise<void>;
  /** Its connections stay, and nobody answers: what a partition looks like from outside. */
  standStill(): void;
  goOn(): void;
}

/**
 * Goes with the test. `lines` is the configuration, `flags` what stands behind the file on the command line. Throws
 * when the machine has no Redis; see `withoutRedis`.
 */
export async function startRedisProcess(
  t: Test,
  lines: readonly string[],
  flags: readonly string[] = [],
): Promise<RedisProcess> {
  const program = join(required(directoryFound, wanted), 'redis-server');
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-'));
  const file = join(directory, 'redis.conf');
  const common = ['bind 127.0.0.1', 'protected-mode no', 'save ""', 'appendonly no', `dir ${directory}`];
  await writeFile(file, `${[...common, ...lines].join('\n')}\n`);
  let child: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    const dying = child;
    child = null;
    if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => dying.once('exit', () => resolve()));
    dying.kill('SIGKILL');
    await exited;
  };
  const start = async (): Promise<void> => {
    const started = spawn(program, [file, ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
    child = started;
    let output = '';
    started.stdout.on('data', (chunk: Buffer) => {
      if (output.length < 100_000) output += chunk.toString();
    });
    await until('redis-server starts', () => {
      if (started.exitCode !== null || started.signalCode !== null) throw new Error(`redis-server ended: ${output}`);
      return /ready to accept connections|Sentinel ID is|monitor master/i.test(output);
    });
  };
  t.teardown(async () => {
    await kill();
    await rm(directory, { recursive: true, force: true });
  });
  await start();
  return {
    ...{ directory, start, kill },
    standStill: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
  };
}
