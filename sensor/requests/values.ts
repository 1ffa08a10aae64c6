// The values that a client chose: query, path, header fields, cookies and what the body has in it, each with its name.
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Head, Visit } from './visit.js';

export interface Value {
  /** Where it came from: `query q`, `body user.name`, `header x-a`, `cookie c`, `path 2`. */
  readonly name: string;
  readonly text: string;
  /** The request, where several are looked at together. */
  readonly of?: Visit;
}

const valuesMax = 256;
const charactersMin = 3;
const charactersMax = 16_384;
const depthMax = 12;
const decodedMax = 262_144;
/** Of the connection and of the browser: whoever chose them chose them from a short list. */
const plainHeaders = new Set([
  ...['connection', 'content-length', 'transfer-encoding', 'accept', 'accept-encoding', 'accept-language', 'date'],
  ...['cookie', 'content-type', 'content-encoding', 'cache-control', 'pragma', 'expect', 'te', 'upgrade', 'dnt'],
]);

class Values {
  readonly found: Value[] = [];
  readonly #seen = new Set<string>();

  add(name: string, text: string): void {
    for (const one of [text, text.trim(), decodedTwice(text)]) {
      if (one.length < charactersMin || one.length > charactersMax || this.found.length >= valuesMax) continue;
      if (this.#seen.has(one)) continue;
      this.#seen.add(one);
      this.found.push({ name: name.slice(0, 120), text: one });
    }
  }
}

/** Programs decode once more than the protocol does, by mistake or for their own links. */
const decodedTwice = (text: string): string => (text.includes('%') ? decoded(text) : text);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

const plus = (text: string): string => decoded(text.replaceAll('+', ' '));

function addPairs(values: Values, place: string, text: string): void {
  for (const pair of text.split('&', valuesMax)) {
    const at = pair.indexOf('=');
    const name = plus(at < 0 ? pair : pair.slice(0, at));
    if (at >= 0) values.add(`${place} ${name}`, plus(pair.slice(at + 1)));
    // a name may be chosen freely, too
    values.add(`${place} (name)`, name);
  }
}

function addMembers(values: Values, name: string, value: unknown, depth: number): void {
  if (typeof value === 'string') values.add(name, value);
  if (typeof value !== 'object' || value === null || depth > depthMax || values.found.length >= valuesMax) return;
  for (const [member, one] of Object.entries(value)) {
    if (!Array.isArray(value)) values.add(`${name} (name)`, member);
    addMembers(values, name === 'body' ? `body ${member}` : `${name}.${member}`, one, depth + 1);
  }
}

function addParts(values: Values, text: string, boundary: string): void {
  for (const part of text.split(`--${boundary}`, valuesMax)) {
    const end = part.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const head = part.slice(0, end);
    const name = /\bname="([^"]*)"/i.exec(head)?.[1] ?? '';
    const file = /\bfilename="([^"]*)"/i.exec(head)?.[1];
    if (file !== undefined) values.add(`body ${name} (file name)`, file);
    else values.add(`body ${name}`, part.slice(end + 4).replace(/\r\n$/, ''));
  }
}

/** The body as text, decompressed as far as it came; null where it is of a coding that is not read here. */
function textOf(head: Head, chunks: readonly Uint8Array[]): string | null {
  const bytes = Buffer.concat(chunks);
  const coding = head.headers['content-encoding'] ?? '';
  const open = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync }[coding];
  if (coding !== '' && coding !== 'identity' && open === undefined) return null;
  try {
    return (open === undefined ? bytes : open(bytes, { maxOutputLength: decodedMax })).toString('utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function addBody(values: Values, head: Head, chunks: readonly Uint8Array[]): void {
  const text = chunks.length === 0 ? null : textOf(head, chunks);
  if (text === null) return;
  const type = head.headers['content-type'] ?? '';
  const boundary = /^multipart\/.*\bboundary="?([^";]{1,200})/i.exec(type)?.[1];
  if (boundary !== undefined) return addParts(values, text, boundary);
  if (/^application\/x-www-form-urlencoded/i.test(type)) return addPairs(values, 'body', text);
  const value = /^\s*[[{"]/.test(text) ? parsed(text) : undefined;
  if (value !== undefined) return addMembers(values, 'body', value, 0);
  values.add('body', text);
}

/** At most 256 values of 3 to 16,384 characters, each once, as the client sent it and as a program may decode it. */
export function valuesOf(head: Head, chunks: readonly Uint8Array[]): readonly Value[] {
  const values = new Values();
  const [path = '', query = ''] = (head.url ?? '').split(/\?(.*)/s);
  if (query !== '') addPairs(values, 'query', query);
  addBody(values, head, chunks);
  const segments = path.split('/').filter((segment) => segment !== '');
  for (const [index, segment] of segments.slice(0, 30).entries()) values.add(`path ${index + 1}`, decoded(segment));
  for (let from = 0; from < Math.min(segments.length - 1, 10); from++)
    values.add(`path ${from + 1}…`, decoded(segments.slice(from).join('/')));
  for (const pair of String(head.headers.cookie ?? '').split(';', valuesMax)) {
    const at = pair.indexOf('=');
    if (at > 0) values.add(`cookie ${pair.slice(0, at).trim()}`, decoded(pair.slice(at + 1).trim()));
  }
  for (const [name, value] of Object.entries(head.headers))
    if (typeof value === 'string' && !plainHeaders.has(name)) values.add(`header ${name}`, value);
  return values.found;
}
