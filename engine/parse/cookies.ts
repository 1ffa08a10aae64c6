// The Cookie header, split as ModSecurity v3 splits it (checked against libmodsecurity 3.0.9), nameless cookies and
// quoted values excepted.
import { mayHoldBase64, readCookieValue } from './cookie-readings.js';
import { decodeUriPath } from './urlencoded.js';
import type { Collection } from '../transaction/collection.js';

/** C's isspace on a byte. */
function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function unescape(_written: string, octal: string | undefined, other: string | undefined): string {
  return octal === undefined ? (other as string) : String.fromCharCode(Number.parseInt(octal, 8));
}

function unescaped(content: string): string {
  return content.replace(/\\(?:([0-3][0-7][0-7])|([^]))/g, unescape);
}

/**
 * What a reader of quoted strings makes of a value that begins at `from` with `"`: `\047` is a byte, `\x` is x, and `;`
 * within the quotes is content. null when it is not quoted or reads no other than the piece up to `end`, quotes aside.
 */
function readQuoted(header: string, from: number, end: number, length: number): string | null {
  let at = from;
  while (at < end && isSpace(header.charCodeAt(at))) at += 1;
  if (header.charCodeAt(at) !== 0x22) return null;
  const first = at + 1;
  let hasEscape = false;
  for (at = first; at < length && header.charCodeAt(at) !== 0x22; at += 1) {
    if (header.charCodeAt(at) !== 0x5c) continue;
    hasEscape = true;
    at += 1;
  }
  if (at >= length || (!hasEscape && at < end)) return null;
  const content = header.slice(first, at);
  return hasEscape ? unescaped(content) : content;
}

function isBlank(code: number): boolean {
  return code >= 0x80 || isSpace(code);
}

/**
 * The same for a reader that splits first and then takes off the outer quotes of what is left (Django, Starlette;
 * Werkzeug where the other reading fails): `""\047…"`. null when the piece is not quoted or has no escapes. Bytes from
 * 0x80 on count as white space before and behind the quotes, because such readers strip that of Unicode.
 */
function readOuterQuotes(header: string, from: number, end: number): string | null {
  while (from < end && isBlank(header.charCodeAt(from))) from += 1;
  while (end > from && isBlank(header.charCodeAt(end - 1))) end -= 1;
  if (end - from < 2 || header.charCodeAt(from) !== 0x22 || header.charCodeAt(end - 1) !== 0x22) return null;
  const content = header.slice(from + 1, end - 1);
  return content.includes('\\') ? unescaped(content) : null;
}

/** What applications make of a text that stands for a value. */
function addReadings(name: string, text: string, into: Collection): void {
  for (const reading of readCookieValue(text)) into.add(name, reading);
}

function addDecodedName(name: string, into: Collection): void {
  const decodedName = decodeUriPath(name);
  if (decodedName !== name) into.add(decodedName, '');
}

/**
 * Appends the cookies of one Cookie header (latin1) to `into`: split on `;`, name and value at the first `=`, white
 * space before a name skipped, white space at the very end of the header dropped, everything else kept as sent (no
 * decoding, no unquoting; a blank before `=` belongs to the name, one after `=` to the value). A piece without `=` is
 * a cookie with the value ''. `=x` has the name '' (Django and Express read such a cookie, ModSecurity v3 skips it); a
 * piece without either is skipped. A quoted value that holds a backslash or `;` follows once more for each way in which
 * Python and Jetty read it: `"\073id"` is a command that no rule would see. Behind them follow the readings of
 * cookie-readings.ts: `%3Cscript%3E`, `j:{"a":"\u003cscript>"}`. Several Cookie headers: one call, joined by
 * `; `.
 *
 * SecCookieFormat makes no difference: ModSecurity v3 accepts the directive and ignores it, so `$Version` is a cookie
 * like any other.
 */
export function parseCookies(header: string, into: Collection): void {
  let length = header.length;
  while (length > 0 && isSpace(header.charCodeAt(length - 1))) length -= 1;
  // Most headers hold neither quotes nor escapes: what only those can bring is asked once, not for each cookie.
  const hasQuotes = header.includes('"');
  const hasEscapes = header.includes('%');
  const isBase64Possible = hasEscapes || mayHoldBase64(header);
  let equals = header.indexOf('=');
  let start = 0;
  while (start < length) {
    let end = header.indexOf(';', start);
    if (end < 0 || end > length) end = length;
    while (start < end && isSpace(header.charCodeAt(start))) start += 1;
    if (equals >= 0 && equals < start) equals = header.indexOf('=', start);
    const hasValue = equals >= 0 && equals < end;
    const nameEnd = hasValue ? equals : end;
    const name = header.slice(start, nameEnd);
    const value = hasValue ? header.slice(equals + 1, end) : '';
    if (hasValue || nameEnd > start) into.add(name, value);
    const valueStart = hasValue ? equals + 1 : start; // to Django a piece without "=" is a value
    const quoted = hasQuotes && hasValue ? readQuoted(header, valueStart, end, length) : null;
    if (quoted !== null) into.add(name, quoted);
    const inner = hasQuotes ? readOuterQuotes(header, valueStart, end) : null;
    if (inner !== null && inner !== quoted) into.add(name, inner);
    if (hasValue) {
      for (const reading of readCookieValue(value, isBase64Possible)) into.add(name, reading);
      if (quoted !== null) addReadings(name, quoted, into);
      if (inner !== null) addReadings(name, inner, into);
    }
    if (hasEscapes && hasValue) addDecodedName(name, into);
    else if (hasEscapes && header.indexOf('%', start) >= 0) addReadings('', name, into);
    start = end + 1;
  }
}
