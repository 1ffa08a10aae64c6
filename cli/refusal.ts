// The one way in which a command says no. Whatever is wrong with what a person wrote, or with what the system lets us
// do, becomes a Refusal where it is found; an error of any other class is a bug, and keeps its stack.

import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** A message for a person: printed without a stack. Exit code 1 = refused or failed, 2 = wrong usage. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

export const wrongUsage = (message: string): Refusal => new Refusal(message, 2);

interface CodedError extends Error {
  readonly code: string;
  readonly syscall?: string;
}

/** An error of a call to the system: of a file, a port, a process. */
export interface SystemError extends CodedError {
  readonly syscall: string;
}

/** An error that names itself by a code: one of the system, a database or a library. */
function isCoded(error: unknown): error is CodedError {
  return error instanceof Error && typeof (error as Partial<CodedError>).code === 'string';
}

export function isSystemError(error: unknown): error is SystemError {
  return isCoded(error) && error.syscall !== undefined;
}

const fixes: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space on that disk',
  EDQUOT: 'the quota of this user is used up',
  EROFS: 'that disk is mounted read-only; mount it for writing, or name another directory (GATEHOUSE_DATA)',
  EACCES: 'this user may not; give it the directory (chown -R), or start as its owner',
  EMFILE:
    'a process may not open more files and connections; raise LimitNOFILE of the service (systemd.exec(5)), or ' +
    'ulimit -n before the start, to 4096 at least',
  ENFILE: 'the system may not open more files; raise fs.file-max (sysctl(8))',
  EPERM: 'this user may not; give it the directory (chown -R), or start as its owner',
};

const callsOfPorts = ['listen', 'bind', 'connect'];

/** What a disk refused, with how to fix it; null for any other error. It can happen wherever something is written. */
export function diskRefusal(error: unknown): Refusal | null {
  if (!isSystemError(error) || callsOfPorts.includes(error.syscall)) return null;
  const fix = fixes[error.code];
  return fix === undefined ? null : new Refusal(`${error.message}\n  Fix: ${fix}.`);
}

/**
 * What the system says of a path that a person named (missing, forbidden, a directory, too long), in its own words;
 * null for any other error.
 */
export function pathRefusal(error: unknown): Refusal | null {
  return isSystemError(error) ? new Refusal(error.message) : null;
}

/** For work on files that a person named or can fix: what the system says of them is refused where it arises. */
export function withFiles<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw diskRefusal(error) ?? pathRefusal(error) ?? error;
  }
}

/** Bytes of a file that the command line names; what cannot be read is refused by that name. `-`: standard input. */
export function readNamed(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    // reading a folder fails without its name
    throw isSystemError(error) ? unreadable(file, error, 'or name it as - and pass it in (< FILE)') : error;
  }
}

/**
 * `file` cannot be read: why, and for which user, since /usr/bin/gatehouse makes root the user of the service. `or`:
 * what else helps.
 */
export function unreadable(file: string, { code, message }: SystemError, or: string, exitCode: 1 | 2 = 1): Refusal {
  const hint = `\n  This runs as the user ${ownName()}: let that one read it, ${or}.`;
  return new Refusal(`${file}: cannot be read (${message}).${code === 'EACCES' ? hint : ''}`, exitCode);
}

/** A user of a container may have no name. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}

/** What `fetch` says when nobody answers, or not in time; null for any other error. */
export function networkRefusal(who: string, error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null;
  if (error.name === 'TimeoutError') return new Refusal(`${who} does not answer in time`);
  if (isCoded(error.cause)) return new Refusal(`${who} does not answer (${error.cause.code})`);
  // a port that fetch never asks, such as 1 or 6000
  const isUnasked = error.message === 'fetch failed' && error.cause instanceof Error;
  return isUnasked ? new Refusal(`${who} cannot be asked (${(error.cause as Error).message})`) : null;
}

/** Codes of mistakes in calls, not of the world: Node.js (`ERR_…`) and Fastify (`FST_…`) mean the caller. */
const codesOfBugs = /^(?:ERR|FST)_/;

/**
 * What keeps a plane from starting. Both planes say it by a plain Error (a taken port, a refused artifact, a database
 * of a newer release) or let through what the system or the database said, which has a code; null for any other class.
 */
export function startRefusal(error: unknown): Refusal | null {
  if (isCoded(error) && !codesOfBugs.test(error.code)) return new Refusal(error.message || error.code);
  const isPlain = error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !isCoded(error);
  return isPlain ? new Refusal(error.message) : null;
}

/** Runs a command and tells a refusal as `who: message`. Rejects on bugs only. */
export async function tellRefusals(who: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const refusal = error instanceof Refusal ? error : diskRefusal(error);
    if (refusal === null) throw error;
    console.error(`${who}: ${refusal.message}`);
    return refusal.exitCode;
  }
}
