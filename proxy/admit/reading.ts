// What several gates want to know of one request, read once: the key of its client, and the path as servers may read
// it. Each remembers the request that it read last; a worker has one of each.
//
// A gate that protects a path has to be asked whenever some server behind may take the request for that path, so paths
// are compared in every reading and without case: `//api`, `/;x/api`, `/x/../api`, `/%61pi`, `/API`, `/api.json`.
import { covers, keyOf, normalisePath, pathKeys, pathOf } from '../http/path-readings.js';

export class PathReader {
  private uri = '';
  private paths: readonly string[] | null = [''];

  /** Keys of the path in every reading, nearly always one; null: there are too many to tell. */
  readings(uri: string): readonly string[] | null {
    if (uri === this.uri) return this.paths;
    this.uri = uri;
    this.paths = pathKeys(pathOf(uri));
    return this.paths;
  }
}

/** A path of the settings as requests are compared with it: `/Api/` is `/api`, `/` is ``, `/a%20b` is `/a b`. */
export function prefixOf(path: string): string {
  return keyOf(normalisePath(Buffer.from(path, 'utf8').toString('latin1'))).replace(/\/+$/, '');
}

/** Whether any of the readings lies under `prefix` (of `prefixOf`); what cannot be told is taken for covered. */
export function isAnyUnder(prefix: string, readings: readonly string[] | null): boolean {
  if (prefix === '' || readings === null) return true;
  for (const path of readings) if (covers(prefix, path)) return true;
  return false;
}
