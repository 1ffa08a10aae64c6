// How servers may read the path of a request: decoded once or twice, dot segments resolved, slashes merged or not.
// Latin1 in and out.

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

/**
 * The path as servers may read it that decode not at all, once or twice, and then resolve it in more or less generous
 * ways.
 */
export function readingsOf(path: string): string[] {
  const once = decodePercent(path);
  const readings = new Set<string>();
  for (const text of [path, once, decodePercent(once)]) {
    readings.add(text);
    for (let ways = 0; ways < 8; ways += 1)
      readings.add(
        resolvePath((ways & 1) === 0 ? text : text.replaceAll('\\', '/'), (ways & 2) !== 0, (ways & 4) !== 0),
      );
  }
  return [...readings];
}

/**
 * The path as most servers read it: percent-encoded characters decoded (twice, for those that decode again),
 * backslashes as slashes, doubled slashes single, path parameters of dot segments gone, dot segments resolved. Latin1
 * in and out.
 */
export function normalisePath(path: string): string {
  if (isPlain(path)) return path;
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

/** True when no byte of the path could be read in another way. */
function isPlain(path: string): boolean {
  let previous = 0;
  for (let index = 0; index < path.length; index += 1) {
    const code = path.charCodeAt(index);
    if (code === 0x25 || code === 0x5c || code === 0x3b) return false;
    if (previous === 0x2f && (code === 0x2f || code === 0x2e)) return false;
    previous = code;
  }
  return path.charCodeAt(0) === 0x2f;
}

function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  let result = '';
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x25 && index + 2 < text.length) {
      const value = hexValue(text.charCodeAt(index + 1)) * 16 + hexValue(text.charCodeAt(index + 2));
      if (value >= 0) {
        result += String.fromCharCode(value);
        index += 2;
        continue;
      }
    }
    result += text[index] as string;
  }
  return result;
}

/** Very negative for what is no hexadecimal digit, so that a sum with one stays negative. */
function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1000;
}
