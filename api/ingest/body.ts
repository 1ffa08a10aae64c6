// Bodies of records: JSON, one object or a list, or a line each (NDJSON), also compressed. Read by themselves, not by
// the parser of other routes, because one bad record must not spoil the batch around it.
import type { FastifyRequest } from 'fastify';
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import type { Readable } from 'node:stream';
import type { App } from '../http-kit/app.js';
import { ApiError } from '../http-kit/problem.js';
import type { Rejected } from './exchange.js';

/** As it comes, and after decompression. */
export const wireBytesMax = 32 * 1024 * 1024;
export const textBytesMax = 48 * 1024 * 1024;
export const recordsMax = 50_000;
const lineCharsMax = 1024 * 1024;

/** The media type under which the routes of records read their bodies, whatever the client called it. */
const ownType = 'application/vnd.gatehouse.records';

/** As it came. */
export interface RecordBytes {
  readonly bytes: Uint8Array;
  /** A name of `decoders`; '': none. */
  readonly coding: string;
  readonly isLines: boolean;
}

export interface RecordText {
  readonly text: string;
  /** The client says that there is one record a line. */
  readonly isLines: boolean;
}

type Decode = (bytes: Uint8Array, options: ZlibOptions) => Buffer;
const decoders: Readonly<Record<string, Decode>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Once for an app: the parser behind `takesRecords`. */
export function registerRecordBodies(app: App): void {
  app.addContentTypeParser(ownType, (request, payload, done) => {
    receive(request, payload).then(
      (body) => done(null, body),
      (error: unknown) => done(error as Error),
    );
  });
}

/** The `preParsing` hook of a route that takes records. */
export async function takesRecords(request: FastifyRequest): Promise<void> {
  const { headers } = request.raw;
  const type = (headers['content-type'] ?? 'application/json').toLowerCase();
  if (!/json|text\/plain/.test(type))
    throw new ApiError('media_type_unsupported', `Records are JSON or NDJSON, not ${type.slice(0, 100)}.`);
  request.raw.headers['x-gatehouse-lines'] = /ndjson|jsonl|json-lines|json-seq|text\/plain/.test(type) ? '1' : '';
  request.raw.headers['content-type'] = ownType;
}

const tooLarge = (bytes: number): ApiError =>
  new ApiError('body_too_large', `Records of one request have at most ${bytes} bytes; send them in several.`);

async function receive(request: FastifyRequest, payload: Readable): Promise<RecordBytes> {
  const coding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  const isLines = request.headers['x-gatehouse-lines'] === '1';
  if (coding !== 'identity' && !Object.hasOwn(decoders, coding))
    throw new ApiError('media_type_unsupported', `The coding ${coding.slice(0, 50)} is not known; use gzip.`);
  const chunks: Buffer[] = [];
  let wireBytes = 0;
  try {
    for await (const chunk of payload as AsyncIterable<Buffer>) {
      wireBytes += chunk.length;
      if (wireBytes > wireBytesMax) throw tooLarge(wireBytesMax);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('malformed_request', 'The body did not come whole.');
  }
  return { bytes: Buffer.concat(chunks), coding: coding === 'identity' ? '' : coding, isLines };
}

/** Undoes the content coding; at once, so not for large bodies on the thread that answers. Throws ApiError. */
export function unpack({ bytes, coding, isLines }: RecordBytes): RecordText {
  const decode = decoders[coding];
  if (decode === undefined) {
    if (bytes.length > textBytesMax) throw tooLarge(textBytesMax);
    return { text: textOf(bytes), isLines };
  }
  try {
    return { text: textOf(decode(bytes, { maxOutputLength: textBytesMax })), isLines };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(textBytesMax);
    if (code.startsWith('Z_') || code.startsWith('ERR_')) {
      throw new ApiError('malformed_request', `The body cannot be read as ${coding}.`);
    }
    throw error;
  }
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

export interface ParsedBody {
  /** The whole, where it is one JSON text; undefined: a line each. */
  readonly whole: unknown;
  /** By index; what could not be read is among the rejected. */
  readonly records: readonly (readonly [index: number, record: unknown])[];
  readonly rejected: readonly Rejected[];
}

const parse = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
};

/** Records of a body: a list, a member `events` or `records`, lines, or the one that it is. Throws ApiError. */
export function parseRecords({ text, isLines }: RecordText): ParsedBody {
  if (text.trim() === '')
    throw new ApiError('malformed_request', 'The body is empty: send a record, a list, or lines.');
  const whole = isLines ? null : parse(text);
  if (whole === null) return parseLines(text);
  const { value } = whole;
  const members = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const inner = members['events'] ?? members['records'];
  const list = Array.isArray(value) ? (value as unknown[]) : Array.isArray(inner) ? (inner as unknown[]) : [value];
  if (list.length > recordsMax) throw tooMany(list.length);
  return { whole: value, records: list.map((record, index) => [index, record] as const), rejected: [] };
}

const tooMany = (count: number): ApiError =>
  new ApiError('body_too_large', `${count} records came; one request may have ${recordsMax}. Send them in several.`);

function parseLines(text: string): ParsedBody {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > recordsMax) throw tooMany(lines.length);
  const records: [number, unknown][] = [];
  const rejected: Rejected[] = [];
  lines.forEach((line, index) => {
    const parsed = line.length > lineCharsMax ? null : parse(line);
    if (parsed !== null) records.push([index, parsed.value]);
    else {
      const reason = line.length > lineCharsMax ? `is longer than ${lineCharsMax} characters` : 'is no JSON';
      rejected.push({ index, reason });
    }
  });
  if (records.length === 0 && rejected.length === 1)
    throw new ApiError('malformed_request', 'The body is no JSON: send an object, a list, or an object a line.');
  return { whole: undefined, records, rejected };
}
