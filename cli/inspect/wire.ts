// One raw HTTP/1.x request from bytes, for the command line tools only: tolerant where a server in front of ModSecurity
// is, so that malformed requests of test corpora reach the rules. The proxy has its own, strict parser.
import type { RequestHead } from '#engine';

export interface WireRequest {
  readonly head: RequestHead;
  /** Null when the message has none. Chunked bodies are decoded. */
  readonly body: Buffer | null;
  /** A bare CR or a NUL in a header: every server refuses that before any rule runs. */
  readonly isUnreadable: boolean;
  /** Why a strict server answers 400 (rules still see the request); null = nothing to object to. */
  readonly objection: string | null;
  /** HTTP/0.9: the reply has no status line, so an HTTP client calls it an error. */
  readonly hasNoStatusLine: boolean;
}

export interface WirePeer {
  readonly clientIp?: string;
  readonly clientPort?: number;
  readonly serverIp?: string;
  readonly serverPort?: number;
}

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

interface RequestLine {
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  readonly objection: string | null;
}

/**
 * The method ends at the first blank, the protocol begins at the last one that is followed by `HTTP`; the rest is the
 * target.
 */
function parseRequestLine(line: string): RequestLine {
  const trimmed = line.replace(/^[ \t]+/, '');
  const firstBlank = trimmed.search(/[ \t]/);
  if (firstBlank < 0) return { method: trimmed, uri: '', protocol: '', objection: 'the request line has one word' };
  const method = trimmed.slice(0, firstBlank);
  const rest = trimmed.slice(firstBlank + 1).trim();
  const lastBlank = rest.lastIndexOf(' ');
  const last = rest.slice(lastBlank + 1);
  const hasProtocol = lastBlank >= 0 && /^HTTP/i.test(last);
  const protocol = hasProtocol ? last : '';
  const uri = hasProtocol ? rest.slice(0, lastBlank).trim() : rest;
  return { method, uri, protocol, objection: objectionToRequestLine(line, { method, uri, protocol }) };
}

function objectionToRequestLine(
  line: string,
  { method, uri, protocol }: { method: string; uri: string; protocol: string },
): string | null {
  if (/^[ \t]/.test(line)) return 'white space before the method';
  if (!tokenPattern.test(method)) return 'the method is not a token';
  if (/[ \t]/.test(uri)) return 'white space inside the request-target';
  if (uri.includes('#')) return 'a fragment in the request-target';
  if (protocol !== '' && !/^HTTP\/[1-9]\.\d+$/.test(protocol)) return 'the protocol is not HTTP/1.x';
  if (method === 'CONNECT') return /:\d+$/.test(uri) ? null : 'CONNECT without a port';
  if (uri !== '*' && !uri.startsWith('/') && !/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(uri))
    return 'the request-target does not begin with a slash';
  return null;
}

interface HeaderBlock {
  readonly headers: string[];
  readonly objection: string | null;
  readonly isUnreadable: boolean;
}

function parseHeaders(lines: readonly string[]): HeaderBlock {
  const headers: string[] = [];
  let objection: string | null = null;
  let isUnreadable = false;
  for (const line of lines) {
    if (line.includes('\r') || line.includes('\0')) {
      objection ??= 'a control character in a header';
      isUnreadable = true;
    }
    if (/^[ \t]/.test(line) && headers.length > 0) {
      headers[headers.length - 1] = `${headers[headers.length - 1] as string} ${line.trim()}`.trim();
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 0) objection ??= 'a header line without a colon';
    const name = colon < 0 ? line : line.slice(0, colon);
    if (name === '' || /[ \t]$/.test(name)) objection ??= 'white space before the colon of a header';
    headers.push(name.trimEnd(), colon < 0 ? '' : line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, ''));
  }
  return { headers, objection, isUnreadable };
}

/** First value of a header, or null. */
function headerValue(headers: readonly string[], lowerName: string): string | null {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if ((headers[index] as string).toLowerCase() === lowerName) return headers[index + 1] as string;
  }
  return null;
}

function objectionToHeaders(headers: readonly string[], protocol: string): string | null {
  const host = headerValue(headers, 'host');
  if (host === null ? protocol === 'HTTP/1.1' : !/^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/.test(host))
    return 'the Host header is missing or malformed';
  const length = headerValue(headers, 'content-length');
  if (length !== null && !/^\d+$/.test(length)) return 'Content-Length is not a number';
  return null;
}

/** Decodes as far as the framing is valid; what a damaged body leaves is kept as it is. */
function dechunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf(0x0a, at);
    if (lineEnd < 0) break;
    const match = /^[ \t]*([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\r?$/.exec(bytes.toString('latin1', at, lineEnd));
    if (match === null) break;
    const size = Number.parseInt(match[1] as string, 16);
    if (size === 0) break;
    parts.push(bytes.subarray(lineEnd + 1, lineEnd + 1 + size));
    at = lineEnd + 1 + size;
    if (bytes[at] === 0x0d) at += 1;
    if (bytes[at] === 0x0a) at += 1;
  }
  return Buffer.concat(parts);
}

/** A server that decodes chunks removes a Content-Length beside them (RFC 9112 section 6.3). */
function withoutContentLength(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if ((headers[index] as string).toLowerCase() !== 'content-length')
      kept.push(headers[index] as string, headers[index + 1] as string);
  }
  return kept;
}

/** Where the header block ends and the body begins; bare line feeds end lines too. */
function splitHead(bytes: Buffer): { lines: string[]; rest: Buffer } {
  const lines: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    let end = bytes.indexOf(0x0a, at);
    if (end < 0) end = bytes.length;
    const line = bytes.toString('latin1', at, end > at && bytes[end - 1] === 0x0d ? end - 1 : end);
    at = end + 1;
    if (line === '') {
      if (lines.length > 0) break;
      continue; // empty lines before a request are skipped (RFC 9112 section 2.2)
    }
    lines.push(line);
  }
  return { lines, rest: bytes.subarray(Math.min(at, bytes.length)) };
}

/** Parses one request; null when there is not even a request line. */
export function parseWire(bytes: Buffer, peer: WirePeer = {}): WireRequest | null {
  const { lines, rest } = splitHead(bytes);
  if (lines.length === 0) return null;
  const line = parseRequestLine(lines[0] as string);
  const block = parseHeaders(lines.slice(1));
  const isChunked = /chunked\s*$/i.test(headerValue(block.headers, 'transfer-encoding') ?? '');
  const length = Number.parseInt(headerValue(block.headers, 'content-length') ?? '', 10);
  const body = isChunked ? dechunk(rest) : Number.isNaN(length) ? null : rest.subarray(0, Math.max(0, length));
  return {
    head: {
      method: line.method,
      uri: line.uri,
      protocol: line.protocol,
      headers: isChunked ? withoutContentLength(block.headers) : block.headers,
      clientIp: peer.clientIp ?? '127.0.0.1',
      clientPort: peer.clientPort ?? 54_321,
      serverIp: peer.serverIp ?? '127.0.0.1',
      serverPort: peer.serverPort ?? 80,
    },
    body,
    objection: line.objection ?? block.objection ?? objectionToHeaders(block.headers, line.protocol),
    isUnreadable: block.isUnreadable,
    hasNoStatusLine: line.protocol === '',
  };
}
