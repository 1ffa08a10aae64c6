// A backup as one file: a tar archive whose first entry is the manifest, then one entry a table and one a file, as the
// manifest lists them. Written beside its place, flushed and renamed: a name that exists is a complete backup.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack } from 'tar-stream';
import { BackupError, parseManifest, type Manifest } from './manifest.js';
import { looksSealed, openStream, sealStream, type Key, type Lock } from './seal.js';

export const manifestName = 'manifest.json';
const manifestBytesMax = 64 * 1024 * 1024;
const tablePath = /^tables\/[a-z_][a-z0-9_]{0,62}\.jsonl\.gz$/;

/** Whether an entry may have this name: nothing leads out of the staging directory, whatever a manifest lists. */
export function isEntryPath(path: string): boolean {
  if (tablePath.test(path) || path === 'environment.age') return true;
  const [top, ...segments] = path.split('/');
  const isPlain = (segment: string): boolean =>
    segment !== '' && segment !== '.' && segment !== '..' && !/[\\\x00-\x1f\x7f]/.test(segment);
  return top === 'files' && segments.length > 0 && segments.every(isPlain);
}

/** Size and SHA-256 of a file. */
export async function describeFile(file: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Packs `manifest` and its entries, which lie below `staging`, into `file`. Returns its size in bytes. */
export async function writeArchive(
  staging: string,
  manifest: Manifest,
  file: string,
  lock: Lock | null,
): Promise<number> {
  const partial = join(dirname(file), `.${process.pid}-${Date.now()}.partial`);
  const archive = pack();
  const mtime = new Date(manifest.created_at);
  const fill = async (): Promise<void> => {
    archive.entry({ name: manifestName, mtime, mode: 0o600 }, `${JSON.stringify(manifest, null, 1)}\n`);
    for (const { path, bytes } of manifest.entries)
      await new Promise<void>((resolve, reject) => {
        const entry = archive.entry({ name: path, size: bytes, mtime, mode: 0o600 }, (error) =>
          error ? reject(error) : resolve(),
        );
        pipeline(createReadStream(join(staging, path)), entry).catch(reject);
      });
    archive.finalize();
  };
  try {
    const plain = Readable.from(archive as AsyncIterable<Uint8Array>, { objectMode: false });
    const content = lock === null ? plain : await sealStream(plain, lock);
    await Promise.all([fill(), pipeline(content, createWriteStream(partial, { mode: 0o600, flags: 'wx' }))]);
    const handle = await open(partial, 'r+');
    await handle.sync();
    await handle.close();
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return (await stat(file)).size;
}

async function openArchive(file: string, key: Key | null): Promise<Readable> {
  const handle = await open(file, 'r');
  const start = Buffer.alloc(64);
  await handle.read(start, 0, 64, 0);
  await handle.close();
  if (!looksSealed(start)) return createReadStream(file);
  if (key === null) throw new BackupError(`${file} is encrypted. Give the key with --key-file or --passphrase-file.`);
  return openStream(createReadStream(file), key);
}

/**
 * Unpacks a backup into the directory `staging` and proves that every entry is there and as it was. Throws BackupError
 * otherwise: damaged, truncated, changed, encrypted for another key, with entries that the manifest does not list.
 */
export async function readArchive(file: string, staging: string, key: Key | null): Promise<Manifest> {
  let manifest: Manifest | null = null;
  const missing = new Map<string, { readonly bytes: number; readonly sha256: string }>();
  const archive = extract();
  const source = await openArchive(file, key);
  const fed = pipeline(source, archive as unknown as Transform).catch((error: unknown) => {
    throw error instanceof BackupError ? error : damaged(file, error);
  });
  const read = async (): Promise<void> => {
    for await (const entry of archive) {
      const { name, type } = entry.header;
      if (type !== 'file') throw new BackupError(`The backup has an entry "${name}" that is no file.`);
      if (manifest === null) {
        if (name !== manifestName)
          throw new BackupError(`${file} is no backup: it does not begin with ${manifestName}.`);
        manifest = parseManifest(await readText(entry));
        for (const { path, bytes, sha256 } of manifest.entries) missing.set(path, { bytes, sha256 });
        continue;
      }
      const expected = missing.get(name);
      if (expected === undefined || !isEntryPath(name))
        throw new BackupError(`The backup has an entry "${name}" that its manifest does not list.`);
      missing.delete(name);
      await writeEntry(join(staging, name), entry, expected, name);
    }
  };
  await Promise.all([
    fed,
    read().catch((error: unknown) => {
      source.destroy();
      throw error instanceof BackupError ? error : damaged(file, error);
    }),
  ]);
  if (manifest === null) throw new BackupError(`${file} is no backup: it is empty.`);
  const [first] = missing.keys();
  if (first !== undefined)
    throw new BackupError(`The backup is truncated: "${first}" and what follows it are missing.`);
  return manifest;
}

const damaged = (file: string, error: unknown): BackupError =>
  new BackupError(`${file} is damaged or truncated (${error instanceof Error ? error.message : String(error)}).`);

async function readText(entry: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of entry as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > manifestBytesMax) throw new BackupError('manifest.json of the backup is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function writeEntry(
  to: string,
  entry: AsyncIterable<unknown>,
  expected: { readonly bytes: number; readonly sha256: string },
  name: string,
): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    Readable.from(entry as AsyncIterable<Buffer>, { objectMode: false }),
    new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        hash.update(chunk);
        done(null, chunk);
      },
    }),
    createWriteStream(to, { mode: 0o600, flags: 'wx' }),
  );
  if (bytes !== expected.bytes || hash.digest('hex') !== expected.sha256)
    throw new BackupError(`"${name}" of the backup is damaged: its SHA-256 is not the one that the manifest lists.`);
}
