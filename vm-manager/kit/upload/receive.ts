// Files that come with a request: multipart/form-data (RFC 7578), or the bytes alone with the fields in the query. The
// file goes to a private temporary file as it arrives, so that its size is bounded by the disk's budget and not by the
// memory's, and is removed when the work is done.
import { ApiError, type App } from '#http-kit';
import { Value, ValueErrorType, type ValueError } from '@sinclair/typebox/value';
import type { TObject } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { unfit } from '../endpoint.js';
import { readMultipart } from './multipart.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The endpoint takes the body as it comes. */
    isUpload?: boolean;
  }
}

/** Of files; what is not among them is 415. */
const mediaTypes = [
  'multipart/form-data',
  'application/octet-stream',
  'application/gzip',
  'application/zip',
  'application/x-tar',
  'application/sarif+json',
  'application/xml',
  'text/xml',
  'text/csv',
  'application/x-ndjson',
];

/** The bytes of these are handed to the endpoint as they come, and only to endpoints that take uploads. */
export function registerUploads(app: App): void {
  app.addContentTypeParser(mediaTypes, (request, payload, done) => {
    const { isUpload } = request.routeOptions.config;
    if (isUpload === true) return done(null, payload);
    done(new ApiError('media_type_unsupported', 'Send application/json.'), undefined);
  });
}

export interface Upload<Fields> {
  readonly fields: Fields;
  /** Path of the temporary file. */
  readonly file: string;
  readonly bytes: number;
  readonly fileName: string;
  /** Removes the file. */
  discard(): Promise<void>;
}

export interface UploadRules {
  readonly bytesMax: number;
  readonly fields: TObject;
}

/** Takes the whole body. Throws ApiError 413, 415 or 422; then nothing is left on the disk. */
export async function receive<Fields>(request: FastifyRequest, rules: UploadRules): Promise<Upload<Fields>> {
  const type = request.headers['content-type'] ?? '';
  const body = request.body as Readable | undefined | null;
  if (body === undefined || body === null || typeof (body as Partial<Readable>).pipe !== 'function')
    throw new ApiError('media_type_unsupported', `Send ${mediaTypes[0]}, or the file alone as ${mediaTypes[1]}.`);
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-upload-'));
  const file = join(directory, 'file');
  const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const handle = await open(file, 'wx', 0o600);
    const taken = await take(body, type, request, handle, rules).finally(() => handle.close());
    return { ...taken, fields: checkFields<Fields>(taken.fields, rules.fields), file, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

async function take(body: Readable, type: string, request: FastifyRequest, handle: FileHandle, rules: UploadRules) {
  let bytes = 0;
  const write = async (chunk: Buffer): Promise<void> => {
    bytes += chunk.length;
    if (bytes > rules.bytesMax)
      throw new ApiError('body_too_large', `The file is larger than ${rules.bytesMax} bytes.`);
    await handle.write(chunk);
  };
  if (!/^multipart\/form-data/i.test(type)) {
    for await (const chunk of body) await write(chunk as Buffer);
    if (bytes === 0) throw unfit('file', 'is empty');
    return { fields: { ...(request.query as Record<string, unknown>) }, bytes, fileName: '' };
  }
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(type);
  if (boundary === null) throw new ApiError('malformed_request', 'The multipart body names no boundary.');
  const form = await readMultipart(body, boundary[1] ?? boundary[2] ?? '', write);
  if (form.fileName === null) throw unfit('file', 'is missing', 'send the report as the part "file"');
  if (bytes === 0) throw unfit('file', 'is empty');
  return { fields: form.fields, bytes, fileName: form.fileName };
}

/** Throws ApiError 422 with the first field that does not fit. */
export function checkFields<Fields>(given: Record<string, unknown>, schema: TObject): Fields {
  const named = Value.Convert(schema, { ...given }) as Record<string, unknown>;
  for (const [name, { type }] of Object.entries(schema.properties))
    if (type === 'integer' && typeof given[name] === 'string' && !/^[+-]?\d{1,15}$/.test(given[name]))
      throw unfit(name, 'is no whole number', 'write it in digits');
  for (const error of Value.Errors(schema, named)) {
    const path = error.path.replace(/^\//, '') || 'fields';
    throw unfit(path, reasonOf(error));
  }
  return named as Fields;
}

/** The validator's own words name neither a field that is missing nor one that there is not. */
function reasonOf({ type, message }: ValueError): string {
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is missing';
  if (type === ValueErrorType.ObjectAdditionalProperties) return 'is not a known field';
  return message.toLowerCase().replace(/\.$/, '');
}
