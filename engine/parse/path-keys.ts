// The texts in which a path is compared with one that people have written down: every reading (path-readings.ts),
// without case and without what file systems and code pages do not keep. Gates, sites and the variable PATH_READINGS
// share them, so that no protection is got around by a spelling that another one knows. Paths are Latin1, keys Unicode
// of one case.
import { Collection } from '../transaction/collection.js';
import { decodePercent, isPlainPath, lowBytes, pathOf, readingsMax, readingsOf } from './path-readings.js';

/** A script with a path behind it (PATH_INFO): a front controller serves `/index.php/a` as `/a`. */
const scriptSegment = /\/[^/]*\.(?:php\d?|phtml|f?cgi|pl|py|rb|wsgi|cf[mc]|aspx?)(?=\/)/i;

/** A plus sign, also one that a second decoding brings out. */
const plus = /\+|%(?:25)*2b/i;

/**
 * What readers make of the path that take `+` for a blank, as in a form (`urldecode` of PHP, `URLDecoder` of Java,
 * `unquote_plus`): those written so, and those that are decoded to it and decoded again. null as `readingsOf`.
 */
function blanksForPlus(path: string): readonly string[] | null {
  const written = path.replaceAll('+', '%20');
  const decoded = path.replace(/\+|%(?:25)*2b/gi, '%20');
  const first = readingsOf(written);
  const second = written === decoded ? [] : readingsOf(decoded);
  return first === null || second === null ? null : [...first, ...second];
}

/**
 * Where the key of a path is compared: nearly always one; null: the path can mean anything. `keepsSegments`: not
 * without a segment that has no letter of ASCII, which is for those who compare with `/` itself.
 */
export function pathKeys(path: string, keepsSegments = false): readonly string[] | null {
  const isPlain = isPlainPath(path);
  const hasPlus = plus.test(path);
  if (isPlain && !hasPlus && !(path.includes('.') && scriptSegment.test(path))) return [path.toLowerCase()];
  const plain = isPlain ? [path] : readingsOf(path);
  // With blanks for plus signs there are up to three times as many.
  if (plain === null || (hasPlus && plain.length * 3 > readingsMax)) return null;
  const ways = hasPlus ? blanksForPlus(path) : [];
  if (ways === null || plain.length + ways.length > readingsMax) return null;
  const readings = hasPlus ? [...plain, ...ways] : plain;
  const keys = new Set([keyOf(normalisePath(path))]);
  for (const reading of readings) {
    keys.add(lowBytes(reading).toLowerCase());
    const read = reading.replace(/[\x80-\xff]+/g, '').toLowerCase(); // decoders that leave out what they cannot read
    const key = keyOf(reading);
    keys.add(key);
    for (const left of key === read ? [read] : [read, key]) {
      if (!keepsSegments || countEmpty(left) === countEmpty(reading)) keys.add(left);
      if (left.length === reading.length || !/\/[/.]/.test(left)) continue;
      // a segment of nothing but these is none, and `.`, `..` may be what is left of another
      const resolved = resolvePath(left, true, true);
      if (!keepsSegments || resolved !== '/') keys.add(resolved);
    }
    const inner = reading.replace(scriptSegment, '');
    if (inner !== reading) keys.add(keyOf(inner));
  }
  return [...keys];
}

const countEmpty = (text: string): number => text.match(/\/(?=\/|$)/g)?.length ?? 0;

const utf8Character = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;

/**
 * A reading without case, and without the differences that file systems and code pages do not keep: full-width and
 * composed forms, invisible characters (HFS+), and marks on letters beyond Latin1 (Windows' best fit). Bytes
 * that are no UTF-8 are taken for Latin1.
 */
export function keyOf(reading: string): string {
  if (!/[\x80-\xff]/.test(reading)) return reading.toLowerCase();
  return reading
    .replace(utf8Character, (bytes) => Buffer.from(bytes, 'latin1').toString('utf8'))
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\u0100-\u024f\u1e00-\u1eff]/g, (letter) => letter.normalize('NFKD').charAt(0))
    .toUpperCase()
    .toLowerCase();
}

/**
 * The path as most servers read it: percent-encoded characters decoded (twice, for those that decode again),
 * backslashes as slashes, doubled slashes single, path parameters of dot segments gone, dot segments resolved. Latin1
 * in and out.
 */
export function normalisePath(path: string): string {
  if (isPlainPath(path)) return path;
  return resolvePath(decodePercent(decodePercent(path)).replaceAll('\\', '/'), true, true);
}

/** Dot segments resolved; with path parameters dropped and empty segments taken for none, as asked. */
function resolvePath(text: string, dropsParameters: boolean, mergesSlashes: boolean): string {
  const kept: string[] = [];
  const segments = text.split('/');
  for (const [index, segment] of segments.entries()) {
    if (index === 0 && segment === '') continue;
    const parameterAt = dropsParameters ? segment.indexOf(';') : -1;
    const bare = parameterAt === -1 ? segment : segment.slice(0, parameterAt);
    if (bare === '..') kept.pop();
    else if (bare === '.') continue;
    else if (segment !== '' || !mergesSlashes) kept.push(bare === '' ? segment : bare);
    if (
      index === segments.length - 1 &&
      ((segment === '' && mergesSlashes) || bare === '.' || bare === '..') &&
      kept.length > 0
    )
      kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** Suffixes that are cut at each end of a name with many dots: frameworks cut at the first, at the last, or one. */
const cutsMax = 2;

/**
 * The text, without slashes at its end, and without suffixes of its last segment (`/a.json` is served by the handler of
 * `/a`, and so is `/a.tar.gz`; a segment does not begin with its suffix).
 */
function servedForms(text: string): string[] {
  let end = text.length;
  while (end > 1 && text.charCodeAt(end - 1) === 0x2f) end -= 1;
  const bare = text.slice(0, end);
  const forms = bare === text ? [text] : [text, bare];
  const from = bare.lastIndexOf('/') + 2;
  let dot = bare.indexOf('.', from);
  for (let count = 0; dot !== -1 && count < cutsMax; count += 1, dot = bare.indexOf('.', dot + 1))
    forms.push(bare.slice(0, dot));
  dot = bare.lastIndexOf('.');
  for (let count = 0; dot >= from && count < cutsMax; count += 1, dot = bare.lastIndexOf('.', dot - 1))
    forms.push(bare.slice(0, dot));
  return forms;
}

/**
 * PATH_READINGS: what servers may take for the path, for rules that go by it. Members `path`, each reading with its
 * case and its key, and each of them without a slash at the end and without suffixes; `basename`, what follows the last
 * slash of each; `resolved`, the one that most servers have; and `unreadable` (`1`) when there are too many to tell.
 * What is left of escapes is none: REQUEST_FILENAME has it.
 */
export function pathMembers(uri: string): Collection {
  if (last.uri === uri) return last.members;
  const path = pathOf(uri);
  const members = new Collection();
  members.add('resolved', normalisePath(path));
  const texts = isPlainPath(path) ? [path] : readingsOf(path);
  const keys = pathKeys(path, true);
  if (texts === null || keys === null) members.add('unreadable', '1');
  const latin1 = (key: string): string => Buffer.from(key, 'utf8').toString('latin1');
  const forms = [...(texts ?? []), ...(keys ?? []).map(latin1)].flatMap(servedForms);
  for (const text of new Set(forms)) {
    if (/%[0-9a-f]{2}/i.test(text)) continue;
    members.add('path', text);
    members.add('basename', text.slice(text.lastIndexOf('/') + 1));
  }
  last.uri = uri;
  last.members = members;
  return members;
}

/** Of the request that was read last: every rule of a policy asks about the same one. */
const last: { uri: string | null; members: Collection } = { uri: null, members: new Collection() };
