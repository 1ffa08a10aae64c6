// What several gates want to know of one request, read once: the key of its client, and the path as servers may read
// it. Each remembers the request that it read last; a worker has one of each.
//
// A gate that protects a path has to be asked whenever some server behind may take the request for that path, so paths
// are compared in every reading and without case: `//api`, `/x/../api`, `/%61pi`, `/API`.
import { normalisePath, pathOf, readingsOf } from '../http/path-readings.js';

export class PathReader {
  private uri = '';
  private paths: readonly string[] | null = [''];

  /** Lower-case readings of the path, nearly always one; null: there are too many to tell. Latin1. */
  readings(uri: string): readonly string[] | null {
    if (uri === this.uri) return this.paths;
    this.uri = uri;
    this.paths = readingsIn(uri);
    return this.paths;
  }
}

function readingsIn(uri: string): readonly string[] | null {
  const path = pathOf(uri);
  const normal = normalisePath(path);
  if (normal === path) return [path.toLowerCase()];
  const others = readingsOf(path);
  return others === null ? null : [...new Set([normal, ...others].map((reading) => reading.toLowerCase()))];
}

/** A path of the settings as requests are compared with it: `/Api/` is `/api`, `/` is ``, `/a%20b` is `/a b`. */
export function prefixOf(path: string): string {
  return normalisePath(Buffer.from(path, 'utf8').toString('latin1')).replace(/\/+$/, '').toLowerCase();
}

/** Whole segments: `/api` covers `/api` and `/api/…`, not `/apiary`. `prefix` is of `prefixOf`. */
export function isUnder(prefix: string, path: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f);
}

/** The same for any of the readings; what cannot be told is taken for covered. */
export function isAnyUnder(prefix: string, readings: readonly string[] | null): boolean {
  if (prefix === '' || readings === null) return true;
  for (const path of readings) if (isUnder(prefix, path)) return true;
  return false;
}
