// Directories of tests: in the system's temporary directory, gone with the test that made them.
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

/** Tear-downs run last in, first out: whatever is started after this call is stopped before the directory goes. */
export async function makeDirectory(t: Pick<Test, 'teardown'>, name: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `gatehouse-${name}-`));
  // a thread that was just ended may leave its last file
  t.teardown(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

// from build/api/testing
const ownData = process.env['GATEHOUSE_DATA'] ?? fileURLToPath(new URL('../../../data', import.meta.url));

/**
 * Lets a data directory take compiled automata from the cache that every command of this checkout uses, and add to it:
 * they lie there by a hash of what they were made of, with a checksum, so that all that a test can see is the time. Not
 * for tests of a first start, and of what is served while one compiles.
 */
export async function shareAutomata(data: string): Promise<void> {
  const own = join(ownData, 'cache/automata');
  await mkdir(own, { recursive: true });
  await mkdir(join(data, 'cache'), { recursive: true });
  await symlink(own, join(data, 'cache/automata'));
}

/** A directory for the data of a control plane whose rules are to be there in a moment. */
export async function makeDataDirectory(t: Pick<Test, 'teardown'>, name: string): Promise<string> {
  const path = await makeDirectory(t, name);
  await shareAutomata(path);
  return path;
}

/** For the `.env` of a server that is to reach nothing outside: its check of new passwords is refused at once. */
export const nobodyAsked = 'BREACHED_PASSWORDS_URL=http://127.0.0.1:1/\n';

/**
 * For a process that is to find only what it is given: our variables must not decide what it does. The runner's options
 * for what lives for seconds (cli/test-runner/short-lived.ts) go along; they change how code is compiled, not what it
 * does.
 */
export const bareEnvironment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  TMPDIR: tmpdir(),
  NODE_OPTIONS: process.env['GATEHOUSE_TEST_NODE_OPTIONS'] ?? '',
});
