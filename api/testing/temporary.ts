// Directories of tests: in the system's temporary directory, gone with the test that made them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** Tear-downs run last in, first out: whatever is started after this call is stopped before the directory goes. */
export async function makeDirectory(t: Pick<Test, 'teardown'>, name: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `gatehouse-${name}-`));
  // a thread that was just ended may leave its last file
  t.teardown(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

/** For the `.env` of a server that is to reach nothing outside: its check of new passwords is refused at once. */
export const nobodyAsked = 'BREACHED_PASSWORDS_URL=http://127.0.0.1:1/\n';

/** For a process that is to find only what it is given: our variables must not decide what it does. */
export const bareEnvironment = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', TMPDIR: tmpdir() });
