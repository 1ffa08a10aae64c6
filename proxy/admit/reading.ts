// What several gates want to know of one request, read once: the key of its client, and the path as servers may read
// it. Each remembers the request that it read last; a worker has one of each.
//
// A gate that protects a path has to be asked whenever some server behind may take the request for that path, so paths
// are compared in every reading and without case: `//api`, `/;x/api`, `/x/../api`, `/%61pi`, `/API`, `/api.json`.
import { covers, isPlainPath, keyOf, normalisePath, pathKeys, pathOf } from '../http/path-readings.js';
import type { Site } from '../road/route.js';

export class PathReader {
  private uri = '';
  private site: RewritingSite | null = null;
  private paths: readonly string[] | null = [''];

  /**
   * Keys of the path in every reading, nearly always one; null: there are too many to tell. `site`: where it goes; one
   * that puts a base path before it makes more of it.
   */
  readings(uri: string, site: RewritingSite | null = null): readonly string[] | null {
    if (uri === this.uri && site === this.site) return this.paths;
    this.uri = uri;
    this.site = site;
    const path = pathOf(uri);
    this.paths = site === null || site.basePath === null || isPlainPath(path) ? pathKeys(path) : keysAt(site, path);
    return this.paths;
  }
}

/** What of a site says which path its upstream gets. */
export type RewritingSite = Pick<Site, 'prefix' | 'caselessPrefix' | 'basePath' | 'stripsPrefix'>;

/**
 * Also what the upstream makes of the path that it gets, by the names that this has here: of a site `/shop` in front of
 * `http://h/`, `/shop//x/authed` arrives as `//x/authed`, which is `/authed` there for some, and `/shop/authed` here.
 */
function keysAt({ prefix, caselessPrefix, basePath, stripsPrefix }: RewritingSite, path: string): string[] | null {
  const keys = pathKeys(path);
  const rest = stripsPrefix ? path.slice(prefix.length) : path;
  const target = (basePath ?? '') + rest;
  const keysThere = pathKeys(target.startsWith('/') ? target : `/${target}`);
  if (keys === null || keysThere === null) return null;
  const base = keyOf(normalisePath(basePath ?? '')).replace(/\/+$/, '');
  const before = stripsPrefix ? caselessPrefix : '';
  return [...keys, ...keysThere.filter((key) => covers(base, key)).map((key) => before + key.slice(base.length))];
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
