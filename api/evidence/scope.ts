// What an exclusion applies to, as the database compares it with the paths of requests.
import { createHash } from 'node:crypto';
import type { Settings } from '#settings';

export type Exclusion = Settings['rule_exclusions'][number];

/** What it excludes, in short: an exclusion that is changed, or another one under its id, is counted anew. */
export function scopeOf({ rule_id, tag, target, path, method }: Exclusion): string {
  return createHash('sha256')
    .update(JSON.stringify([rule_id, tag, target, path, method]))
    .digest('hex')
    .slice(0, 16);
}

/**
 * `/a/*` + `/b` → an expression of the database for the path as it was sent, up to the query; null matches every path.
 */
export function pathPattern(path: string | null): string | null {
  if (path === null) return null;
  const segments = path
    .replace(/(?:\/\*?)+$/, '')
    .split('/')
    .map((segment) =>
      segment
        .split('*')
        .map((part) => part.replace(/[^A-Za-z0-9_-]/g, '\\$&'))
        .join('[^/?#]*'),
    );
  return `^${segments.join('/')}([/?#]|$)`;
}

/**
 * A `like` that holds for every path that `pathPattern` matches, and many times cheaper: it rules out nearly all of
 * them.
 */
export const roughPattern = (path: string | null): string =>
  `${(path ?? '')
    .replace(/(?:\/\*?)+$/, '')
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')}%`;
