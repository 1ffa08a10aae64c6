// External programs of a release build: started with arguments as a list, failures with what the program said.
import { spawnSync } from 'node:child_process';

/** A release build cannot go on; the message says what is missing and what to do. */
export class ReleaseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReleaseError';
  }
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer;
}

/** Standard output of a program. Throws ReleaseError with its last words when it is absent or fails. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): string {
  const outcome = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024, ...options });
  if (outcome.status === 0) return outcome.stdout;
  const why = outcome.error?.message ?? `${outcome.stderr}${outcome.stdout}`.trim().split('\n').slice(-8).join('\n');
  throw new ReleaseError(`${program} ${args.slice(0, 4).join(' ')} failed: ${why}`);
}

/** Whether a program can be started at all. */
export function isInstalled(program: string): boolean {
  return spawnSync('/bin/sh', ['-c', `command -v "$1"`, 'sh', program]).status === 0;
}
