// A copy of the embedded database's files while it serves. The worker thread copies them in one synchronous step, and
// the engine runs on the same thread, so nothing is written meanwhile: the copy is what a crash at that instant would
// leave, and opening it replays the write-ahead log. The other way, a transaction that reads everything, would hold the
// only connection for as long as the reading takes.
import { randomUUID } from 'node:crypto';
import { constants, cpSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';

export interface CopyRequest {
  readonly kind: 'copy';
  readonly id: string;
  readonly to: string;
}

interface CopyAnswer {
  readonly kind: 'copied';
  readonly id: string;
  /** null: the copy is complete. */
  readonly reason: string | null;
}

/** Runs in the worker thread. `to` must not exist. Never throws: the answer has the reason. */
export function copyFiles(directory: string | null, { id, to }: CopyRequest): CopyAnswer {
  try {
    if (directory === null) throw new Error('The database is in memory and has no files.');
    cpSync(directory, to, {
      recursive: true,
      errorOnExist: true,
      force: false,
      mode: constants.COPYFILE_FICLONE,
      // it names the process that has the directory open
      filter: (path) => !path.endsWith('/postmaster.pid'),
    });
    return { kind: 'copied', id, reason: null };
  } catch (error) {
    return { kind: 'copied', id, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Copies of a process that ended before it removed them go with the next one. */
const leftoverMs = 3_600_000;

async function removeLeftovers(directory: string): Promise<void> {
  const prefix = `${basename(directory)}.copy-`;
  for (const name of await readdir(dirname(directory))) {
    const path = join(dirname(directory), name);
    if (name.startsWith(prefix) && (await stat(path)).mtimeMs < Date.now() - leftoverMs)
      await rm(path, { recursive: true, force: true });
  }
}

/** Asks the worker thread for a copy; returns its directory. Rejects with the reason, or when the thread ends first. */
export async function requestCopy(worker: Worker, directory: string): Promise<string> {
  const place = directory.replace(/\/+$/, '');
  await removeLeftovers(place);
  const id = randomUUID();
  const to = `${place}.copy-${id}`;
  await ask(worker, { kind: 'copy', id, to });
  return to;
}

function ask(worker: Worker, request: CopyRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (reason: string | null): void => {
      worker.off('message', onMessage);
      worker.off('exit', onExit);
      if (reason === null) resolve();
      else reject(new Error(`The embedded database could not be copied: ${reason}`));
    };
    const onMessage = (answer: CopyAnswer): void => {
      if (answer.kind === 'copied' && answer.id === request.id) finish(answer.reason);
    };
    const onExit = (): void => finish('it was closed.');
    worker.on('message', onMessage);
    worker.once('exit', onExit);
    worker.postMessage(request);
  });
}
