// How servers may read the path of a request. Between client and handler stand proxies, servers, frameworks and file
// systems; each undoes some encoding, drops some parameters, resolves some dots, and no two do it alike. What gives a
// path less protection (an excluded path, an unprotected neighbour, a site in DetectionOnly) must hold in all of these
// readings: one home for all who ask. Latin1 in and out.

/** Path of an origin-form or absolute-form target, without the query. */
export function pathOf(uri: string): string {
  let start = 0;
  if (uri.charCodeAt(0) !== 0x2f) {
    const scheme = uri.indexOf('://');
    if (scheme === -1) return '/';
    start = uri.indexOf('/', scheme + 3);
    const query = uri.indexOf('?', scheme + 3);
    if (start === -1 || (query !== -1 && query < start)) return '/';
  }
  const query = uri.indexOf('?', start);
  return query === -1 ? uri.slice(start) : uri.slice(start, query);
}

export interface PathReading {
  readonly text: string;
  /** Nothing but dots has been decoded: what reads this one routes first and decodes its segments afterwards. */
  readonly isRaw: boolean;
}

/**
 * Together: beyond it a path is taken for one that can mean anything. Paths that people use have ten readings at most;
 * each costs some ten microseconds, and a short path of nothing but spellings would have two thousand.
 */
const readingBytesMax = 32_768;
export const readingsMax = 128;

/**
 * Every reading that follows from the path by decoding it (percent, `%uXXXX`, overlong and full-width forms, characters
 * cut to a byte or left out, all of it or all but slashes), dropping path parameters, taking backslashes for slashes,
 * merging slashes, resolving dots, trimming segments as file systems do, leaving control bytes out, and ending at a
 * byte that ends a path elsewhere, in any order and as often as it changes anything. null = more than the limits: the
 * path may mean anything.
 */
export function readPath(path: string): readonly PathReading[] | null {
  if (isPlainPath(path)) return [{ text: path, isRaw: true }];
  if (last.path !== path) {
    last.readings = allReadings(path);
    last.path = path;
  }
  return last.readings;
}

/** Of the path that was asked about last: every exclusion of a policy asks about the same one. */
const last: { path: string | null; readings: readonly PathReading[] | null } = { path: null, readings: null };

function allReadings(path: string): readonly PathReading[] | null {
  const readings: PathReading[] = [{ text: path, isRaw: true }];
  const seen = new Set([`r${path}`]);
  let bytesLeft = readingBytesMax - path.length;
  for (let at = 0; at < readings.length; at += 1) {
    const { text, isRaw } = readings[at] as PathReading;
    const take = (next: string, staysRaw: boolean): void => {
      const key = `${staysRaw ? 'r' : 'd'}${next}`;
      if (next === text || seen.has(key)) return;
      seen.add(key);
      bytesLeft -= next.length + 16;
      readings.push({ text: next, isRaw: staysRaw });
    };
    for (const rewrite of rewrites) take(rewrite(text), isRaw);
    for (const decode of respellings) take(decode(text), isRaw);
    for (const decode of decodings) take(decode(text), false);
    if (bytesLeft < 0 || readings.length > readingsMax) return null;
  }
  return readings;
}

/** The texts of `readPath`, each once. */
export function readingsOf(path: string): readonly string[] | null {
  const readings = readPath(path);
  return readings === null ? null : [...new Set(readings.map(({ text }) => text))];
}

/**
 * True when no reader could make anything else of the path: it begins with one slash, and has no escape, parameter,
 * backslash, fragment, control byte, byte beyond ASCII, empty segment, session of ASP.NET (`/(S(x))`), stream of NTFS
 * (`:$`), nor a segment that begins or ends with a dot.
 */
export function isPlainPath(path: string): boolean {
  let previous = 0;
  for (let index = 0; index < path.length; index += 1) {
    const code = path.charCodeAt(index);
    if (code === 0x25 || code === 0x5c || code === 0x3b || code === 0x23 || code <= 0x20 || code >= 0x7f) return false;
    if (code === 0x2f && (previous === 0x2f || previous === 0x2e)) return false;
    if ((code === 0x2e || code === 0x28) && previous === 0x2f) return false;
    if (code === 0x24 && previous === 0x3a) return false;
    previous = code;
  }
  return path.charCodeAt(0) === 0x2f && previous !== 0x2e;
}

/** Percent-decoded once; malformed escapes stay. */
export function decodePercent(text: string): string {
  return decodeWhere(text, () => true);
}

function decodeWhere(text: string, takes: (code: number) => boolean): string {
  let escape = text.indexOf('%');
  if (escape === -1) return text;
  let result = '';
  let from = 0;
  for (; escape !== -1; escape = text.indexOf('%', escape + 1)) {
    const value = hexValue(text, escape + 1, 2);
    if (value < 0 || !takes(value)) continue;
    result += text.slice(from, escape) + String.fromCharCode(value);
    from = escape + 3;
    escape += 2;
  }
  return result + text.slice(from);
}

/** Value of `digits` hexadecimal digits at `at`, or -1. */
function hexValue(text: string, at: number, digits: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index += 1) {
    const code = text.charCodeAt(index);
    const lower = code | 0x20;
    if (code >= 0x30 && code <= 0x39) value = value * 16 + code - 0x30;
    else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + lower - 0x57;
    else return -1;
  }
  return value;
}

/** Separators stay escaped: readers that know `%2F` for a part of a segment (Apache's AllowEncodedSlashes NoDecode). */
const decodeButSeparators = (text: string): string => decodeWhere(text, (code) => code !== 0x2f && code !== 0x5c);
/** Those of RFC 3986 §6.2.2.2 that matter to the structure, as the URL parser of browsers and Node.js does. */
const decodeDots = (text: string): string => decodeWhere(text, (code) => code === 0x2e);

/** Characters that some reader's table maps to one that means something in a path (NFKC, Windows' best fit). */
const lookalikes: ReadonlyMap<number, string> = new Map([
  ...[0xff0e, 0x2024, 0xfe52, 0x3002, 0xff61].map((code) => [code, '.'] as const),
  [0x2025, '..'],
  [0x2026, '...'],
  ...[0xff0f, 0x2044, 0x2215, 0x29f8].map((code) => [code, '/'] as const),
  ...[0xff3c, 0xfe68, 0x2216, 0x29f5, 0x29f9].map((code) => [code, '\\'] as const),
  // The code pages of Japan and Korea have the signs of their currencies in that place.
  ...[0xa5, 0x20a9].map((code) => [code, '\\'] as const),
  ...[0xff1b, 0xfe54, 0x037e].map((code) => [code, ';'] as const),
  ...[0xff05, 0xfe6a].map((code) => [code, '%'] as const),
  ...[0xff1f, 0xfe56].map((code) => [code, '?'] as const),
  ...[0xff03, 0xfe5f].map((code) => [code, '#'] as const),
]);

function characterOf(code: number): string | null {
  return code < 0x80 ? String.fromCharCode(code) : (lookalikes.get(code) ?? null);
}

/** `%u002e` (IIS); others than ASCII and look-alikes become their UTF-8 bytes, which no path is compared with. */
function decodeUnicode(text: string): string {
  if (!/%u/i.test(text)) return text;
  return text.replace(/%u([0-9a-f]{4})/gi, (_written, digits: string) => {
    const code = Number.parseInt(digits, 16);
    return characterOf(code) ?? Buffer.from(String.fromCharCode(code), 'utf8').toString('latin1');
  });
}

/**
 * UTF-8 as careless decoders read it: overlong forms (two to six bytes, continuation bytes unchecked behind a lead
 * byte of two), and look-alikes. What is neither stays.
 */
function foldUtf8(text: string): string {
  let result = '';
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const lead = text.charCodeAt(at);
    if (lead < 0xc0) continue;
    const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : lead < 0xfc ? 5 : 6;
    if (at + length > text.length) continue;
    let code = lead & (0x7f >> length);
    let isSound = true;
    for (let index = 1; index < length; index += 1) {
      const byte = text.charCodeAt(at + index);
      if ((byte & 0xc0) !== 0x80 && length > 2) isSound = false;
      code = code * 64 + (byte & 0x3f);
    }
    const character = isSound ? characterOf(code) : null;
    if (character === null) continue;
    result += text.slice(from, at) + character;
    from = at + length;
    at += length - 1;
  }
  return from === 0 ? text : result + text.slice(from);
}

const wideCharacters = /[\xc4-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;

/** The last byte carries six bits of the code, the one before it the two above them. */
function lowByte(character: string): string {
  const last = character.charCodeAt(character.length - 1);
  return String.fromCharCode((character.charCodeAt(character.length - 2) & 3) * 64 + (last & 63));
}

/**
 * Characters cut to their low byte, as writers of one byte a character do: Node.js writes U+012E and U+FF2E into a head
 * as `.`. Only where that makes something to go up by or to decode: names in other scripts mean themselves.
 */
function cutToBytes(text: string): string {
  if (!/[\xc4-\xf4]/.test(text)) return text;
  const cut = text.replace(wideCharacters, lowByte);
  return /\.\.|%[0-9a-fu][0-9a-f]/i.test(cut) ? cut : text;
}

/** `cutToBytes` whatever it makes: for who adds protection, and loses nothing by one reading too many. */
export function lowBytes(text: string): string {
  return text.replace(wideCharacters, lowByte);
}

/** Bytes beyond ASCII left out (signs without a width, blanks, what is no UTF-8) where that leaves dots alone. */
function dropBeyondAscii(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  const segments = text.split('/').map((segment) => {
    const ascii = segment.replace(/[\x80-\xff]+/g, '');
    return /^[\0- ]*\.[\0- .]*$/.test(ascii) ? ascii : segment;
  });
  return segments.join('/');
}

/** What turns escapes into the bytes that are compared. */
const decodings = [decodePercent, decodeButSeparators] as const;
/** Other spellings, which leave the escapes of the rest for whoever decodes them. */
const respellings = [decodeUnicode, foldUtf8, cutToBytes, dropBeyondAscii] as const;

/** Tomcat and Spring: `/a;v=1/b` is `/a/b`. */
function dropParameters(text: string): string {
  return text.includes(';') ? text.replace(/;[^/\\]*/g, '') : text;
}

function mergeSlashes(text: string): string {
  return text.includes('//') ? text.replace(/\/{2,}/g, '/') : text;
}

/** RFC 3986 §5.2.4; an empty segment is one. */
function resolveDots(text: string): string {
  if (!text.includes('/.')) return text;
  const kept: string[] = [];
  const segments = text.split('/');
  const first = segments[0] === '' ? 1 : 0;
  for (let index = first; index < segments.length; index += 1) {
    const segment = segments[index] as string;
    const isDots = segment === '.' || segment === '..';
    if (segment === '..') kept.pop();
    if (!isDots) kept.push(segment);
    else if (index === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** Windows drops dots and blanks behind a name, Java's trim control bytes around it; two dots alone or more go up. */
function trimSegments(text: string): string {
  return text
    .split('/')
    .map((segment) => {
      const first = segment.charCodeAt(0);
      const last = segment.charCodeAt(segment.length - 1);
      if (!(first <= 0x20 || last <= 0x20 || last === 0x2e)) return segment;
      const trimmed = trimBlanks(segment);
      let end = trimmed.length;
      while (end > 0 && (trimmed.charCodeAt(end - 1) === 0x2e || trimmed.charCodeAt(end - 1) <= 0x20)) end -= 1;
      if (end > 0) return trimmed.slice(0, end);
      return trimmed === '' || trimmed === '.' ? trimmed : '..';
    })
    .join('/');
}

function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  return text.slice(start, end);
}

/** Readers that leave out what does not print. */
function dropControls(text: string): string {
  return text.replace(/[\0-\x1f\x7f]/g, '');
}

/** The tabs and line ends alone: WHATWG's parser keeps other control bytes, and encodes them. */
function dropLineEnds(text: string): string {
  return text.replace(/[\t\n\r]/g, '');
}

/** Where a second parser, or a string of C, ends the path. */
function cutAtEnd(text: string): string {
  const end = text.search(/[\0\r\n?#;]/);
  return end <= 0 ? text : text.slice(0, end);
}

/** Java, Python and JavaScript trim spaces beyond ASCII as well: as single bytes (U+0085, U+00A0), and as UTF-8. */
const space =
  '(?:[\\0-\\x20\\x7f\\x85\\xa0]|\\xc2[\\x85\\xa0]|\\xe1\\x9a\\x80|\\xe2\\x80[\\x80-\\x8f\\xa8\\xa9\\xaf]|' +
  '\\xe2\\x81[\\x9f\\xa0]|\\xe3\\x80\\x80|\\xef\\xbb\\xbf)';
const leadingSpaces = new RegExp(`/${space}+`, 'g');
const trailingSpace = new RegExp(`${space}$`);

function trimSpaces(text: string): string {
  if (!/[\x85\xa0\x80-\xbf]/.test(text)) return text;
  return text
    .replace(leadingSpaces, '/')
    .split('/')
    .map((segment) => {
      let end = segment.length;
      for (;;) {
        const found = trailingSpace.exec(segment.slice(Math.max(0, end - 3), end));
        if (found === null) return segment.slice(0, end);
        end -= found[0].length;
      }
    })
    .join('/');
}

/** `//name/a`: what resolves it as a reference (`new URL(…)`, `parse_url`) takes the first name for a host. */
function dropAuthority(text: string): string {
  const authority = /^[/\\]{2,}[^/\\?#]+/.exec(text);
  return authority === null ? text : text.slice(authority[0].length) || '/';
}

/** ASP.NET without cookies: `/(S(…))/a` is `/a`, and `/a/(S(…))b` is `/ab`. */
function dropSessions(text: string): string {
  if (!text.includes('/(')) return text;
  const dropped = text.replace(/\/\((?:[a-z]\([^/()]*\)){1,4}\)/gi, '');
  return dropped.startsWith('/') ? dropped : `/${dropped}`;
}

/** NTFS: `/a::$DATA` and `/a:$I30:$INDEX_ALLOCATION` are `/a`. */
function dropStreams(text: string): string {
  return text.includes(':$') ? text.replace(/:[^/:\\]*:?\$[^/\\]*/g, '') : text;
}

/** What readers do besides decoding; a raw reading stays one. */
const rewrites = [
  decodeDots,
  dropParameters,
  (text: string): string => text.replaceAll('\\', '/'),
  mergeSlashes,
  resolveDots,
  trimSegments,
  trimSpaces,
  dropAuthority,
  dropSessions,
  dropStreams,
  dropControls,
  dropLineEnds,
  cutAtEnd,
] as const;
