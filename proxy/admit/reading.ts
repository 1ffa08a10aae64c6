// What several gates want to know of one request, read once: the key of its client, and the path as servers may read
// it. Each remembers the request that it read last; a worker has one of each.
//
// A gate that protects a path has to be asked whenever some server behind may take the request for that path, so paths
// are compared in every reading and without case: `//api`, `/x/../api`, `/%61pi`, `/API`.
import { normalisePath, pathOf, readingsOf } from '../http/path-readings.js';

export class PathReader {
  private uri = '';
  private paths: readonly string[] = [''];

  /** Lower-case readings of the path, at least one; nearly always one. Latin1. */
  readings(uri: string): readonly string[] {
    if (uri === this.uri) return this.paths;
    const path = pathOf(uri);
    const normal = normalisePath(path);
    this.paths =
      normal === path
        ? [path.toLowerCase()]
        : [...new Set([normal, ...readingsOf(path)].map((reading) => reading.toLowerCase()))];
    this.uri = uri;
    return this.paths;
  }
}

/** A path of the settings as requests are compared with it: `/Api/` is `/api`, `/` is ``, `/a%20b` is `/a b`. */
export function prefixOf(path: string): string {
  return normalisePath(Buffer.from(path, 'utf8').toString('latin1')).replace(/\/+$/, '').toLowerCase();
}

/** Whole segments: `/api` covers `/api` and `/api/…`, not `/apiary`. `prefix` is of `prefixOf`. */
export function isUnder(prefix: string, path: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f);
}

/** The same for any of the readings. */
export function isAnyUnder(prefix: string, readings: readonly string[]): boolean {
  if (prefix === '') return true;
  for (const path of readings) if (isUnder(prefix, path)) return true;
  return false;
}
