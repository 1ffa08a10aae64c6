// Which paths are endpoints of GraphQL: only there may texts stand for a document when rules look. Elsewhere `query` is
// a value like any other, and names of fields in it (`{ UNION SELECT … }` is a document, too) are for rules to see.
//
// An endpoint is what the owner says (`graphql_paths`) or a specification declares. Rejected: a name such as `graphql`
// anywhere in a path (`/search.php/graphql`, `/graphql/../search` lead to other programs), the media type (a client
// chooses it), the shape of a value (a client writes it), and what traffic seems to teach (a client could teach it).
import { isPlainPath, pathOf } from '#engine';
import type { DataPlaneSettings } from '#settings';

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
