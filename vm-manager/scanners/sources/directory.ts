// A directory of this machine: walked without following links, each file once, in the order of names.
import { lstatSync, type Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Budget,
  isForeign,
  shownPath,
  sourceLimits,
  type Source,
  type SourceItem,
  type SourceLimits,
} from './source.js';

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'error';

/** Bytes of a file that may grow or shrink meanwhile; never more than `most`. */
async function readFileOf(path: string, most: number): Promise<Buffer> {
  const handle = await open(path);
  try {
    const bytes = Buffer.alloc(most);
    let length = 0;
    while (length < most) {
      const { bytesRead } = await handle.read(bytes, length, most - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await handle.close();
  }
}

async function* walk(root: string, below: string, budget: Budget): AsyncGenerator<SourceItem> {
  let names: Dirent[];
  try {
    names = await readdir(join(root, below), { withFileTypes: true });
  } catch (error) {
    // the root itself is for who named it
    if (below === '') throw error;
    return yield { path: shownPath(below), passed: `the directory cannot be read (${codeOf(error)})`, isFault: true };
  }
  names.sort((left, right) => (left.name < right.name ? -1 : 1));
  for (const one of names) {
    const path = below === '' ? one.name : `${below}/${one.name}`;
    budget.entry();
    if (one.isDirectory()) {
      if (isForeign(one.name)) yield { path, passed: `directories named ${one.name}`, isFault: false };
      else yield* walk(root, path, budget);
    } else if (one.isSymbolicLink()) yield { path, passed: 'symbolic links', isFault: false };
    else if (!one.isFile()) yield { path, passed: 'devices, sockets and pipes', isFault: false };
    else yield* fileAt(root, path, budget);
  }
}

async function* fileAt(root: string, path: string, budget: Budget): AsyncGenerator<SourceItem> {
  const at = join(root, path);
  try {
    // at once: a turn for each of a hundred thousand files takes longer than all else of a scan that remembers them
    const { size, mtimeMs, ctimeMs, ino, dev } = lstatSync(at);
    budget.bytes(size);
    const stamp = { is: `${size} ${mtimeMs} ${ctimeMs} ${dev} ${ino}`, changedMs: Math.max(mtimeMs, ctimeMs) };
    yield { path, bytes: size, stamp, read: async (most = size) => readFileOf(at, Math.min(most, size)) };
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    yield { path, passed: `the file cannot be read (${codeOf(error)})`, isFault: true };
  }
}

/** Throws the system's error where the directory itself cannot be read. */
export const directorySource = (root: string, limits: SourceLimits = sourceLimits): Source => ({
  total: null,
  isOneFile: false,
  async *items(signal) {
    for await (const item of walk(root, '', new Budget(limits, null))) {
      if (signal.aborted) return;
      yield item;
    }
  },
});

/** One file under its own name. */
export const fileSource = (path: string, name: string, bytes: number): Source => ({
  total: 1,
  isOneFile: true,
  async *items() {
    yield { path: name, bytes, isNamed: true, read: async (most = bytes) => readFileOf(path, Math.min(most, bytes)) };
  },
});
