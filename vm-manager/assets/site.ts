// The site of the firewall that an application goes through. Who names it decides whose traffic, operations and
// virtual patches the application's people meet, so it is named by who reaches the whole organisation, at each door.
import type { Queryable } from '../database.js';
import { isUnconfined, requireWhole, type Reach } from '../kit/caller.js';
import { unfit } from '../kit/endpoint.js';

export const sitesOfOrganisation = 'Links of applications to sites of the firewall';

/**
 * What is known of an application without a site (its specifications) is kept under this name in the store of sites.
 * No site of the firewall can have it: names of sites begin with a letter or a digit.
 */
export const placeOf = (id: number): string => `~application-${id}`;

/** Whether a name of the store of sites is that of an application without one. */
export const isPlace = (site: string): boolean => site.startsWith('~');

/** Both the name itself and what people take for it: nobody is to read of a site what belongs to an application. */
const reserved = /^\s*~|^\s*~?application-\d+\s*$/i;

/**
 * Whether an application may be given this site instead of the one it has. Throws 403 `role_denied` for who reaches a
 * part of the organisation, unless nothing changes, and 422 for a name that is kept for applications without a site.
 */
export function checkSite(reach: Reach, given: string | null, before: string | null): void {
  if ((given ?? '') === (before ?? '') && !isUnconfined(reach)) return;
  requireWhole(reach, sitesOfOrganisation);
  if (given !== null && reserved.test(given))
    throw unfit(
      '/site',
      'is a name that is kept for applications without a site',
      'name a site of the firewall (GET /api/sites), or leave it out',
    );
}

/**
 * The site by which a caller may read what the firewall knows, as an expression over `vm_applications` (or its alias).
 * A link that somebody of a part may have made, before that was refused, does not count for people of a part until
 * somebody of the whole organisation has set it again.
 */
export const readableSite = (sql: Queryable, reach: Reach, table: 'a' | 'vm_applications' = 'vm_applications') => {
  const site = sql`nullif(${sql(table)}.site, '')`;
  return isUnconfined(reach) ? site : sql`case when ${sql(table)}.site_confirmed then ${site} end`;
};
