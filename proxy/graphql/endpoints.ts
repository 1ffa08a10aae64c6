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

/** `uri`: as the client sent it. A path that could be read in two ways is none. `site` null: nobody knows it. */
export function isGraphqlEndpoint(config: GraphqlConfig, site: GraphqlSite | null, uri: string): boolean {
  if (site === null) return false;
  const sent = pathOf(uri);
  if (!isPlainPath(sent)) return false;
  const path = trimmed(sent);
  const { name, prefix } = site;
  const isListed = (below: string): boolean => trimmed(below) === path.slice(prefix.length);
  if (path.startsWith(prefix) && config.graphqlPaths.some(isListed)) return true;
  return config.graphqlDeclared?.some((one) => one.site === name && trimmed(one.path) === path) ?? false;
}
