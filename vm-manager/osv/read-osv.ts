// Files of advisories as they are published: a zip of records (one JSON file each), records in lines (NDJSON), a list,
// `{"vulns": […]}` as the API of OSV answers, or one record. What cannot be read is dropped and told.
import { ApiError } from '#http-kit';
import { open } from 'node:fs/promises';
import { openPromise, type Entry as ZipEntry, type ZipFile } from 'yauzl';
import {
  parseJson,
  readBeginning,
  readElements,
  readLines,
  readWhole,
  type ReportFile,
} from '../imports/reading/report-file.js';
import { unfit } from '../kit/endpoint.js';
import { readAdvisory, type Advisory } from './advisory.js';

export interface DroppedAdvisory {
  readonly dropped: string;
  /** A line, a JSON pointer, or the name of a file in the archive. */
  readonly at: string;
}
export type AdvisoryItem = Advisory | DroppedAdvisory;

/** Files of one archive; the largest ecosystem has a third of it. */
const entriesMax = 600_000;
const recordBytesMax = 4 * 1024 * 1024;
const unpackedBytesMax = 4 * 1024 * 1024 * 1024;

const itemOf = (value: unknown, at: string): AdvisoryItem => {
  const read = readAdvisory(value);
  return typeof read === 'string' ? { dropped: read, at } : read;
};

/** A record that is no JSON is one record that is dropped, where the others stand by themselves. */
function itemOfText(text: string, at: string): AdvisoryItem {
  try {
    return itemOf(parseJson(text, at), at);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { dropped: 'is no JSON', at };
  }
}

export async function isZip({ path }: ReportFile): Promise<boolean> {
  const handle = await open(path);
  try {
    const head = Buffer.alloc(4);
    await handle.read(head, 0, 4, 0);
    return head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5);
  } finally {
    await handle.close();
  }
}

/** Throws ApiError 400, 413 or 422 for a file that is none of these. */
export async function* readAdvisories(file: ReportFile): AsyncGenerator<AdvisoryItem> {
  if (await isZip(file)) return yield* readZip(file);
  const beginning = (await readBeginning(file)).trimStart();
  if (beginning.startsWith('[')) return yield* readList(file, ['*']);
  if (/^\{\s*"vulns"\s*:/.test(beginning)) return yield* readList(file, ['vulns', '*']);
  const [line = ''] = beginning.split('\n');
  if (isObject(line) || beginning.length > line.length + 65_000) return yield* readNdjson(file);
  yield itemOf(parseJson(await readWhole(file), 'The file'), '/');
}

/** The first line is a record by itself: so are the others. */
function isObject(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return false;
  }
}

async function* readNdjson(file: ReportFile): AsyncGenerator<AdvisoryItem> {
  for await (const [number, line] of readLines(file)) yield itemOfText(line, `line ${number}`);
}

async function* readList(file: ReportFile, path: readonly string[]): AsyncGenerator<AdvisoryItem> {
  const base = path.slice(0, -1).map((name) => `/${name}`);
  for await (const { at, text } of readElements(file, path)) yield itemOfText(text, `${base.join('')}/${at.join('/')}`);
}

async function* readZip({ path }: ReportFile): AsyncGenerator<AdvisoryItem> {
  let archive: ZipFile | null = null;
  let bytes = 0;
  try {
    archive = await openPromise(path, { autoClose: false, lazyEntries: true });
    if (archive.entryCount > entriesMax)
      throw new ApiError('body_too_large', `The archive has more than ${entriesMax} entries.`);
    for await (const entry of archive.eachEntry()) {
      // names are shown and never become paths
      const at = entry.fileName.slice(0, 200);
      if (!entry.fileName.endsWith('.json')) {
        if (!entry.fileName.endsWith('/')) yield { dropped: 'is no JSON file', at };
        continue;
      }
      const text = await readEntry(archive, entry);
      if (text === null) yield { dropped: `is larger than ${recordBytesMax} bytes, or cannot be unpacked`, at };
      else {
        if ((bytes += text.length) > unpackedBytesMax)
          throw new ApiError('body_too_large', `The archive is larger than ${unpackedBytesMax} bytes, unpacked.`);
        yield itemOfText(text, at);
      }
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw unfit('file', 'cannot be unpacked', 'it is damaged, or no zip archive');
  } finally {
    archive?.close();
  }
}

/** null: too large, encrypted, or packed in a way that is not known. */
async function readEntry(archive: ZipFile, entry: ZipEntry): Promise<string | null> {
  if (entry.uncompressedSize > recordBytesMax || entry.isEncrypted() || !entry.canDecodeFileData()) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of await archive.openReadStreamPromise(entry)) {
    bytes += (chunk as Buffer).length;
    if (bytes > recordBytesMax) return null; // the header said less
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
