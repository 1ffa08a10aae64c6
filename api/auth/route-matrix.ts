// Route × who may call it, the whole table: the access rows of all features. The test beside app.ts calls every row as
// every role, without a token, and with expired, forged and suspended users' tokens.
import { open, type AccessRows, type Permission, type Role, type RouteAccess } from '../http-kit/index.js';

export interface RouteMatrix {
  /** `METHOD pattern` → access, in the order of the features. */
  readonly rows: AccessRows;
  /** The row of a registered route (Fastify's pattern, `:id` and all); null when there is none. */
  find(method: string, pattern: string): RouteAccess | null;
  /**
   * Methods that exist under this path; asked for paths that answered nobody, so that a wrong method is told from a
   * wrong path.
   */
  methodsOf(path: string): string[];
  /** Whether an API token of this role can call anything with this scope. */
  isUseful(scope: Permission, role: Role): boolean;
}

/** Static files of the API explorer. */
const publicPrefixes = ['/api/docs'] as const;

/** Throws when two features have a row for one route. */
export function mergeAccess(features: readonly { readonly name: string; readonly access: AccessRows }[]): RouteMatrix {
  const owners = new Map<string, string>();
  const rows: Record<string, RouteAccess> = {};
  for (const { name, access } of features) {
    for (const [route, row] of Object.entries(access)) {
      const owner = owners.get(route);
      if (owner !== undefined) throw new Error(`Both ${owner} and ${name} have an access row for ${route}.`);
      owners.set(route, name);
      rows[route] = row;
    }
  }
  return {
    rows,
    find(method, pattern) {
      if (publicPrefixes.some((prefix) => pattern === prefix || pattern.startsWith(`${prefix}/`))) return open;
      return rows[`${method === 'HEAD' ? 'GET' : method} ${pattern}`] ?? null;
    },
    methodsOf(path) {
      const segments = path.split('/');
      const methods = Object.keys(rows).flatMap((row) => {
        const [method = '', pattern = ''] = row.split(' ');
        return !fits(pattern.split('/'), segments) ? [] : method === 'GET' ? ['GET', 'HEAD'] : [method];
      });
      return [...new Set(methods)].sort();
    },
    isUseful: (scope, role) =>
      Object.values(rows).some(
        (access) =>
          access.kind === 'guarded' && access.tokens && access.permission === scope && access.roles.includes(role),
      ),
  };
}

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((part, i) => part === segments[i] || (part.startsWith(':') && segments[i] !== ''));
