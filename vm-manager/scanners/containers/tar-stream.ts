// Archives within archives as streams: an image is a tar of layers, and a layer is a tar that may be packed, whatever
// its name says. Nothing is unpacked to the disk.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import type { Budget } from '../sources/source.js';
import { unpackZstd } from '../sources/zstd/stream.js';

export interface TarEntry {
  readonly header: Header;
  /** No more than its first bytes; the rest is passed over. */
  read(most: number): Promise<Buffer>;
  /** All of it as it comes. */
  bytes(): AsyncIterable<Buffer>;
}

/** blobs/sha256/NAME */
const directoryDepthMax = 4;
const gzip = Buffer.from([0x1f, 0x8b]);
const zstd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Its first bytes and all of it. */
async function peek(from: AsyncIterable<Buffer>): Promise<{ head: Buffer; all: AsyncIterable<Buffer> }> {
  const items = from[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  let isOver = false;
  while (head.length < 4 && !isOver) {
    const next = await items.next();
    isOver = next.done === true;
    if (next.done !== true) head = Buffer.concat([head, next.value]);
  }
  return {
    head,
    all: (async function* () {
      if (head.length > 0) yield head;
      if (!isOver) yield* { [Symbol.asyncIterator]: () => items };
    })(),
  };
}

export interface Unpacked {
  readonly entries: AsyncIterable<TarEntry>;
  /** SHA-256 of the plain tar, once all entries were read. */
  sum(): string;
}

/** Entries of a tar that may be packed with gzip or Zstandard. Throws SourceError beyond the budget. */
export async function unpack(from: AsyncIterable<Buffer>, budget: Budget): Promise<Unpacked> {
  const { head, all } = await peek(from);
  const hash = createHash('sha256');
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        budget.bytes(chunk.length);
        hash.update(chunk);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  const isZstd = head.subarray(0, 4).equals(zstd);
  const source = Readable.from(isZstd ? unpackZstd(all) : all, { objectMode: false });
  const tar = extract();
  const isPacked = head.subarray(0, 2).equals(gzip);
  const fed = isPacked ? pipeline(source, createGunzip(), counted, tar) : pipeline(source, counted, tar);
  fed.catch(() => undefined); // the loop over the entries ends with the same error
  return { entries: entriesOf(tar, fed, budget, source), sum: () => hash.digest('hex') };
}

async function* entriesOf(
  tar: ReturnType<typeof extract>,
  fed: Promise<unknown>,
  budget: Budget,
  source: Readable,
): AsyncGenerator<TarEntry> {
  try {
    for await (const given of tar) {
      const entry = given as unknown as AsyncIterable<Buffer> & { readonly header: Header; resume(): unknown };
      budget.entry();
      let isRead = false;
      yield {
        header: entry.header,
        async read(most) {
          isRead = true;
          const chunks: Buffer[] = [];
          let length = 0;
          for await (const chunk of entry) {
            if (length < most) chunks.push(chunk);
            length += chunk.length;
          }
          return Buffer.concat(chunks).subarray(0, most);
        },
        bytes() {
          isRead = true;
          return entry;
        },
      };
      if (!isRead) entry.resume();
    }
    await fed;
  } finally {
    tar.destroy();
    source.destroy();
  }
}

/** Entries of the archive in a file; of a directory (an OCI layout that was unpacked) its files. */
export const unpackFile = async (path: string, budget: Budget): Promise<Unpacked> =>
  (await stat(path)).isDirectory()
    ? { entries: entriesOfDirectory(path, budget), sum: () => '' }
    : unpack(createReadStream(path), budget);

/** Links are passed: nothing outside of the directory is read. */
async function* entriesOfDirectory(root: string, budget: Budget, within = ''): AsyncGenerator<TarEntry> {
  const names = await readdir(join(root, within), { withFileTypes: true });
  for (const one of names.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const name = within === '' ? one.name : `${within}/${one.name}`;
    const at = join(root, name);
    budget.entry();
    if (one.isDirectory() && name.split('/').length < directoryDepthMax) yield* entriesOfDirectory(root, budget, name);
    if (!one.isFile()) continue;
    const { size } = await stat(at);
    budget.bytes(size);
    yield {
      header: { name, size, type: 'file' } as Header,
      read: async (most) => {
        const parts: Buffer[] = [];
        for await (const part of createReadStream(at, { end: Math.max(0, Math.min(most, size) - 1) }))
          parts.push(part as Buffer);
        return Buffer.concat(parts);
      },
      bytes: () => createReadStream(at),
    };
  }
}

/** As entries are called within an image: no `./`, no `/` at either end. */
export function innerName(name: string): string {
  const inner = name.replace(/^(?:\.?\/)+/, '');
  // without an expression: names have up to 4 MB, and a million slashes in one would take hours
  let end = inner.length;
  while (end > 0 && inner.charCodeAt(end - 1) === 0x2f) end -= 1;
  return inner.slice(0, end);
}
