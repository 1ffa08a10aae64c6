// How the proxy reads paths. `normalisePath` is the one reading by which a request is routed: what most servers make of
// it. `pathKeys` are the texts in which a path is compared with a prefix that protects. Both are the engine's
// (parse/path-readings.ts, parse/path-keys.ts), whose rules go by them as well.
export { isPlainPath, keyOf, normalisePath, pathKeys, pathOf } from '#engine';

/**
 * Whole segments: `/api` covers `/api`, `/api/…`, and `/api.json`, which frameworks serve by the handler of `/api`; not
 * `/apiary`. `prefix` has no slash at its end; both are keys.
 */
export function covers(prefix: string, key: string): boolean {
  if (!key.startsWith(prefix)) return false;
  const next = key.charCodeAt(prefix.length);
  return key.length === prefix.length || next === 0x2f || next === 0x2e || prefix === '';
}
