// The control plane's audit log, as the vulnerability manager writes and reads it.
import type { AuditFilter, AuditPort } from '#vm-manager';
import { selectEntries } from '../audit/entries.js';
import { toAuditEntry } from '../audit/chain.js';
import type { Parts } from '../parts.js';

export function createAuditReader({ audit, database }: Pick<Parts, 'audit' | 'database'>): AuditPort {
  return {
    async record(tx, entry) {
      await audit.record(tx, entry);
    },
    async list({ actor, action, q, before, limit }: AuditFilter) {
      const wanted = {
        from: undefined,
        to: undefined,
        ...(actor === undefined ? {} : { actor }),
        ...(action === undefined ? {} : { action }),
        ...(q === undefined ? {} : { q }),
      };
      const rows = await selectEntries(database.sql, wanted, before, limit);
      return rows.map(toAuditEntry);
    },
    verify: () => audit.verify(database.sql),
  };
}
