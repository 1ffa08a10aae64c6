// What hardening touches of the machine, so that tests can stand in for it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError, Refusal, withFiles } from '../refusal.js';

export interface Host {
  readonly isRoot: boolean;
  /** Whether systemd is process 1 here. */
  readonly hasSystemd: boolean;
  /** null: there is no such file. */
  read(path: string): string | null;
  write(path: string, text: string): void;
  /** A file, or a directory with all that is in it. */
  remove(path: string): void;
  /** Rejects with a Refusal where the program is not there or fails. */
  run(program: string, args: readonly string[], input?: string): void;
  say(text: string): void;
}

export const thisHost: Host = {
  get isRoot() {
    return process.getuid?.() === 0;
  },
  get hasSystemd() {
    return existsSync('/run/systemd/system');
  },
  read: (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (isSystemError(error) && error.code === 'ENOENT') return null;
      throw error;
    }
  },
  write: (path, text) =>
    withFiles(() => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o644 });
    }),
  remove: (path) => withFiles(() => rmSync(path, { force: true, recursive: true })),
  run: (program, args, input) => {
    const { error, status, stderr } = spawnSync(program, [...args], { input: input ?? '', encoding: 'utf8' });
    if (error !== undefined)
      throw new Refusal(
        `${program} cannot be run (${(error as NodeJS.ErrnoException).code ?? error.message})\n` +
          '  Fix: install the packages nftables and procps, or look at --dry-run and do it by hand.',
      );
    if (status !== 0) throw new Refusal(`${program} ${args.join(' ')} failed: ${stderr.trim()}`);
  },
  say: (text) => console.log(text),
};
