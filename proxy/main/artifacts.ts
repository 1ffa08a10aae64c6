// Artifacts as files and as memory that all threads see, known by the SHA-256 of their bytes.
import { createHash } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

export function toShared(bytes: Uint8Array): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function requireNamed<T extends Uint8Array>(bytes: T, announced: string): T {
  const sha256 = sha256Of(bytes);
  if (sha256 !== announced) throw new Error(`the artifact's SHA-256 is ${sha256}, announced was ${announced}`);
  return bytes;
}

/** As much as an artifact in base64 may have as a body (admin/server.ts). */
const unpackedBytesMax = 192 * 1024 * 1024;

/** Rejects with zlib's reason for what was not compressed, or is larger than any artifact. */
export const unpacked = (base64: string): Promise<Buffer> =>
  promisify(gunzip)(Buffer.from(base64, 'base64'), { maxOutputLength: unpackedBytesMax });

/** A file straight into memory that all threads see: 20 MB are not copied and leave nothing to collect. */
export async function readShared(path: string): Promise<SharedArrayBuffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const shared = new SharedArrayBuffer(size);
    const bytes = new Uint8Array(shared);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(bytes, at, size - at, at);
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
      at += bytesRead;
    }
    return shared;
  } finally {
    await file.close();
  }
}

const artifactsKept = 20;
const leftoverAfterMs = 3_600_000;

/**
 * Keeps the newest artifacts and those in `needed`; half-written files of writers that died long ago go, too. A node of
 * its own has nobody else who does it, and the one beside a control plane shares its directory and these rules.
 */
export async function pruneArtifacts(directory: string, needed: readonly string[]): Promise<void> {
  const found = await Promise.all(
    (await readdir(directory)).map(async (name) => ({
      name,
      usedMs: await stat(join(directory, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    })),
  );
  const isLeftover = (name: string, usedMs: number): boolean =>
    name.endsWith('.tmp') && usedMs < Date.now() - leftoverAfterMs;
  const artifacts = found.filter(({ name }) => /^[0-9a-f]{64}$/.test(name)).sort((a, b) => b.usedMs - a.usedMs);
  const old = [
    ...artifacts.slice(artifactsKept).filter(({ name }) => !needed.includes(name)),
    ...found.filter(({ name, usedMs }) => isLeftover(name, usedMs)),
  ];
  await Promise.all(old.map(({ name }) => rm(join(directory, name), { force: true })));
}
