// A report on the disk, read as its format needs it: whole, in elements, in lines. Every way has its bounds, and what
// is refused names the place.
import { ApiError, beyondBounds } from '#http-kit';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Breath } from '../../kit/values/breath.js';
import { JsonCutter, type Cut, type Spans } from './json-cut.js';

const wholeBytesMax = 32 * 1024 * 1024;
const depthMax = 64;
/** Of a text that is parsed at once: some 150 MB of objects. Reports of 32 MB have about a million. */
const valuesMax = 2_000_000;
const lineBytesMax = 1024 * 1024;

/** Elements that are passed on together: some milliseconds of work for who takes them. */
const atOnce = 30;
/** More records no import takes. */
const elementsMax = 200_000;

export interface ReportFile {
  readonly path: string;
  readonly bytes: number;
}

/** The first bytes, for finding out what it is. */
export async function readBeginning({ path }: ReportFile, most = 65_536): Promise<string> {
  const handle = await open(path);
  try {
    const buffer = Buffer.alloc(most);
    const { bytesRead } = await handle.read(buffer, 0, most, 0);
    return buffer
      .subarray(0, bytesRead)
      .toString('utf8')
      .replace(/^\ufeff/, '');
  } finally {
    await handle.close();
  }
}

/** Throws ApiError 400 for what is no JSON, 413 beyond what is read at once. */
export async function readWhole(file: ReportFile): Promise<string> {
  if (file.bytes > wholeBytesMax)
    throw new ApiError('body_too_large', `A report of this format has at most ${wholeBytesMax} bytes; split it.`);
  return (await readFile(file.path, 'utf8')).replace(/^\ufeff/, '');
}

export async function readJson(file: ReportFile): Promise<unknown> {
  return parseJson(await readWhole(file), 'The report');
}

/** Throws ApiError: 400 for what is no JSON or nests too deep, 413 for more values than are read at once. */
export function parseJson(text: string, what: string): unknown {
  const beyond = beyondBounds(text, { depthMax, valuesMax });
  if (beyond === 'depth') throw new ApiError('nested_too_deep', `${what} nests deeper than ${depthMax} levels.`);
  if (beyond === 'values')
    throw new ApiError('body_too_large', `${what} has more than ${valuesMax} members and elements; split it.`);
  return parseBounded(text, what);
}

/** An element as the readers of elements give it: its depth and its bytes, hence its values, are within bounds. */
export function parseElement(text: string, what: string): unknown {
  return parseBounded(text, what);
}

function parseBounded(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiError('malformed_request', `${what} is no JSON: ${withoutQuotation(error.message)}`);
  }
}

/** The engine quotes ten characters on either side of the place, which may be of a secret. */
const withoutQuotation = (message: string): string =>
  message
    .replace(/,? ?(?:\.\.\.)?"[\s\S]*"(?:\.\.\.)?/, '')
    .trim()
    .slice(0, 200);

export interface Around {
  /** The document without the elements of its large list. */
  readonly rest: unknown;
  /** The elements, some at a time, found again without a second look at the structure. */
  readonly elements: () => AsyncGenerator<readonly Cut[]>;
}

/** Throws ApiError: 400 for what is no JSON, 413 for more than `elementsMax` elements or what is too large. */
export async function readAround(file: ReportFile, path: readonly string[]): Promise<Around> {
  const cutter = new JsonCutter({
    path,
    elementBytesMax: lineBytesMax,
    restBytesMax: wholeBytesMax,
    depthMax,
    spansMax: elementsMax,
  });
  const breath = new Breath();
  for await (const chunk of readPieces(file)) {
    cutter.push(chunk);
    await breath.take();
  }
  return { rest: parseJson(cutter.end(), 'The report'), elements: () => elementsAt(file, cutter.spans) };
}

async function* elementsAt(file: ReportFile, spans: Spans): AsyncGenerator<readonly Cut[]> {
  const breath = new Breath();
  let [next, before] = [0, 0];
  /** Of an element that began in an earlier piece. */
  let begun: Buffer[] = [];
  let found: Cut[] = [];
  for await (const piece of readPieces(file)) {
    const after = before + piece.length;
    while (next < spans.count && spans.begin(next) < after) {
      const part = piece.subarray(Math.max(spans.begin(next) - before, 0), spans.end(next) - before);
      if (spans.end(next) > after) {
        begun.push(Buffer.from(part)); // the buffer of pieces is used again
        break;
      }
      const bytes = begun.length === 0 ? part : Buffer.concat([...begun, part]);
      begun = [];
      found.push({ at: spans.at(next++), text: bytes.toString('utf8') });
      if (found.length < atOnce) continue;
      yield found;
      found = [];
      await breath.take();
    }
    before = after;
  }
  if (found.length > 0) yield found;
}

export async function* readElements(file: ReportFile, path: readonly string[]): AsyncGenerator<Cut> {
  const cutter = new JsonCutter({ path, elementBytesMax: lineBytesMax, restBytesMax: wholeBytesMax, depthMax });
  const breath = new Breath();
  for await (const chunk of readPieces(file))
    for (const cut of cutter.push(chunk)) {
      yield cut;
      await breath.take();
    }
  cutter.end();
}

const pieceBytes = 262_144;

/**
 * The bytes in pieces, each of which holds until the next is asked for: one buffer serves the whole file. A stream has
 * a new one each time, outside of what the collector of garbage looks at, and a large report left tens of megabytes.
 */
async function* readPieces({ path }: ReportFile): AsyncGenerator<Buffer> {
  const handle = await open(path);
  try {
    const buffer = Buffer.allocUnsafeSlow(pieceBytes);
    for (let isFirst = true; ; isFirst = false) {
      const { bytesRead } = await handle.read(buffer, 0, pieceBytes);
      if (bytesRead === 0) return;
      const piece = buffer.subarray(0, bytesRead);
      yield isFirst ? withoutMark(piece) : piece;
    }
  } finally {
    await handle.close();
  }
}

/** Without the mark of its encoding, which a file may begin with. */
const withoutMark = (beginning: Buffer): Buffer =>
  beginning[0] === 0xef && beginning[1] === 0xbb && beginning[2] === 0xbf ? beginning.subarray(3) : beginning;

/** Lines with their numbers, from 1. Throws ApiError 413 for one that is too long. */
export async function* readLines(file: ReportFile): AsyncGenerator<readonly [number, string]> {
  const stream = createReadStream(file.path, { encoding: 'utf8' });
  const lines = createInterface({ input: stream, crlfDelay: Infinity });
  let failure: Error | null = null;
  // the reader of lines passes no failure of its stream on: it would wait for ever, or end as if all had been read
  stream.on('error', (error) => {
    failure = error;
    lines.close();
  });
  let number = 0;
  try {
    for await (const line of lines) {
      number++;
      if (line.length > lineBytesMax)
        throw new ApiError('body_too_large', `Line ${number} is longer than ${lineBytesMax} bytes.`);
      if (line.trim() !== '') yield [number, line.replace(/^\ufeff/, '')];
    }
  } finally {
    stream.destroy();
  }
  if (failure !== null) throw failure as Error;
}
