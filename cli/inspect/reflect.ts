// The test backend of the CRS regression suite, as far as the suite uses it: everything is an empty 200, and
// POST /reflect answers with the response that the request's JSON body describes.
import type { RequestHead, ResponseHead } from '#engine';

export interface BackendResponse {
  readonly head: ResponseHead;
  readonly body: Buffer;
}

const htmlTags = [
  '<!doctype html',
  '<html',
  '<head',
  '<script',
  '<iframe',
  '<h1',
  '<div',
  '<font',
  '<table',
  '<a',
  '<style',
  '<title',
  '<b',
  '<body',
  '<br',
  '<p',
  '<!--',
];
/** Leading bytes (latin1) → type, of the WHATWG MIME sniffing table as far as text responses can meet it. */
const magics: readonly (readonly [string, string])[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['\xfe\xff', 'text/plain; charset=utf-16be'],
  ['\xff\xfe', 'text/plain; charset=utf-16le'],
  ['\xef\xbb\xbf', 'text/plain; charset=utf-8'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['BM', 'image/bmp'],
  ['\x1f\x8b\x08', 'application/x-gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['Rar!\x1a\x07', 'application/x-rar-compressed'],
  ['\0asm', 'application/wasm'],
];

/** The media type that a Go server gives a response without Content-Type: MIME sniffing over the first 512 bytes. */
export function sniffContentType(body: Buffer): string {
  const start = body.toString('latin1', 0, 512);
  const text = start.replace(/^[\t\n\x0c\r ]+/, '');
  const lower = text.toLowerCase();
  for (const tag of htmlTags) {
    const next = lower[tag.length];
    if (lower.startsWith(tag) && (tag === '<!--' || next === ' ' || next === '>')) return 'text/html; charset=utf-8';
  }
  if (lower.startsWith('<?xml')) return 'text/xml; charset=utf-8';
  for (const [magic, type] of magics) if (start.startsWith(magic)) return type;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x08 || code === 0x0b || (code >= 0x0e && code <= 0x1a) || (code >= 0x1c && code <= 0x1f))
      return 'application/octet-stream';
  }
  return 'text/plain; charset=utf-8';
}

function response(status: number, headers: readonly string[], body: Buffer): BackendResponse {
  const named = new Set(headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const added: string[] = [];
  if (!named.has('content-type') && body.length > 0) added.push('Content-Type', sniffContentType(body));
  if (!named.has('content-length')) added.push('Content-Length', String(body.length));
  return { head: { status, protocol: 'HTTP/1.1', headers: [...headers, ...added] }, body };
}

interface ReflectSpecification {
  status?: unknown;
  headers?: unknown;
  body?: unknown;
  encodedBody?: unknown;
}

function parseSpecification(body: Buffer): ReflectSpecification | null {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? parsed : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** True for requests that `reflect` answers by their body. */
export function isReflection(request: RequestHead): boolean {
  return request.method === 'POST' && request.uri.split('?')[0] === '/reflect';
}

/** What the backend answers; status outside 100–599 or broken JSON is a 400. */
export function reflect(request: RequestHead, body: Buffer | null): BackendResponse {
  if (!isReflection(request)) return response(200, [], Buffer.alloc(0));
  const specification = parseSpecification(body ?? Buffer.alloc(0));
  const status = specification?.status ?? 200;
  if (specification === null || typeof status !== 'number' || status < 100 || status > 599)
    return response(400, [], Buffer.alloc(0));
  const headers: string[] = [];
  if (typeof specification.headers === 'object' && specification.headers !== null) {
    for (const [name, value] of Object.entries(specification.headers))
      headers.push(name, Buffer.from(String(value)).toString('latin1'));
  }
  let bytes = Buffer.alloc(0);
  if (typeof specification.body === 'string' && specification.body !== '') bytes = Buffer.from(specification.body);
  else if (typeof specification.encodedBody === 'string') bytes = Buffer.from(specification.encodedBody, 'base64');
  return response(status, headers, bytes);
}
