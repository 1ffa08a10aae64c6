// Backups in a bucket: the S3 interface that AWS, MinIO, Ceph, Garage, R2 and others speak. Requests are signed (AWS
// Signature Version 4, by aws4fetch) over the hash of their body, so that what arrives is what was sent, also over
// plain http inside a network. Addresses are path-style (endpoint/bucket/key), which every such store answers.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AwsClient } from 'aws4fetch';
import { BackupError } from '../manifest.js';
import { isOwnName, type Place, type Stored } from './place.js';

export interface S3Options {
  /** `s3://bucket` or `s3://bucket/some/prefix`. */
  readonly url: string;
  /** `https://s3.eu-central-1.amazonaws.com`; null: the one of AWS for the region. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Larger files go in parts of this size; the store allows 5 MiB to 5 GiB. */
  readonly partBytes?: number;
  /** How often a busy store (5xx, 429, no answer) is asked again. */
  readonly retries?: number;
}

const partBytesDefault = 64 * 1024 * 1024;
/** Of one upload in parts, by the interface. */
const partsMax = 10_000;
const retriesDefault = 4;
const answerMsMax = 10 * 60_000;

/** Throws BackupError where the address is no bucket. */
export function parseS3Url(text: string): { readonly bucket: string; readonly prefix: string } {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  const segments = (found?.[2] ?? '').split('/').filter((segment) => segment !== '');
  if (
    found?.[1] === undefined ||
    segments.some((segment) => !/^[\w.=-]{1,200}$/.test(segment) || /^\.+$/.test(segment))
  )
    throw new BackupError(`"${text}" is no place of a bucket. Write s3://bucket or s3://bucket/folder.`);
  return { bucket: found[1], prefix: segments.map((segment) => `${segment}/`).join('') };
}

const sha256 = (body: Uint8Array | string): string => createHash('sha256').update(body).digest('hex');
const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
const tag = (xml: string, name: string): string | null =>
  unescaped(new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '') || null;

interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is being done, for an error. */
  readonly doing: string;
  /** Answers that are no error besides 2xx. */
  readonly allowed?: readonly number[];
}

/** Sends one request; throws BackupError with what the store said. */
type Send = (call: Call) => Promise<Response>;

function createSend(
  { endpoint, region, accessKeyId, secretAccessKey, retries = retriesDefault }: S3Options,
  bucket: string,
): Send {
  const base = (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, '');
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
  return async ({ method, key, query = {}, body = '', headers = {}, doing, allowed = [] }) => {
    const url = new URL(`${base}/${bucket}${key === undefined ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    for (let attempt = 0; ; attempt++) {
      const answer = await client
        .fetch(url.href, {
          method,
          ...(body === '' ? {} : { body }),
          headers: { ...headers, 'x-amz-content-sha256': sha256(body) },
          redirect: 'manual', // a signature is for one address
          signal: AbortSignal.timeout(answerMsMax),
        })
        .catch((error: unknown) => error as Error);
      const isBusy = answer instanceof Error || answer.status >= 500 || answer.status === 429;
      if (isBusy && attempt < retries) {
        await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
        continue;
      }
      if (answer instanceof Error)
        throw new BackupError(
          `${doing} failed: ${base} does not answer (${reasonOf(answer)}). See BACKUP_S3_ENDPOINT.`,
        );
      if (answer.ok || allowed.includes(answer.status)) return answer;
      throw refusedBy(base, doing, answer.status, await answer.text());
    }
  };
}

const reasonOf = (error: Error): string =>
  error.cause instanceof Error ? ((error.cause as NodeJS.ErrnoException).code ?? error.cause.message) : error.message;

const fixes: Readonly<Record<string, string>> = {
  SignatureDoesNotMatch: 'BACKUP_S3_SECRET_ACCESS_KEY is wrong',
  InvalidAccessKeyId: 'BACKUP_S3_ACCESS_KEY_ID is wrong',
  AccessDenied: 'the key may not; let it put, get, list and delete objects there',
  NoSuchBucket: 'make the bucket first',
  AuthorizationHeaderMalformed: 'see BACKUP_S3_REGION',
  PermanentRedirect: 'see BACKUP_S3_REGION and BACKUP_S3_ENDPOINT',
  RequestTimeTooSkewed: 'set the clock of this machine',
};

function refusedBy(base: string, doing: string, status: number, text: string): BackupError {
  const code = tag(text, 'Code') ?? '';
  const said = [code, tag(text, 'Message') ?? ''].filter((part) => part !== '').join(': ');
  const fix = fixes[code];
  const [why, hint] = [said === '' ? '' : ` (${said})`, fix === undefined ? '' : ` Fix: ${fix}.`];
  return new BackupError(`${doing} failed: ${base} answered ${status}${why}.${hint}`);
}

export function openS3(options: S3Options): Place {
  const { bucket, prefix } = parseS3Url(options.url);
  const send = createSend(options, bucket);
  const keyOf = (name: string): string => `${prefix}${name}`;
  return {
    label: `s3://${bucket}/${prefix}`,
    async put(file, name) {
      const key = keyOf(name);
      const there = await send({ method: 'HEAD', key, doing: `asking for ${key}`, allowed: [404] });
      if (there.status !== 404)
        throw new BackupError(`s3://${bucket}/${key} is there already; a backup replaces nothing.`);
      await upload(send, file, key, options.partBytes ?? partBytesDefault);
    },
    list: () => list(send, prefix),
    get: (name, to) =>
      download(send, `s3://${bucket}/`, keyOf(name), { to, retries: options.retries ?? retriesDefault }),
    remove: async (name) => {
      const key = keyOf(name);
      await send({ method: 'DELETE', key, doing: `removing ${key}`, allowed: [404] });
    },
  };
}

async function list(send: Send, prefix: string): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  let token: string | null = null;
  do {
    const query: Record<string, string> = { 'list-type': '2', prefix: `${prefix}gatehouse-` };
    if (token !== null) query['continuation-token'] = token;
    const xml: string = await (await send({ method: 'GET', query, doing: `listing ${prefix || 'the bucket'}` })).text();
    for (const [, content = ''] of xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
      const name = (tag(content, 'Key') ?? '').slice(prefix.length);
      if (isOwnName(name)) found.push({ name, bytes: Number(tag(content, 'Size') ?? 0) });
    }
    token = tag(xml, 'IsTruncated') === 'true' ? tag(xml, 'NextContinuationToken') : null;
  } while (token !== null);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A body that breaks off is asked for again, from its beginning. Errors of this disk are left as they are. */
async function download(send: Send, bucket: string, key: string, wanted: { to: string; retries: number }) {
  const { to, retries } = wanted;
  const doing = `fetching ${key}`;
  for (let attempt = 0; ; attempt++) {
    const answer = await send({ method: 'GET', key, doing, allowed: [404] });
    if (answer.status === 404 || answer.body === null)
      throw new BackupError(`${bucket}${key}: there is no such object.`);
    const file = createWriteStream(to, { mode: 0o600, flags: attempt === 0 ? 'wx' : 'w' });
    try {
      await pipeline(Readable.fromWeb(answer.body as never), file);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
      if (attempt >= retries)
        throw new BackupError(`${doing} failed: the store broke it off (${reasonOf(error as Error)}). Run it again.`);
      await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
    }
  }
}

/** In one request or in parts; an upload in parts that fails is taken back, so that the store keeps no piece of it. */
async function upload(send: Send, file: string, key: string, partBytes: number): Promise<void> {
  const { size } = await stat(file);
  const doing = `storing ${key}`;
  const each = Math.max(partBytes, Math.ceil(size / partsMax));
  const handle = await open(file, 'r');
  try {
    const read = async (at: number): Promise<Uint8Array<ArrayBuffer>> => {
      const bytes = new Uint8Array(Math.min(each, size - at));
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, at + filled);
        if (bytesRead === 0) throw new BackupError(`${file} became shorter while it was stored.`);
        filled += bytesRead;
      }
      return bytes;
    };
    if (size <= each) {
      await send({ method: 'PUT', key, body: await read(0), doing });
      return;
    }
    const started = await (await send({ method: 'POST', key, query: { uploads: '' }, doing })).text();
    const uploadId = tag(started, 'UploadId');
    if (uploadId === null) throw new BackupError(`${doing} failed: the store began no upload in parts.`);
    try {
      await uploadParts(send, { key, uploadId, size, each, doing, read });
    } catch (error) {
      await send({ method: 'DELETE', key, query: { uploadId }, doing: `taking ${key} back` }).catch(() => undefined);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

interface InParts {
  readonly key: string;
  readonly uploadId: string;
  readonly size: number;
  readonly each: number;
  readonly doing: string;
  readonly read: (at: number) => Promise<Uint8Array<ArrayBuffer>>;
}

async function uploadParts(send: Send, { key, uploadId, size, each, doing, read }: InParts): Promise<void> {
  const parts: string[] = [];
  for (let at = 0; at < size; at += each) {
    const partNumber = String(parts.length + 1);
    const answer = await send({ method: 'PUT', key, query: { partNumber, uploadId }, body: await read(at), doing });
    const etag = (answer.headers.get('etag') ?? '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${etag}</ETag></Part>`);
  }
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  const ended = await (await send({ method: 'POST', key, query: { uploadId }, body, doing })).text();
  // the store answers 200 first and may say afterwards that it failed
  if (ended.includes('<Error>')) throw refusedBy('the store', doing, 200, ended);
}
