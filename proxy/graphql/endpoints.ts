// Which paths are endpoints of GraphQL: only there may texts stand for a document when rules look. Elsewhere `query` is
// a value like any other, and names of fields in it (`{ UNION SELECT … }` is a document, too) are for rules to see.
//
// An endpoint is what the owner says (`graphql_paths`) or a specification declares. Rejected: a name such as `graphql`
// anywhere in a path (`/search.php/graphql`, `/graphql/../search` lead to other programs), the media type (a client
// chooses it), the shape of a value (a client writes it), and what traffic seems to teach (a client could teach it).
import { isPlainPath, pathOf } from '#engine';
import type { DataPlaneSettings } from '#settings';
import { keyOf, pathKeys } from '../http/path-readings.js';

/** A path that a specification declares to be one: whole, as clients send it. */
export interface DeclaredGraphql {
  readonly site: string;
  readonly path: string;
}

export type GraphqlConfig = Pick<DataPlaneSettings, 'graphqlProtect' | 'graphqlLimits' | 'graphqlPaths'> & {
  /** Absent: no specification declares any. */
  readonly graphqlDeclared?: readonly DeclaredGraphql[];
};

export interface GraphqlSite {
  readonly name: string;
  /** '' for the root, else without a slash at its end. */
  readonly prefix: string;
}

const trimmed = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

/** The paths of a configuration, made once: they are asked for at each request. */
const listed = new WeakMap<readonly string[], ReadonlySet<string>>();

function listedPaths(paths: readonly string[]): ReadonlySet<string> {
  const known = listed.get(paths);
  if (known !== undefined) return known;
  const made = new Set(paths.map(trimmed));
  listed.set(paths, made);
  return made;
}

/** `uri`: as the client sent it. A path that could be read in two ways is none. `site` null: nobody knows it. */
export function isGraphqlEndpoint(config: GraphqlConfig, site: GraphqlSite | null, uri: string): boolean {
  if (site === null) return false;
  const { graphqlPaths, graphqlDeclared } = config;
  const sent = pathOf(uri);
  const path = trimmed(sent);
  const { name, prefix } = site;
  const isNamed =
    (path.startsWith(prefix) && listedPaths(graphqlPaths).has(prefix === '' ? path : path.slice(prefix.length))) ||
    (graphqlDeclared?.some((one) => one.site === name && trimmed(one.path) === path) ?? false);
  return isNamed && isPlainPath(sent); // asked last: it looks at each character, and hardly any path is named
}

/** Where GraphQL is served, or a suffix or a slash behind it. */
const usualName = /\/(?:graphi?ql|gql)(?=[/;.]|$)/;

/** The keys of a configuration's paths, made once. */
const keysOf = new WeakMap<readonly string[], readonly string[]>();

function listedKeys(paths: readonly string[]): readonly string[] {
  let keys = keysOf.get(paths);
  if (keys === undefined) keysOf.set(paths, (keys = paths.map(keyOfPath)));
  return keys;
}

const keyOfPath = (path: string): string => keyOf(trimmed(Buffer.from(path, 'utf8').toString('latin1')));

/** `/a`, `/a/` and `/a.json` for `/a`; what lies below is something else. */
const isServedAt = (path: string, key: string): boolean =>
  key.startsWith(path) && (key.length === path.length || key[path.length] === '.' || key === `${path}/`);

/**
 * Whether some server takes the path for an endpoint, however it is spelled: for what protects, where
 * `isGraphqlEndpoint` is for what lets through.
 */
export function mayBeGraphqlEndpoint(config: GraphqlConfig, site: GraphqlSite | null, uri: string): boolean {
  const keys = pathKeys(pathOf(uri));
  if (keys === null) return true;
  const { graphqlPaths, graphqlDeclared = [] } = config;
  const prefix = keyOfPath(site?.prefix ?? '');
  for (const key of keys) {
    if (usualName.test(key)) return true;
    if (site === null) continue;
    if (key.startsWith(prefix))
      for (const path of listedKeys(graphqlPaths)) if (isServedAt(path, key.slice(prefix.length))) return true;
    for (const one of graphqlDeclared) if (one.site === site.name && isServedAt(keyOfPath(one.path), key)) return true;
  }
  return false;
}
