// The one reading of a path by which a request is routed: what most servers make of it. All the others, in which no
// path may get less protection, are the engine's (parse/path-readings.ts). Latin1 in and out.
import { decodePercent, isPlainPath } from '#engine';

export { isPlainPath, pathOf, readingsOf } from '#engine';

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
