// What applications make of a cookie's value. Nearly all of them percent-decode it (PHP, Express, Rails, every browser
// library), many then read JSON: `j:{…}` and `s:value.signature` of Express's cookie-parser, bare objects, JSON in
// base64 with a signature behind it (web tokens, Flask, Rails). Rules see the value as sent; these are shown besides.
import { processJson, trailingGarbage } from '../body/json.js';
import { asTolerantText, isTextLike } from '../body/besides/text-like.js';
import { createBodySink } from '../body/empty-sink.js';
import { decodeUriPath } from './urlencoded.js';

/** Once for the usual reader, again for one that decodes what was encoded twice, and once more. */
const decodingsMax = 3;
/** Texts that one cookie may add; what JSON holds beyond it is seen in the text that it stands in. */
const readingsMax = 200;
const depthMax = 64;
const backslash = 0x5c;
/** Fewer characters of base64 hold at most three bytes of a document: no value longer than one. */
const base64Min = 6;
/** Fewer characters hold no text that is not seen in the value itself, and a header has room for ten thousand. */
const jsonMin = 4;

const noLimits = { noFilesBytesMax: 65_536, uploadFilesMax: 0, argumentSeparator: '&' };

/** `{` or `[` behind white space. */
function isJsonStart(text: string): boolean {
  let at = 0;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  const code = text.charCodeAt(at);
  return code === 0x7b || code === 0x5b;
}

/** Names and scalars of a JSON text as far as it can be read; `isWhole`: only where the first document is complete. */
function addJson(json: Buffer, into: Set<string>, isWhole = false): void {
  const sink = createBodySink();
  const limits = { ...noLimits, argumentsMax: readingsMax - into.size, jsonDepthMax: depthMax };
  const { error, truncated } = processJson(json, '', sink, limits);
  if (isWhole && error !== null && !truncated && !error.includes(trailingGarbage)) return;
  const { names, values } = sink.argsPost;
  const hasEscapes = json.includes(backslash);
  for (const [index, value] of values.entries()) {
    if (value !== '') into.add(value);
    // Members' names hold what their escapes hid; the whole path is nothing that an application reads.
    if (hasEscapes) for (const part of (names[index] as string).split('.').slice(1)) into.add(part);
  }
}

/** What stands in front of a part of a signed value. */
const separators = ['.', '--', ':', '!'] as const;

/**
 * The part at `at` begins as JSON with members does in base64. `[` is W, then one of the last sixteen digits; behind
 * `{` stands a quote or white space, else nothing can be read (processJson), so that it is `ey` or `ew`: half of the
 * hexadecimal words that begin with an e would be parsed otherwise.
 */
function beginsBase64Json(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  if (first !== 0x65 && first !== 0x57) return false;
  const second = text.charCodeAt(at + 1);
  if (first === 0x65) return second === 0x79 || second === 0x77;
  return (second >= 0x77 && second <= 0x7a) || (second >= 0x2b && second <= 0x39) || second === 0x5f;
}

/** False: no part of any cookie in this text is JSON in base64 as it stands. Once for a header with all its cookies. */
export function mayHoldBase64(header: string): boolean {
  return header.includes('ey') || header.includes('ew') || header.includes('W');
}

/** Some part does; separators are looked for natively, because every cookie of every request is asked. */
function mayHoldBase64Json(value: string): boolean {
  if (beginsBase64Json(value, 0)) return true;
  for (const separator of separators)
    for (let at = value.indexOf(separator); at !== -1; at = value.indexOf(separator, at + 1))
      if (beginsBase64Json(value, at + separator.length)) return true;
  return false;
}

/**
 * JSON in base64 or base64url: the whole text or a part before a signature (`a.b.c`, `a--b`, `a:b:c`). Random words of
 * cookies begin like base64 of `{` or `[` now and then. Text is read as far as it goes. What is no text has to hold a
 * whole document, read as tolerant applications read it.
 */
function addBase64(text: string, into: Set<string>): void {
  for (const part of text.split(/\.|--|:|!/)) {
    if (part.length < base64Min || !beginsBase64Json(part, 0)) continue;
    const bytes = Buffer.from(part, 'base64');
    if (!isJsonStart(bytes.toString('latin1'))) continue;
    if (isTextLike(bytes)) addJson(bytes, into);
    else addJson(asTolerantText(bytes), into, true);
  }
}

/** Without the blanks and the quotes around it, which readers of cookies take off. */
function unwrapped(text: string): string {
  const inner = text.trim();
  return inner.length >= 2 && inner.startsWith('"') && inner.endsWith('"') ? inner.slice(1, -1) : inner;
}

function addStructured(text: string, into: Set<string>): void {
  let rest = unwrapped(text);
  if (rest.startsWith('s:')) {
    // The signature stands behind the last dot.
    const dot = rest.lastIndexOf('.');
    rest = rest.slice(2, dot < 2 ? undefined : dot);
    if (rest !== '') into.add(rest);
  }
  if (rest.startsWith('j:')) rest = rest.slice(2);
  if (rest.length < jsonMin) return;
  if (isJsonStart(rest)) addJson(Buffer.from(rest, 'latin1'), into);
  else addBase64(rest, into);
}

/** Two assignments or more and nothing that a shell, a page or a database would do more with. */
const pairs = /^(?:[\w.-]+=[^;\s'"`$|&<>(){}\\]*(?:;|$)){2,}$/;

/** In a list of assignments a `;` begins no command, so that their values are shown and not the list. */
function addWhole(text: string, into: Set<string>): void {
  if (!pairs.test(text)) into.add(text);
  else for (const pair of text.split(';')) into.add(pair.slice(pair.indexOf('=') + 1));
}

const nothing: readonly string[] = [];

/**
 * Readings of a cookie's value (latin1) other than itself, each once: percent-decoded up to three times (`+` stays, as
 * in ModSecurity; the rules' own t:urlDecodeUni reads it as a blank), the value in front of a signature, the names and
 * scalars of JSON. At most 200; a value that nothing would read otherwise costs a look at its first bytes.
 * `isBase64Possible`: what `mayHoldBase64` says of the text around it.
 */
export function readCookieValue(value: string, isBase64Possible = true): readonly string[] {
  const hasEscape = value.includes('%');
  const first = value.charCodeAt(0);
  const second = value.charCodeAt(1);
  const isStructured =
    first <= 0x20 ||
    first === 0x22 || // "
    first === 0x7b || // {
    first === 0x5b || // [
    ((first === 0x73 || first === 0x6a) && second === 0x3a) || // s: j:
    (isBase64Possible && mayHoldBase64Json(value));
  if (!hasEscape && !isStructured) return nothing;
  const readings = new Set<string>();
  let text = value;
  addStructured(text, readings);
  for (let decodings = 0; decodings < decodingsMax && text.includes('%'); decodings += 1) {
    const decoded = decodeUriPath(text);
    if (decoded === text) break;
    text = decoded;
    addWhole(text, readings);
    addStructured(text, readings);
  }
  readings.delete(value);
  readings.delete('');
  return [...readings];
}
