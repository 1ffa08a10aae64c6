// A store that speaks as much of S3 as backups need, and verifies every signature by itself (AWS Signature Version 4,
// the documentation's steps in node:crypto, not the client's code): a wrong key, body, path or query is refused as AWS
// refuses it.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface S3Server {
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly objects: Map<string, Buffer>;
  /** Uploads in parts that were begun and neither completed nor taken back. */
  readonly uploads: Map<string, Map<number, Buffer>>;
  readonly asked: string[];
  /** The next requests are answered with this status, one each. */
  readonly failures: number[];
  /** How many of the next bodies with content break off in their midst. */
  cuts: number;
}

const hash = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: Buffer | string, data: string): Buffer => createHmac('sha256', key).update(data).digest();
const uri = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** null: the signature is right; else the code of the refusal. */
function judge(request: IncomingMessage, url: URL, body: Buffer, server: S3Server, region: string): string | null {
  const [scheme = '', signed = '', signature = ''] = (request.headers.authorization ?? '').split(
    /, SignedHeaders=|, Signature=/,
  );
  const form = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request$/;
  const [, id, day = '', itsRegion] = form.exec(scheme) ?? [];
  if (!/^[0-9a-f]{64}$/.test(signature)) return 'AccessDenied';
  if (id === undefined) return 'AccessDenied';
  if (id !== server.accessKeyId) return 'InvalidAccessKeyId';
  if (itsRegion !== region) return 'AuthorizationHeaderMalformed';
  const names = signed.split(';');
  const [date, content] = [String(request.headers['x-amz-date']), String(request.headers['x-amz-content-sha256'])];
  if (!names.includes('host') || !names.includes('x-amz-content-sha256') || !names.includes('x-amz-date'))
    return 'AccessDenied';
  if (content !== hash(body)) return 'XAmzContentSHA256Mismatch';
  if (!date.startsWith(day) || Math.abs(Date.now() - timeOf(date)) > 15 * 60_000) return 'RequestTimeTooSkewed';
  const query = [...url.searchParams].map(([name, value]) => `${uri(name)}=${uri(value)}`).sort();
  const canonical = [
    request.method,
    decodeURIComponent(url.pathname).split('/').map(uri).join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    signed,
    content,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${server.secretAccessKey}`, day), region));
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, hash(canonical)].join('\n'));
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch';
}

const timeOf = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

interface Answer {
  readonly status: number;
  readonly body?: Buffer | string;
  readonly etag?: string;
}

const refused = (status: number, code: string): Answer => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>of the test</Message></Error>`,
});

function inParts({ objects, uploads }: S3Server, method: string, key: string, url: URL, body: Buffer): Answer | null {
  const id = url.searchParams.get('uploadId');
  if (method === 'POST' && url.searchParams.has('uploads')) {
    const made = `upload ${uploads.size + 1}&`;
    uploads.set(made, new Map());
    return { status: 200, body: `<R><UploadId>${made.replace('&', '&amp;')}</UploadId></R>` };
  }
  if (id === null) return null;
  const parts = uploads.get(id);
  if (parts === undefined) return refused(404, 'NoSuchUpload');
  if (method === 'PUT') {
    parts.set(Number(url.searchParams.get('partNumber')), body);
    return { status: 200, etag: `"${hash(body)}"` };
  }
  uploads.delete(id);
  if (method === 'DELETE') return { status: 204 };
  const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"([0-9a-f]+)"<\/ETag>/g)];
  if (named.length !== parts.size || named.some(([, at, tag]) => hash(parts.get(Number(at)) ?? '') !== tag))
    return { status: 200, body: '<Error><Code>InvalidPart</Code></Error>' };
  objects.set(key, Buffer.concat(named.map(([, at]) => parts.get(Number(at)) ?? Buffer.alloc(0))));
  return { status: 200, body: '<R/>' };
}

function listOf({ objects }: S3Server, bucket: string, url: URL, pageMax: number): Answer {
  const prefix = `${bucket}/${url.searchParams.get('prefix') ?? ''}`;
  const after = url.searchParams.get('continuation-token') ?? '';
  const names = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort();
  const page = names.slice(0, pageMax);
  const rows = page.map(
    (name) =>
      `<Contents><Key>${name.slice(bucket.length + 1)}</Key><Size>${objects.get(name)?.length}</Size></Contents>`,
  );
  const more =
    names.length > page.length
      ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${page.at(-1)}</NextContinuationToken>`
      : '<IsTruncated>false</IsTruncated>';
  return { status: 200, body: `<ListBucketResult>${rows.join('')}${more}</ListBucketResult>` };
}

function answer(server: S3Server, bucket: string, method: string, url: URL, body: Buffer, pageMax: number): Answer {
  const key = decodeURIComponent(url.pathname.slice(1));
  if (key.split('/')[0] !== bucket) return refused(404, 'NoSuchBucket');
  if (key === bucket) return listOf(server, bucket, url, pageMax);
  const ofParts = inParts(server, method, key, url, body);
  if (ofParts !== null) return ofParts;
  const found = server.objects.get(key);
  if (method === 'PUT') {
    server.objects.set(key, body);
    return { status: 200, etag: `"${hash(body)}"` };
  }
  if (method === 'DELETE') {
    server.objects.delete(key);
    return { status: 204 };
  }
  return found === undefined ? refused(404, 'NoSuchKey') : { status: 200, body: found };
}

/** Listens on the loopback until the test ends. `pageMax`: rows of one answer of a list. */
export async function startS3(
  t: Test,
  { bucket = 'copies', region = 'eu-test-1', pageMax = 2 } = {},
): Promise<S3Server> {
  const state: Omit<S3Server, 'url'> & { url: string } = {
    url: '',
    accessKeyId: 'AKTEST',
    secretAccessKey: 'a secret/of+the test',
    objects: new Map(),
    uploads: new Map(),
    asked: [],
    failures: [],
    cuts: 0,
  };
  const http = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [body, url] = [Buffer.concat(chunks), new URL(request.url ?? '/', 'http://host')];
      const method = request.method ?? '';
      state.asked.push(`${method} ${request.url}`);
      const failure = state.failures.shift();
      const code = judge(request, url, body, state, region);
      const said =
        failure !== undefined
          ? refused(failure, 'SlowDown')
          : code !== null
            ? refused(403, code)
            : answer(state, bucket, method, url, body, pageMax);
      const whole = said.body ?? '';
      if (method === 'GET' && state.cuts > 0 && whole.length > 1) {
        state.cuts--;
        reply.writeHead(said.status, { 'content-length': Buffer.byteLength(whole) });
        reply.write(whole.slice(0, 1), () => reply.destroy());
        return;
      }
      reply.writeHead(said.status, said.etag === undefined ? {} : { etag: said.etag });
      reply.end(method === 'HEAD' ? undefined : said.body);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void http.close());
  state.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return state;
}
