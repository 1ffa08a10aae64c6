// Reproducible files: one order, one owner, one time, one compression, whatever machine made them.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  lstatSync,
  lutimesSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { run } from './commands.js';

const chunkBytes = 1024 * 1024;

/** SHA-256 of a file, lower-case hexadecimal; read in pieces. */
export function sha256File(path: string): string {
  const hash = createHash('sha256');
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(chunkBytes);
    for (let bytes = readSync(file, buffer); bytes > 0; bytes = readSync(file, buffer))
      hash.update(buffer.subarray(0, bytes));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** Every path below `directory`, relative, in byte order; directories before what is in them. */
export function pathsBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort((left, right) =>
    Buffer.compare(Buffer.from(left), Buffer.from(right)),
  );
}

/** Gives every file the time `epoch` (seconds) and the mode 0644, or 0755 where its owner may execute it. */
export function normalize(directory: string, epoch: number): void {
  for (const path of ['', ...pathsBelow(directory)]) {
    const at = join(directory, path);
    const stats = lstatSync(at);
    if (!stats.isSymbolicLink()) chmodSync(at, stats.isDirectory() || (stats.mode & 0o100) !== 0 ? 0o755 : 0o644);
    lutimesSync(at, epoch, epoch);
  }
}

/** A tar archive of what is in `directory`, the same bytes for the same content (GNU format, owner 0). */
export function tarOf(directory: string, file: string, epoch: number, names: readonly string[] = ['.']): void {
  run('tar', [
    '--sort=name',
    '--format=gnu',
    `--mtime=@${epoch}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '-C',
    directory,
    '-cf',
    file,
    ...names,
  ]);
}

/** Compresses a file into another; returns the SHA-256 of what was read and of what was written. */
export function gzipFile(from: string, to: string): { readonly plain: string; readonly packed: string } {
  const bytes = readFileSync(from);
  const packed = gzipSync(bytes, { level: 6 });
  packed[9] = 255; // the system that made it: unknown, so that it is not in the digest
  writeFileSync(to, packed);
  return { plain: sha256(bytes), packed: sha256(packed) };
}
