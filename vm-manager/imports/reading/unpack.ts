// Reports that come packed: gzip (RFC 1952), tar, tar in gzip, zip. An archive holds one report, or the request names
// the entry. Names of entries are compared and never become paths; links, devices, encrypted entries and archives
// within archives are refused; sizes are counted while the bytes come, whatever the headers say (CWE-22, CWE-409).
import { ApiError } from '#http-kit';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { openPromise, type Entry as ZipEntry, type ZipFile } from 'yauzl';
import { unfit } from '../../kit/endpoint.js';
import type { ReportFile } from './report-file.js';

/** Entries of an archive, directories counted. */
export const entriesMax = 1000;
/** Bytes that one packed byte may become; reports of tools reach sixty. */
export const ratioMax = 200;
/** So much may come of anything, however few bytes it was. */
const ratioFreeBytes = 1024 * 1024;
const nameLengthMax = 255;
const namesShown = 5;

export interface UnpackRules {
  /** Unpacked. */
  readonly bytesMax: number;
  /** Which entry is the report; null: the only one. */
  readonly entry: string | null;
}

type Packing = 'gzip' | 'zip' | 'tar';

const malformed = (what: string, error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(
        'malformed_request',
        `The ${what} cannot be read: ${(error instanceof Error ? error.message : String(error)).slice(0, 200)}.`,
      );

/** By the first bytes; null for what is not packed. */
async function packingOf(path: string): Promise<Packing | null> {
  const handle = await open(path);
  try {
    const head = Buffer.alloc(512);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    if (bytesRead >= 3 && head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
    // an empty archive begins with the record that ends every other one
    if (bytesRead >= 4 && /^PK(?:\x03\x04|\x05\x06)/.test(head.toString('latin1', 0, 4))) return 'zip';
    return bytesRead === 512 && head.toString('latin1', 257, 262) === 'ustar' ? 'tar' : null;
  } finally {
    await handle.close();
  }
}

/**
 * The report of a file that was sent: the file itself, or what it holds, beside it on the disk (the directory is
 * removed with the request). Throws ApiError 400, 413 or 422; `rules.entry` is heeded for archives only.
 */
export async function unpack(file: ReportFile, rules: UnpackRules): Promise<ReportFile> {
  const packing = await packingOf(file.path);
  if (packing === null) return file;
  const target = `${file.path}.report`;
  if (packing === 'zip')
    return (rules.entry === null ? await unpackFpr(file, target, rules) : null) ?? unzip(file, target, rules);
  if (packing === 'tar') return untar(file.path, target, rules);
  const plain = `${file.path}.plain`;
  await pipeline(createReadStream(file.path), createGunzip(), bounded(rules.bytesMax, file.bytes), writer(plain)).catch(
    (error: unknown) => {
      throw malformed('gzip file', error);
    },
  );
  const within = await packingOf(plain);
  if (within === 'tar') return untar(plain, target, rules);
  if (within !== null) throw unfit('file', 'is packed twice', 'send the report itself, or packed once');
  return reportAt(plain);
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
const writer = (path: string) => createWriteStream(path, { flags: 'wx', mode: 0o600 });
const appender = (path: string) => createWriteStream(path, { flags: 'a', mode: 0o600 });

async function reportAt(path: string): Promise<ReportFile> {
  const { size } = await stat(path);
  if (size === 0) throw unfit('file', 'is empty');
  return { path, bytes: size };
}

/** Ends the stream with an error once more comes out than is taken, or than the packed bytes may become. */
function bounded(bytesMax: number, packedBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > bytesMax) return done(tooLarge(bytesMax));
      if (bytes > ratioFreeBytes && bytes > packedBytes * ratioMax) return done(tooDense());
      done(null, chunk);
    },
  });
}

const tooLarge = (bytesMax: number): ApiError =>
  new ApiError('body_too_large', `The file is larger than ${bytesMax} bytes when it is unpacked.`);
const tooDense = (): ApiError =>
  new ApiError('body_too_large', `The file becomes more than ${ratioMax} times as large when it is unpacked.`);

/** Looks at every entry; says which of them is the report. */
class Choice {
  readonly #wanted: string | null;
  readonly #files: string[] = [];
  #entries = 0;

  constructor(wanted: string | null) {
    this.#wanted = wanted;
  }

  /** True for the entry to be written. Throws for an archive that is not taken. */
  take(name: string, kind: 'file' | 'directory' | 'other'): boolean {
    if (++this.#entries > entriesMax)
      throw new ApiError('body_too_large', `The archive has more than ${entriesMax} entries.`);
    if (!isPlainName(name))
      throw unfit('file', `has an entry whose name leads elsewhere (${JSON.stringify(name.slice(0, 80))})`);
    if (kind === 'other') throw unfit('file', `has an entry that is no file (${JSON.stringify(name.slice(0, 80))})`);
    if (kind === 'directory' || isLitter(name)) return false;
    this.#files.push(name);
    if (this.#wanted !== null) return name === this.#wanted && this.#files.indexOf(name) === this.#files.length - 1;
    return this.#files.length === 1;
  }

  /** Throws where the report is not one. */
  end(): void {
    if (this.#files.length === 0) throw unfit('file', 'holds no report');
    if (this.#wanted !== null) {
      const times = this.#files.filter((name) => name === this.#wanted).length;
      if (times === 1) return;
      throw unfit('entry', `names ${times === 0 ? 'no' : 'more than one'} file of the archive`, this.#told());
    }
    if (this.#files.length > 1)
      throw unfit('file', `holds ${this.#files.length} files`, `name the report with "entry", ${this.#told()}`);
  }

  #told(): string {
    const more = this.#files.length > namesShown ? ', …' : '';
    return `such as ${this.#files.slice(0, namesShown).join(', ')}${more}`;
  }
}

/** A relative path downwards. */
function isPlainName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (name.length === 0 || name.length > nameLengthMax || /[\u0000-\u001f\\]/.test(name)) return false;
  return !name.startsWith('/') && !/^[A-Za-z]:/.test(name) && !name.split('/').includes('..');
}

/** What desktop systems add to archives. */
const isLitter = (name: string): boolean => name.startsWith('__MACOSX/') || /(?:^|\/)\.DS_Store$/.test(name);

async function untar(path: string, target: string, rules: UnpackRules): Promise<ReportFile> {
  const choice = new Choice(rules.entry);
  const entries = extract();
  const fed = pipeline(createReadStream(path), bounded(rules.bytesMax, Number.MAX_SAFE_INTEGER), entries);
  fed.catch(() => undefined); // the loop below ends with the same error
  try {
    for await (const entry of entries) await takeTarEntry(entry, choice, target);
    await fed;
  } catch (error) {
    entries.destroy();
    throw malformed('tar archive', error);
  }
  choice.end();
  return reportIn(target);
}

type TarEntry = AsyncIterable<unknown> & { readonly header: Header };

async function takeTarEntry(entry: TarEntry, choice: Choice, target: string): Promise<void> {
  const { name, type } = entry.header;
  const kind = type === 'file' ? 'file' : type === 'directory' ? 'directory' : 'other';
  if (choice.take(name.replace(/^\.\//, '') || './', kind)) await pipeline(entry, writer(target));
  else await pipeline(entry, nowhere());
}

/** An archive in an archive is no report. */
async function reportIn(path: string): Promise<ReportFile> {
  const report = await reportAt(path);
  if ((await packingOf(path)) !== null) throw unfit('file', 'is packed twice', 'send the report packed once');
  return report;
}

const unixKind = (entry: ZipEntry): number => (entry.externalFileAttributes >>> 16) & 0o170000;
const regularFile = 0o100000;
const directory = 0o040000;

function kindOf(entry: ZipEntry): 'file' | 'directory' | 'other' {
  const kind = unixKind(entry);
  if (entry.fileName.endsWith('/') || kind === directory) return 'directory';
  return kind === 0 || kind === regularFile ? 'file' : 'other';
}

async function unzip(file: ReportFile, target: string, rules: UnpackRules): Promise<ReportFile> {
  const choice = new Choice(rules.entry);
  let archive: ZipFile | null = null;
  try {
    archive = await openPromise(file.path, { strictFileNames: true, autoClose: false, lazyEntries: true });
    if (archive.entryCount > entriesMax)
      throw new ApiError('body_too_large', `The archive has more than ${entriesMax} entries.`);
    for await (const entry of archive.eachEntry())
      if (choice.take(entry.fileName, kindOf(entry))) await writeZipEntry(archive, entry, target, rules);
  } catch (error) {
    throw malformed('zip archive', error);
  } finally {
    archive?.close();
  }
  choice.end();
  return reportIn(target);
}

/** With the sources that were scanned, which are never unpacked. */
const fprEntriesMax = 20_000;

/**
 * The report of a Fortify project (FPR) and what people have audited in it, which are two documents, as one that
 * `formats/products/fortify.ts` reads; null: it is another archive.
 */
async function unpackFpr(file: ReportFile, target: string, rules: UnpackRules): Promise<ReportFile | null> {
  let archive: ZipFile | null = null;
  try {
    archive = await openPromise(file.path, { strictFileNames: true, autoClose: false, lazyEntries: true });
    const found = await fprEntries(archive);
    const report = found?.get('audit.fvdl');
    if (found === null || report === undefined) return null;
    await pipeline(Readable.from(['<fortify-fpr>']), writer(target));
    for (const entry of [found.get('audit.xml'), report])
      if (entry !== undefined) await writeZipEntry(archive, entry, target, rules, withoutDeclaration());
    await pipeline(Readable.from(['</fortify-fpr>']), appender(target));
  } catch (error) {
    throw malformed('zip archive', error);
  } finally {
    archive?.close();
  }
  const made = await reportAt(target);
  if (made.bytes > rules.bytesMax) throw tooLarge(rules.bytesMax);
  return made;
}

/** What of it is read, by name; null: it is no FPR, or nothing that is taken, which `unzip` says. */
async function fprEntries(archive: ZipFile): Promise<ReadonlyMap<string, ZipEntry> | null> {
  if (archive.entryCount > fprEntriesMax) return null;
  const found = new Map<string, ZipEntry>();
  try {
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName !== 'audit.fvdl' && entry.fileName !== 'audit.xml') continue;
      if (kindOf(entry) !== 'file' || found.has(entry.fileName)) return null;
      found.set(entry.fileName, entry);
    }
  } catch {
    return null; // `unzip` reads it again, and says what is wrong
  }
  return found;
}

/** Takes away what may only stand at the beginning of a document of XML. */
function withoutDeclaration(): Transform {
  let begun: Buffer | null = Buffer.alloc(0);
  const cut = (bytes: Buffer): Buffer =>
    Buffer.from(bytes.toString('latin1').replace(/^(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,200}\?>/, ''), 'latin1');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (begun === null) return done(null, chunk);
      begun = Buffer.concat([begun, chunk]);
      if (begun.length < 512) return done();
      const first = cut(begun);
      begun = null;
      done(null, first);
    },
    flush(done) {
      done(null, begun === null ? undefined : cut(begun));
    },
  });
}

/** `through`: it is one of several documents that are written behind each other. */
async function writeZipEntry(
  archive: ZipFile,
  entry: ZipEntry,
  target: string,
  rules: UnpackRules,
  through?: Transform,
): Promise<void> {
  if (entry.isEncrypted()) throw unfit('file', 'has an encrypted entry');
  if (!entry.canDecodeFileData()) throw unfit('file', 'has an entry that is packed in a way that is not known');
  const from = await archive.openReadStreamPromise(entry);
  const counted = bounded(rules.bytesMax, entry.compressedSize);
  if (through === undefined) await pipeline(from, counted, writer(target));
  else await pipeline(from, counted, through, appender(target));
}
