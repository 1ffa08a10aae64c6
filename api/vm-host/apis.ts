// The inventory and the specifications of this server's data plane, for the vulnerability manager.
import type { ApiPort } from '#vm-manager';
import { selectBusiest, type Endpoint } from '../inventory/store.js';
import type { Parts } from '../parts.js';

const toOperation = (one: Endpoint) => ({
  ...{ site: one.site, method: one.method, template: one.template, access: one.access, auth: one.auth },
  ...{ authTypes: one.authTypes, classification: one.classification, categories: one.categories },
  ...{ regulations: one.regulations, risk: one.risk, band: one.band, hits: one.hits, shadow: one.shadow },
  ...{ firstSeen: one.firstSeen, lastSeen: one.lastSeen },
});

export function createApis({ database: { sql } }: Pick<Parts, 'database'>): ApiPort {
  return {
    operations: async (site, max) => (await selectBusiest(sql, site, max)).map(toOperation),
  };
}
