// A throw-away Redis.
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../waiting.js';
import { findPrograms, required, skipWithout, type Wanted } from './programs.js';

const wanted: Wanted = {
  server: 'redis-server',
  untested: 'what API processes share through Redis',
  install: 'apt-get install redis-server',
  variable: 'GATEHOUSE_TEST_WITHOUT_REDIS',
};
const directoryFound = findPrograms(['redis-server'], ['/usr/bin', '/usr/local/bin']);

/** Why tests of Redis are skipped. */
export const withoutRedis = skipWithout(directoryFound, wanted);

/** Goes with the test. Throws when the machine has none; see `withoutRedis`. */
export async function startRedis(t: Test, port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const program = join(required(directoryFound, wanted), 'redis-server');
  const options = { bind: '127.0.0.1', port: String(port), save: '', appendonly: 'no', dir: tmpdir() };
  const child = spawn(
    program,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  t.teardown(stop);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await until('redis-server starts', () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`redis-server ended: ${output}`);
    return output.includes('Ready to accept connections');
  });
  return { url: `redis://127.0.0.1:${port}`, stop };
}
