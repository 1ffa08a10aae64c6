// Archives on the disk: tar, gzip and zstd of it, zip. Entries are read one after another as they come; names never
// become paths of this machine, links are not followed, and nested archives stay closed and are reported.
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { openPromise, type Entry as ZipEntry, type ZipFile } from 'yauzl';
import {
  Budget,
  foreignPart,
  isPlainPath,
  shownPath,
  SourceError,
  sourceLimits,
  type Passed,
  type Source,
  type SourceItem,
  type SourceLimits,
} from './source.js';
import { unpackZstd } from './zstd/stream.js';

export type ArchiveForm = 'zip' | 'tar' | 'tar.gz' | 'tar.zst';

const head = async (path: string): Promise<Buffer> => {
  const handle = await open(path);
  try {
    const bytes = Buffer.alloc(512);
    const { bytesRead } = await handle.read(bytes, 0, 512, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
};

/** By its first bytes, whatever its name is; null: it is no archive that is known. */
export async function archiveFormOf(path: string): Promise<ArchiveForm | null> {
  const bytes = await head(path);
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)) return 'zip';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'tar.gz';
  if (bytes.length >= 4 && bytes.readUInt32LE(0) === 0xfd2fb528) return 'tar.zst';
  if (bytes.length === 512 && bytes.toString('latin1', 257, 262) === 'ustar') return 'tar';
  return null;
}

/** A stream that ends with an error beyond the budget. */
const counted = (budget: Budget): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        budget.bytes(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });

/** The archive as it was before it was packed. */
function plain(path: string, form: ArchiveForm): Readable {
  const packed = createReadStream(path);
  if (form === 'tar') return packed;
  if (form === 'tar.zst') return Readable.from(unpackZstd(packed), { objectMode: false });
  const through = createGunzip();
  pipeline(packed, through).catch((error: unknown) => through.destroy(error as Error));
  return through;
}

/** All of it, or its first bytes; throws where more comes than the entry says. */
async function readAll(from: AsyncIterable<unknown>, most: number, kept = most): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of from) {
    bytes += (chunk as Buffer).length;
    if (bytes > most) throw new SourceError('the entry is larger than its header says');
    // an entry that is left in the middle would end the archive
    if (bytes - (chunk as Buffer).length < kept) chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).subarray(0, kept);
}

/** Why an entry is passed; null: it is a file to look at. */
function passOf(name: string, kind: 'file' | 'link' | 'other'): Passed | null {
  if (!isPlainPath(name)) return { path: shownPath(name), passed: 'names that lead elsewhere', isFault: true };
  const part = foreignPart(name);
  if (part !== null)
    return { path: part, passed: `directories named ${part.slice(part.lastIndexOf('/') + 1)}`, isFault: false };
  if (kind === 'link') return { path: name, passed: 'links', isFault: false };
  if (kind === 'other') return { path: name, passed: 'devices, sockets and pipes', isFault: false };
  return null;
}

const plainName = (name: string): string => name.replace(/^(?:\.\/)+/, '');

function tarKind({ type }: Header): 'file' | 'link' | 'other' | 'directory' {
  if (type === 'file' || type === 'contiguous-file') return 'file';
  if (type === 'directory') return 'directory';
  return type === 'symlink' || type === 'link' ? 'link' : 'other';
}

type TarEntry = AsyncIterable<unknown> & { readonly header: Header; resume(): unknown };

async function* tarItems(from: Readable, budget: Budget): AsyncGenerator<SourceItem> {
  const entries = extract();
  const fed = pipeline(from, counted(budget), entries);
  fed.catch(() => undefined); // the loop below ends with the same error
  try {
    for await (const given of entries) {
      const entry = given as unknown as TarEntry;
      budget.entry();
      const kind = tarKind(entry.header);
      const path = plainName(entry.header.name);
      const passed = kind === 'directory' ? null : passOf(path, kind);
      let isRead = false;
      if (passed !== null) yield passed;
      else if (kind === 'file') {
        const bytes = entry.header.size ?? 0;
        yield {
          path,
          bytes,
          read: async (most) => {
            isRead = true;
            return readAll(entry, bytes, most);
          },
        };
      }
      if (!isRead) entry.resume();
    }
    await fed;
  } finally {
    entries.destroy();
    from.destroy();
  }
}

const unixKind = (entry: ZipEntry): number => (entry.externalFileAttributes >>> 16) & 0o170000;

function zipKind(entry: ZipEntry): 'file' | 'link' | 'other' | 'directory' {
  const kind = unixKind(entry);
  if (entry.fileName.endsWith('/') || kind === 0o040000) return 'directory';
  if (kind === 0o120000) return 'link';
  return kind === 0 || kind === 0o100000 ? 'file' : 'other';
}

async function* zipItems(path: string, budget: Budget): AsyncGenerator<SourceItem> {
  let archive: ZipFile | null = null;
  try {
    const zip = await openPromise(path, { strictFileNames: false, autoClose: false, lazyEntries: true });
    archive = zip;
    for await (const entry of zip.eachEntry()) {
      budget.entry();
      const kind = zipKind(entry);
      if (kind === 'directory') continue;
      const name = plainName(entry.fileName);
      const passed = passOf(name, kind);
      if (passed !== null) yield passed;
      else if (entry.isEncrypted() || !entry.canDecodeFileData())
        yield { path: name, passed: 'the entry is encrypted, or packed in an unknown way', isFault: true };
      else
        yield {
          path: name,
          bytes: entry.uncompressedSize,
          read: async (most) => {
            const from = await zip.openReadStreamPromise(entry);
            const through = counted(budget);
            from.on('error', (error) => through.destroy(error));
            return readAll(from.pipe(through), entry.uncompressedSize, most);
          },
        };
    }
  } finally {
    archive?.close();
  }
}

/** Throws SourceError, also while it is read, for an archive that is damaged or beyond the limits. */
export const archiveSource = (path: string, form: ArchiveForm, limits: SourceLimits = sourceLimits): Source => ({
  total: null,
  isOneFile: false,
  async *items(signal) {
    const { size } = await stat(path);
    const budget = new Budget(limits, size);
    try {
      const items = form === 'zip' ? zipItems(path, budget) : tarItems(plain(path, form), budget);
      for await (const item of items) {
        if (signal.aborted) return;
        yield item;
      }
    } catch (error) {
      if (error instanceof SourceError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new SourceError(`The archive cannot be read to its end (${why.slice(0, 200)}).`);
    }
  },
});
