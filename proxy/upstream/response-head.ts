// The head of an upstream's response, and trailers. Strict on purpose: whatever two parsers could read in two ways
// (both length and chunking, folded lines, spaces before the colon) is refused, because the client behind us would be
// the second parser.
import { ProxyError } from '../contract/errors.js';
import { isFieldText, isNamed, isToken } from '../http/header-fields.js';

export interface UpstreamHead {
  readonly status: number;
  readonly reason: string;
  /** `HTTP/1.1` or `HTTP/1.0`. */
  readonly protocol: string;
  /** Flat, latin1, as sent, hop-by-hop fields included. */
  readonly headers: string[];
  /** Declared bytes of the body; null when only its end will tell. 0 when the message can have none. */
  readonly bodyBytes: number | null;
  /** Content-Length as declared even where no body follows (HEAD, 304), else null. */
  readonly declaredBytes: number | null;
}

const fieldsMax = 256;

export function malformed(what: string): ProxyError {
  return new ProxyError('PXY_UPSTREAM_MALFORMED', `the upstream's response is not acceptable: ${what}`);
}

export interface ParsedHead {
  readonly head: UpstreamHead;
  readonly isChunked: boolean;
  readonly keepAlive: boolean;
  /** `timeout` of its Keep-Alive field, in seconds; null where it says none. */
  readonly idleSeconds: number | null;
}

/** Parses a whole head (without its final blank line), latin1. */
export function parseHead(text: string, isHead: boolean): ParsedHead {
  let lineEnd = text.indexOf('\r\n');
  if (lineEnd === -1) lineEnd = text.length;
  const protocol = text.slice(0, 8);
  if (protocol !== 'HTTP/1.1' && protocol !== 'HTTP/1.0')
    throw malformed('its status line does not begin with HTTP/1.1 or HTTP/1.0');
  const status = parseStatus(text, lineEnd);
  const reason = lineEnd > 13 ? text.slice(13, lineEnd) : '';
  if (!isFieldText(reason)) throw malformed('control characters in its reason phrase');

  const headers: string[] = [];
  let declared: number | null = null;
  let transferEncoding: string | null = null;
  let keepAlive = protocol === 'HTTP/1.1';
  let idleSeconds: number | null = null;
  let start = lineEnd + 2;
  while (start < text.length) {
    let end = text.indexOf('\r\n', start);
    if (end === -1) end = text.length;
    takeField(text, start, end, headers);
    const name = headers[headers.length - 2] as string;
    const value = headers[headers.length - 1] as string;
    const length = name.length;
    if (length === 14 && isNamed(name, 'content-length')) {
      const bytes = parseLength(value);
      if (declared !== null && declared !== bytes) throw malformed('two different Content-Length fields');
      declared = bytes;
    } else if (length === 17 && isNamed(name, 'transfer-encoding')) {
      if (transferEncoding !== null) throw malformed('two Transfer-Encoding fields');
      transferEncoding = value.toLowerCase();
    } else if (length === 10) {
      if (isNamed(name, 'keep-alive')) idleSeconds = knownIdleSeconds(value);
      else if (isNamed(name, 'connection')) {
        const lower = value.toLowerCase();
        if (lower.includes('close')) keepAlive = false;
        else if (lower.includes('keep-alive')) keepAlive = true;
      }
    }
    start = end + 2;
  }
  if (transferEncoding !== null) {
    if (transferEncoding !== 'chunked')
      throw malformed(`Transfer-Encoding "${transferEncoding.slice(0, 40)}" (only chunked is understood)`);
    if (declared !== null) throw malformed('both Content-Length and Transfer-Encoding');
    if (protocol === 'HTTP/1.0') throw malformed('Transfer-Encoding in an HTTP/1.0 response');
  }
  const isBodyless = isHead || status === 204 || status === 304 || (status >= 100 && status < 200);
  // Announced where none can be, as some applications do: what comes of it would be read as the answer to the next
  // request.
  if (!isHead && isBodyless && (transferEncoding !== null || (status === 204 && declared !== null && declared > 0)))
    keepAlive = false;
  const bodyBytes = isBodyless ? 0 : declared;
  const head: UpstreamHead = { status, reason, protocol, headers, bodyBytes, declaredBytes: declared };
  return { head, isChunked: transferEncoding !== null && !isBodyless, keepAlive, idleSeconds };
}

/** An application says the same with every response; emptied when it is full, because some count down in it. */
const idleTimes = new Map<string, number | null>();
const idleTimesMax = 256;
const idleTextMax = 64;

function knownIdleSeconds(value: string): number | null {
  const known = idleTimes.get(value);
  if (known !== undefined) return known;
  const seconds = idleSecondsOf(value.toLowerCase());
  if (idleTimes.size >= idleTimesMax) idleTimes.clear();
  if (value.length <= idleTextMax) idleTimes.set(value, seconds);
  return seconds;
}

/** `timeout=5, max=100` → 5; null for what says no number of seconds. */
function idleSecondsOf(value: string): number | null {
  for (const part of value.split(',')) {
    const [name = '', seconds = ''] = part.split('=', 2);
    if (name.trim() !== 'timeout') continue;
    const text = seconds.trim();
    const number = Number(text);
    return text === '' || !Number.isFinite(number) || number < 0 ? null : number;
  }
  return null;
}

/** One field line, from `start` to before its line end, appended to `fields`. */
function takeField(text: string, start: number, end: number, fields: string[]): void {
  const colon = text.indexOf(':', start);
  if (colon <= start || colon >= end) throw malformed('a header line without a name (or a folded line)');
  const name = text.slice(start, colon);
  if (!isToken(name)) throw malformed('a header name with a space or control character');
  const value = trimmed(text, colon + 1, end);
  if (!isFieldText(value)) throw malformed(`control characters in its header "${name}"`);
  fields.push(name, value);
  if (fields.length > fieldsMax * 2) throw malformed(`more than ${fieldsMax} header fields`);
}

/** Field lines, each with its line end, and the blank line behind them. */
export function parseTrailers(text: string): string[] {
  const fields: string[] = [];
  for (let start = 0, end = text.indexOf('\r\n'); end > start; start = end + 2, end = text.indexOf('\r\n', start))
    takeField(text, start, end, fields);
  return fields;
}

function parseStatus(text: string, lineEnd: number): number {
  const hundreds = text.charCodeAt(9) - 48;
  const tens = text.charCodeAt(10) - 48;
  const ones = text.charCodeAt(11) - 48;
  const isShaped = text.charCodeAt(8) === 32 && (lineEnd === 12 || text.charCodeAt(12) === 32);
  if (!isShaped || !(hundreds >= 1 && hundreds <= 9) || !(tens >= 0 && tens <= 9) || !(ones >= 0 && ones <= 9))
    throw malformed('its status is not three digits');
  return hundreds * 100 + tens * 10 + ones;
}

/** Digits only, at most 15 of them (beyond that a double is not exact). */
function parseLength(value: string): number {
  if (value.length === 0 || value.length > 15) throw malformed('a Content-Length that is not a number');
  let bytes = 0;
  for (let index = 0; index < value.length; index += 1) {
    const digit = value.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) throw malformed('a Content-Length that is not a number');
    bytes = bytes * 10 + digit;
  }
  return bytes;
}

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
