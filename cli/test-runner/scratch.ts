// Where tests put their files. A database is a thousand of them, and a file system on a disk takes a millisecond for
// each, one in memory a tenth of that. Asked of the machine, since containers often have a tiny or locked /dev/shm.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemory = '/dev/shm';
/** As statfs names it (magic.h of Linux). */
const tmpfs = 0x01021994;
/** Some databases and data planes at a time; so much must be free, as room and as memory. */
const bytesMin = 3e9;

/** A new directory of one run of the tests: in memory where there is room, else where temporary files are. */
export function makeScratch(): string {
  removeAbandoned();
  return makeIn(hasRoom() ? inMemory : tmpdir()) ?? mkdtempSync(join(tmpdir(), prefix));
}

const prefix = `gatehouse-test-${process.pid}-`;

/** A run makes a directory in it every few seconds: one in another container has no process here, but is not as old. */
const abandonedMs = 3_600_000;

/** Of runs that were killed: memory is not for what nobody uses. */
function removeAbandoned(): void {
  if (!existsSync(inMemory)) return;
  for (const name of readdirSync(inMemory)) {
    const pid = /^gatehouse-test-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const path = join(inMemory, name);
    try {
      if (Date.now() - statSync(path).mtimeMs > abandonedMs) rmSync(path, { recursive: true, force: true });
    } catch {
      // another user's, or gone
    }
  }
}

function hasRoom(): boolean {
  // whoever says where temporary files are to be means it
  if (process.env['TMPDIR'] !== undefined) return false;
  try {
    const { type, bavail, bsize } = statfsSync(inMemory);
    return type === tmpfs && bavail * bsize >= bytesMin && freemem() >= bytesMin;
  } catch {
    return false;
  }
}

/** Null where nothing can be written, or nothing be run: tests start programs that they wrote. */
function makeIn(place: string): string | null {
  let directory: string;
  try {
    directory = mkdtempSync(join(place, prefix));
  } catch {
    return null;
  }
  const program = join(directory, 'runs');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const isRunnable = spawnSync(program).status === 0;
  rmSync(isRunnable ? program : directory, { recursive: true });
  return isRunnable ? directory : null;
}
