import type { BodyLimits, BodyOutcome, BodySink } from './body.js';

const backslash = 0x5c;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** 0 to 15, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * `\u0041` (JSON, GraphQL) and `\u{41}` (GraphQL), the only escapes that hide letters and quotes: where the escape at
 * `at` ends and its code; end 0: it is none. Zeros in front of a braced number count for nothing, however many.
 */
function readEscape(bytes: Buffer, at: number): { readonly end: number; readonly code: number } {
  let next = at + 2;
  const isBraced = bytes[next] === openBrace;
  if (isBraced) next += 1;
  const from = next;
  let code = 0;
  while (code <= 0x10ffff && (isBraced || next < from + 4)) {
    const digit = hexDigit(bytes[next] ?? 0);
    if (digit < 0) break;
    code = code * 16 + digit;
    next += 1;
  }
  const isWhole = isBraced ? next > from && bytes[next] === closeBrace : next === from + 4;
  return { end: isWhole && code <= 0x10ffff ? next + (isBraced ? 1 : 0) : 0, code };
}

/** The UTF-8 of `code` into `to`; a half of a surrogate pair becomes U+FFFD. Returns where it ends. */
function writeUtf8(to: Buffer, at: number, code: number): number {
  if (code < 0x80) {
    to[at] = code;
    return at + 1;
  }
  if (code < 0x800) {
    to[at] = 0xc0 | (code >> 6);
    to[at + 1] = 0x80 | (code & 0x3f);
    return at + 2;
  }
  const whole = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
  let end = at;
  if (whole >= 0x10000) {
    to[end++] = 0xf0 | (whole >> 18);
    to[end++] = 0x80 | ((whole >> 12) & 0x3f);
  } else to[end++] = 0xe0 | (whole >> 12);
  to[end++] = 0x80 | ((whole >> 6) & 0x3f);
  to[end++] = 0x80 | (whole & 0x3f);
  return end;
}

/**
 * The text with its escapes resolved, or null where it has none. One pass into one buffer: no escape is shorter than
 * its character, and a string for each escape cost 150 ns a byte, which compressed bodies have for nearly nothing.
 */
function resolveEscapes(body: Buffer): string | null {
  let at = body.indexOf('\\u', 0, 'latin1');
  let resolved: Buffer | null = null;
  let length = 0;
  let from = 0;
  while (at >= 0) {
    const { end, code } = readEscape(body, at);
    if (end > 0) {
      resolved ??= Buffer.allocUnsafe(body.length);
      if (at > from) length += body.copy(resolved, length, from, at);
      length = writeUtf8(resolved, length, code);
      from = end;
    }
    // What follows at once is seen without a search: a search is a call that costs more than the escape.
    at = end > 0 ? end : at + 2;
    if (body[at] !== backslash || body[at + 1] !== letterU) at = body.indexOf('\\u', at, 'latin1');
  }
  if (resolved === null) return null;
  length += body.copy(resolved, length, from);
  return resolved.toString('latin1', 0, length);
}

/**
 * application/graphql → argsPost: the document as one value named `graphql`, as it stands in the JSON that most clients
 * send instead, and once more with its escapes resolved where it has any. It is not parsed: an application that takes
 * the body for JSON whatever its type reads the same bytes. Never an error; a second value over `argumentsMax` is
 * dropped.
 */
export function processGraphql(
  body: Buffer,
  _contentType: string,
  sink: BodySink,
  limits: BodyLimits,
  name = 'graphql',
): BodyOutcome {
  const text = body.toString('latin1');
  const resolved = resolveEscapes(body);
  const values = text === '' ? [] : resolved === null || resolved === text ? [text] : [text, resolved];
  for (const value of values.slice(0, limits.argumentsMax)) sink.argsPost.add(name, value);
  return { error: null, truncated: values.length > limits.argumentsMax };
}
