// ZIP archives (APPNOTE 6.3): written with one time for all entries, so that the same content gives the same bytes, and
// read back whole within bounds.
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';

export interface ZipEntry {
  readonly path: string;
  readonly content: Buffer;
}

/** 1 January 1980, the first day that the format has: moments stand in the manifest. */
const dosDay = 0x21;
const deflated = 8;
const utf8Names = 0x800;
const versionNeeded = 20;

interface Written {
  readonly head: Buffer;
  readonly directory: Buffer;
}

const deflate = promisify(deflateRaw) as (content: Buffer, options: { readonly level: number }) => Promise<Buffer>;

async function writeEntry({ path, content }: ZipEntry, offset: number): Promise<Written & { readonly body: Buffer }> {
  const name = Buffer.from(path, 'utf8');
  const body = await deflate(content, { level: 9 });
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(versionNeeded, 0);
  facts.writeUInt16LE(utf8Names, 2);
  facts.writeUInt16LE(deflated, 4);
  facts.writeUInt16LE(dosDay, 8);
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(body.length, 14);
  facts.writeUInt32LE(content.length, 18);
  facts.writeUInt16LE(name.length, 22);
  const head = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), facts, name]);
  const ends = Buffer.alloc(14);
  ends.writeUInt32LE((0o100644 << 16) >>> 0, 6); // a plain file that its owner may write
  ends.writeUInt32LE(offset, 10);
  const made = Buffer.from([versionNeeded, 3]); // by Unix, so that the mode counts
  return { head, body, directory: Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), made, facts, ends, name]) };
}

/** Off the event loop: large files take seconds. */
export async function writeZip(entries: readonly ZipEntry[]): Promise<Buffer> {
  const [pieces, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const entry of entries) {
    const written = await writeEntry(entry, offset);
    pieces.push(written.head, written.body);
    directory.push(written.directory);
    offset += written.head.length + written.body.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...pieces, index, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

const entriesMax = 2000;

/** Every entry by its path. Throws an Error with words for people for what is no such archive, or is too large. */
export async function readZip(bytes: Buffer, contentMax: number): Promise<ReadonlyMap<string, Buffer>> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, validateEntrySizes: true });
  const entries = new Map<string, Buffer>();
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    total += entry.uncompressedSize;
    if (entries.size >= entriesMax) throw new Error(`it has more than ${entriesMax} files`);
    if (total > contentMax) throw new Error(`its files are larger than ${contentMax} bytes together`);
    if (entries.has(entry.fileName)) throw new Error(`it has ${entry.fileName.slice(0, 100)} twice`);
    const content = await buffer(await zip.openReadStreamPromise(entry));
    if (crc32(content) !== entry.crc32) throw new Error(`${entry.fileName.slice(0, 100)} is damaged`);
    entries.set(entry.fileName, content);
  }
  return entries;
}
