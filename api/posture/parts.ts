// What the routes of this feature need, and the question which site is meant.
import type { Settings } from '#settings';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { siteNames } from '../spec/requests.js';

export type PostureParts = Pick<Parts, 'database' | 'now' | 'nodeToken' | 'currentSettings'>;

/** `seen`: sites with a specification or with traffic. Throws `not_found`. */
export function requireSeenSite(settings: Settings, seen: readonly string[], site: string): string {
  if (seen.includes(site) || siteNames(settings).includes(site)) return site;
  const known = [...new Set([...siteNames(settings), ...seen])].slice(0, 20).join(', ');
  throw new ApiError('not_found', `There is no site ${site}. Known are ${known}.`, {
    errors: [{ path: '/site', reason: 'names no site', fix: `write one of ${known}` }],
  });
}
