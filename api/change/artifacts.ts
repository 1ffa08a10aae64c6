// Artifacts on disk by the hash of their bytes: written whole or not at all, never changed afterwards.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const artifactName = /^[0-9a-f]{64}$/;

export function artifactPath(directory: string, sha256: string): string {
  if (!artifactName.test(sha256)) throw new Error(`not the hash of an artifact: ${sha256.slice(0, 80)}`);
  return join(directory, sha256);
}

/** The bytes, or null when there are none or they are damaged (whoever asks makes them again). */
export function findArtifact(directory: string, sha256: string): Buffer | null {
  try {
    const bytes = readFileSync(artifactPath(directory, sha256));
    return createHash('sha256').update(bytes).digest('hex') === sha256 ? bytes : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Temporary name, flush, rename, flush of the directory: after a power cut there is the whole file or none. */
export async function storeArtifact(directory: string, sha256: string, bytes: Uint8Array): Promise<void> {
  const path = artifactPath(directory, sha256);
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  if (findArtifact(directory, sha256) !== null) {
    const now = new Date();
    utimesSync(path, now, now); // used again: the last to be pruned
    return;
  }
  const temporary = join(directory, `.${sha256}.${randomUUID()}.part`);
  try {
    const file = await open(temporary, 'wx', 0o640);
    try {
      // in one go: a compile process that replays meanwhile has no time for a turn per piece
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(directory, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Keeps the `keep` most recently used artifacts and those in `needed`; removes leftovers of writers that died an hour
 * ago.
 */
export function pruneArtifacts(directory: string, keep: number, needed: ReadonlySet<string>, nowMs: number): void {
  const entries = readdirSync(directory).flatMap((name) => {
    const found = statSync(join(directory, name), { throwIfNoEntry: false }); // another process may prune too
    return found === undefined ? [] : [{ name, usedMs: found.mtimeMs }];
  });
  for (const { name, usedMs } of entries)
    if (name.endsWith('.part') && nowMs - usedMs > 3_600_000) rmSync(join(directory, name), { force: true });
  const artifacts = entries.filter(({ name }) => artifactName.test(name)).sort((a, b) => b.usedMs - a.usedMs);
  for (const { name } of artifacts.slice(keep)) if (!needed.has(name)) rmSync(join(directory, name), { force: true });
}
