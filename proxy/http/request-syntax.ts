// The check every request head passes, whichever library read it: framing that two parsers could read in two ways, and
// bytes that do not belong in a head. Libraries let much of this through; a proxy that forwards it is a smuggling aid.
import { isFieldText, isNamed, isToken } from './header-fields.js';
import type { Framing, Refusal } from './framing.js';

export interface SyntaxLimits {
  readonly uriBytesMax: number;
  readonly headerBytesMax: number;
  readonly headerFieldsMax: number;
}

export interface CheckedHead {
  readonly framing: Framing;
  readonly refusal: Refusal | null;
}

/** Fields of one value by which gates, rules and sites decide: of two, each reader would take another. */
const singleFields: readonly string[] = [
  'authorization',
  'content-type',
  'origin',
  'user-agent',
  'x-api-key',
  'access-control-request-method',
];
const singleByLength: readonly (number | undefined)[] = (() => {
  const places: (number | undefined)[] = [];
  for (const [place, name] of singleFields.entries()) places[name.length] = place;
  return places;
})();

const noBody: CheckedHead = { framing: { kind: 'none' }, refusal: null };
const chunked: CheckedHead = { framing: { kind: 'chunked' }, refusal: null };
const digitsMax = 15; // larger lengths are not exact in a double

/**
 * A handshake ends the requests of its connection: what is declared as a body could be read as the other protocol's
 * first bytes.
 */
export const upgradeWithBody: Refusal = { status: 400, reason: 'an Upgrade with a body' };

function refuse(status: Refusal['status'], reason: string): CheckedHead {
  return { framing: { kind: 'none' }, refusal: { status, reason } };
}

/**
 * `headers` flat [name, value, …] in wire order, latin1. Pure; the first fault found decides. `areTextsRead`: whoever
 * read the head took only tokens for its method and names, and only field text for its values, byte by byte: they are
 * not looked through a second time.
 */
export function checkRequestHead(
  method: string,
  uri: string,
  protocol: string,
  headers: readonly string[],
  limits: SyntaxLimits,
  areTextsRead = false,
): CheckedHead {
  if (protocol !== 'HTTP/1.1' && protocol !== 'HTTP/1.0')
    return refuse(505, 'only HTTP/1.1 and HTTP/1.0 are spoken here');
  if (!areTextsRead && !isMethod(method)) return refuse(400, 'the method is not a token');
  const target = checkTarget(method, uri, limits);
  if (target !== null) return target;
  if (headers.length > limits.headerFieldsMax * 2)
    return refuse(431, `more than ${limits.headerFieldsMax} header fields`);

  let bytes = 0;
  let hosts = 0;
  let host = '';
  let singles = 0;
  let length: string | null = null;
  let encoding: string | null = null;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    bytes += name.length + value.length + 4;
    const single = singleByLength[name.length];
    if (single !== undefined && isNamed(name, singleFields[single] as string)) {
      if ((singles & (1 << single)) !== 0) return refuse(400, `more than one ${singleFields[single]}`);
      singles |= 1 << single;
    }
    if (!areTextsRead && (name.length === 0 || !isFieldText(value)))
      return refuse(400, 'a header field with control characters or without a name');
    switch (name.length) {
      case 4:
        if (isNamed(name, 'host')) {
          hosts += 1;
          host = value;
        }
        break;
      case 6:
        if (isNamed(name, 'expect') && value.toLowerCase() !== '100-continue')
          return refuse(417, 'an expectation other than 100-continue');
        break;
      case 14:
        if (isNamed(name, 'content-length')) {
          if (length !== null) return refuse(400, 'more than one Content-Length');
          length = value;
        }
        break;
      case 17:
        if (isNamed(name, 'transfer-encoding')) {
          if (encoding !== null) return refuse(400, 'more than one Transfer-Encoding');
          encoding = value;
        }
        break;
      default:
    }
  }
  if (bytes > limits.headerBytesMax)
    return refuse(431, `header fields longer than ${limits.headerBytesMax} bytes together`);
  if (hosts > 1) return refuse(400, 'more than one Host');
  if (hosts === 0 && protocol === 'HTTP/1.1') return refuse(400, 'no Host');
  // An empty Host names no http resource (RFC 9110 section 4.2.1); HTTP/1.0 does not know the field.
  if (hosts === 1 && (!isHost(host) || (host === '' && protocol === 'HTTP/1.1')))
    return refuse(400, 'a Host that is not a host name');
  if (uri.charCodeAt(0) !== 0x2f && !isAbsoluteFormOf(uri, host))
    return refuse(400, 'a request target that is another host than the Host field, or not a path');
  return checkFraming(protocol, length, encoding);
}

function checkTarget(method: string, uri: string, limits: SyntaxLimits): CheckedHead | null {
  if (method === 'CONNECT') return refuse(501, 'CONNECT: this is not a forward proxy');
  if (uri.length > limits.uriBytesMax)
    return refuse(414, `the request target is longer than ${limits.uriBytesMax} bytes`);
  if (uri.length === 0 || (uri === '*' && method !== 'OPTIONS'))
    return refuse(400, 'a request target that is not a path');
  for (let index = 0; index < uri.length; index += 1) {
    const code = uri.charCodeAt(index);
    if (code <= 0x20 || code === 0x7f || code > 0xff)
      return refuse(400, 'the request target has spaces or control characters');
    // "#" never travels; parsers cut it in different places
    if (code === 0x23) return refuse(400, 'the request target has a fragment');
  }
  return null;
}

function checkFraming(protocol: string, length: string | null, encoding: string | null): CheckedHead {
  if (encoding !== null) {
    if (length !== null) return refuse(400, 'both Content-Length and Transfer-Encoding');
    if (protocol === 'HTTP/1.0') return refuse(400, 'Transfer-Encoding in an HTTP/1.0 request');
    if (encoding.toLowerCase() !== 'chunked') return refuse(400, 'a Transfer-Encoding other than chunked');
    return chunked;
  }
  if (length === null) return noBody;
  if (length.length === 0 || length.length > digitsMax) return refuse(400, 'a Content-Length that is not a number');
  let bytes = 0;
  for (let index = 0; index < length.length; index += 1) {
    const digit = length.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return refuse(400, 'a Content-Length that is not a number');
    bytes = bytes * 10 + digit;
  }
  return bytes === 0 ? noBody : { framing: { kind: 'length', bytes }, refusal: null };
}

function isMethod(method: string): boolean {
  return method.length > 0 && method.length <= 32 && isToken(method);
}

/** `http://host[:port]/path`, with the same authority as Host: then both readings agree. */
function isAbsoluteFormOf(uri: string, host: string): boolean {
  if (uri === '*') return true;
  const lower = uri.slice(0, 8).toLowerCase();
  const from = lower.startsWith('http://') ? 7 : lower.startsWith('https://') ? 8 : -1;
  if (from === -1) return false;
  let end = from;
  while (end < uri.length && uri[end] !== '/' && uri[end] !== '?') end += 1;
  return uri.slice(from, end).toLowerCase() === host.toLowerCase();
}

/**
 * `name[:port]` or `[address][:port]`: letters, digits and the punctuation of names; no `@`, no slash, no comma, no
 * space. With a second colon, or a bracket within, every reader would end the name elsewhere, and the name chooses the
 * site.
 */
function isHost(value: string): boolean {
  if (value.length > 255) return false;
  const isLiteral = value.charCodeAt(0) === 0x5b;
  const mark = value.indexOf(isLiteral ? ']' : ':');
  if (isLiteral && mark === -1) return false;
  const nameEnd = mark === -1 ? value.length : mark;
  for (let index = isLiteral ? 1 : 0; index < nameEnd; index += 1) {
    const code = value.charCodeAt(index);
    const isLetterOrDigit = isDigit(code) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
    const isPunctuation = code === 0x2d || code === 0x2e || code === 0x5f || (isLiteral && code === 0x3a);
    if (!isLetterOrDigit && !isPunctuation && code < 0x80) return false;
  }
  const portMark = isLiteral ? nameEnd + 1 : nameEnd;
  if (portMark < value.length && value.charCodeAt(portMark) !== 0x3a) return false;
  for (let index = portMark + 1; index < value.length; index += 1) if (!isDigit(value.charCodeAt(index))) return false;
  return true;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
