// The published sets as they are: EPSS as CSV (FIRST: a comment with model and date, then cve,epss,percentile), KEV as
// JSON (CISA: `vulnerabilities[]`). Either may come compressed by gzip. A row that cannot be read is dropped and told.
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ApiError } from '#http-kit';
import { unfit } from '../kit/endpoint.js';
import { isZip } from '../osv/read-osv.js';
import type { Cut } from '../imports/reading/json-cut.js';
import { parseJson, readAround, readBeginning, readLines, type ReportFile } from '../imports/reading/report-file.js';

export const setNames = ['epss', 'kev', 'osv'] as const;
export type SetName = (typeof setNames)[number];

export interface EpssRow {
  readonly cve: string;
  readonly epss: number;
  readonly percentile: number;
}
export interface KevRow {
  readonly cve: string;
  readonly added: string | null;
  readonly due: string | null;
  readonly ransomware: boolean;
}
export interface DroppedRow {
  readonly dropped: string;
  /** A line, or a JSON pointer. */
  readonly at: string;
}

/** What the set says of itself. */
export interface SetHead {
  /** Day that it is of; null: it does not say. */
  readonly date: string | null;
  /** Of the model, or of the catalogue. */
  readonly version: string;
}

const unpackedBytesMax = 256 * 1024 * 1024;
const cveForm = /^CVE-\d{4}-\d{4,19}$/;
const dayForm = /^\d{4}-\d{2}-\d{2}/;

/** The file, unpacked beside it where it is compressed. Throws 413 beyond the bound, 422 for damaged bytes. */
export async function unpack(file: ReportFile): Promise<ReportFile> {
  const beginning = await readFirst(file);
  if (beginning[0] !== 0x1f || beginning[1] !== 0x8b) return file;
  const path = `${file.path}.unpacked`;
  let bytes = 0;
  const bound = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > unpackedBytesMax)
        return done(new ApiError('body_too_large', `The set is larger than ${unpackedBytesMax} bytes, unpacked.`));
      done(null, chunk);
    },
  });
  try {
    await pipeline(createReadStream(file.path), createGunzip(), bound, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw unfit('file', 'cannot be unpacked: it is damaged, or no gzip');
  }
  return { path, bytes: (await stat(path)).size };
}

async function readFirst({ path }: ReportFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: 1 })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** By its beginning; throws 422 for what is none of them. */
export async function recognise(file: ReportFile): Promise<SetName> {
  const beginning = (await readBeginning(file)).trimStart();
  if (beginning.startsWith('[') || (await isZip(file))) return 'osv';
  if (beginning.startsWith('{'))
    return /"(?:catalogVersion|cveID|vulnerabilities)"\s*:/.test(beginning) ||
      !/"(?:affected|modified|vulns)"\s*:/.test(beginning)
      ? 'kev'
      : 'osv';
  if (beginning.startsWith('#model_version') || /^"?cve"?\s*,/i.test(beginning)) return 'epss';
  throw unfit(
    'file',
    'is neither EPSS (CSV) nor KEV (JSON) nor OSV (zip, NDJSON, JSON)',
    'send the file as it is published, packed by gzip or not',
  );
}

export interface ReadSet<Row> {
  readonly head: SetHead;
  readonly rows: AsyncGenerator<Row | DroppedRow>;
}

const share = (text: string | undefined): number | null => {
  if (text === undefined || !/^(?:0|1|0?\.\d{1,20}|[01]\.\d{0,20}|\d(?:\.\d{1,20})?e-\d{1,2})$/i.test(text))
    return null;
  const number = Number(text);
  return number >= 0 && number <= 1 ? number : null;
};

/** Throws 422 for a file without the columns. */
export async function readEpss(file: ReportFile): Promise<ReadSet<EpssRow>> {
  const beginning = await readBeginning(file, 4096);
  const comment = /^#(.*)$/m.exec(beginning)?.[1] ?? '';
  const date = /score_date:\s*(\d{4}-\d{2}-\d{2})/.exec(comment)?.[1] ?? null;
  const version = /model_version:\s*([\w.-]{1,60})/.exec(comment)?.[1] ?? '';
  const columns = (beginning.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '')
    .split(',')
    .map((name) => name.trim().replaceAll('"', '').toLowerCase());
  const [cveAt, epssAt, percentileAt] = ['cve', 'epss', 'percentile'].map((name) => columns.indexOf(name));
  if (cveAt === undefined || cveAt < 0 || epssAt === undefined || epssAt < 0)
    throw unfit('file', 'has no columns cve and epss', 'send the CSV as it is published');
  async function* rows(): AsyncGenerator<EpssRow | DroppedRow> {
    let isHead = true;
    for await (const [line, text] of readLines(file)) {
      if (text.startsWith('#')) continue;
      if (isHead) {
        isHead = false;
        continue;
      }
      const fields = text.split(',').map((field) => field.trim().replaceAll('"', ''));
      const cve = (fields[cveAt ?? 0] ?? '').toUpperCase();
      const epss = share(fields[epssAt ?? 1]);
      const percentile = percentileAt === undefined || percentileAt < 0 ? 0 : share(fields[percentileAt]);
      const at = `line ${line}`;
      if (!cveForm.test(cve)) yield { dropped: 'names no CVE', at };
      else if (epss === null) yield { dropped: 'epss is no number from 0 to 1', at };
      else if (percentile === null) yield { dropped: 'percentile is no number from 0 to 1', at };
      else yield { cve, epss, percentile };
    }
  }
  return { head: { date, version }, rows: rows() };
}

const textIn = (fields: Readonly<Record<string, unknown>>, name: string): string =>
  typeof fields[name] === 'string' ? fields[name] : '';

/** A day that the calendar has; null for anything else. */
function dayOf(text: string): string | null {
  const day = dayForm.exec(text)?.[0];
  if (day === undefined) return null;
  const at = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== day ? null : day;
}

function kevRowOf({ at: place, text }: Cut): KevRow | DroppedRow {
  const at = `/vulnerabilities/${place.join('/')}`;
  const value = parseJson(text, at);
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const cve = textIn(fields, 'cveID').toUpperCase();
  if (!cveForm.test(cve)) return { dropped: 'cveID names no CVE', at };
  return {
    cve,
    added: dayOf(textIn(fields, 'dateAdded')),
    due: dayOf(textIn(fields, 'dueDate')),
    ransomware: /^known$/i.test(textIn(fields, 'knownRansomwareCampaignUse')),
  };
}

/** Throws 400 for what is no JSON, 422 for a document without `vulnerabilities`. */
export async function readKev(file: ReportFile): Promise<ReadSet<KevRow>> {
  const { rest, elements } = await readAround(file, ['vulnerabilities', '*']);
  const head = (typeof rest === 'object' && rest !== null ? rest : {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(head['vulnerabilities']))
    throw unfit('file', 'has no list "vulnerabilities"', 'send the JSON catalogue as it is published');
  async function* rows(): AsyncGenerator<KevRow | DroppedRow> {
    for await (const some of elements()) yield* some.map(kevRowOf);
  }
  return {
    head: { date: dayOf(textIn(head, 'dateReleased')), version: textIn(head, 'catalogVersion').slice(0, 60) },
    rows: rows(),
  };
}
