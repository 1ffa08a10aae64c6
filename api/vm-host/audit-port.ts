// The control plane's audit log, as the vulnerability manager writes and reads it.
import type { AuditFilter, AuditPort } from '#vm-manager';
import { toCanonicalJson } from '../audit/canonical-json.js';
import { selectEntries } from '../audit/entries.js';
import { toAuditEntry, toHashedText, type AuditRow } from '../audit/chain.js';
import type { Parts } from '../parts.js';

export function createAuditReader({ audit, database }: Pick<Parts, 'audit' | 'database'>): AuditPort {
  return {
    async record(tx, entry) {
      await audit.record(tx, entry);
    },
    async list({ actor, action, q, id, before, limit }: AuditFilter) {
      const wanted = {
        from: undefined,
        to: undefined,
        ...(actor === undefined ? {} : { actor }),
        ...(action === undefined ? {} : { action }),
        ...(q === undefined ? {} : { q }),
      };
      const rows = await selectEntries(database.sql, wanted, id === undefined ? before : id + 1, limit);
      return rows.map(toAuditEntry).filter((row) => id === undefined || row.id === id);
    },
    verify: () => audit.verify(database.sql),
    async excerpt({ from, to, after, limit }) {
      // without a gap, also where the clock went back
      const within = database.sql`from audit_entries where at >= ${from} and at < ${to}`;
      const rows = await database.sql<AuditRow[]>`
        select * from audit_entries
        where id > ${after} and id >= (select min(id) ${within}) and id <= (select max(id) ${within})
        order by id limit ${limit}`;
      return rows.map((row) => ({ id: row.id, text: toHashedText(row), hash: row.hash }));
    },
    async find(action, details, { from, to }) {
      const [row] = await database.sql<{ id: number }[]>`
        select id from audit_entries
        where at >= ${from} and at < ${to} and action = ${action} and details = ${toCanonicalJson(details)}
        order by id desc limit 1`;
      return row ?? null;
    },
    async hashesOf(ids) {
      if (ids.length === 0) return new Map();
      const rows = await database.sql<{ id: number; hash: string }[]>`
        select id, hash from audit_entries where id in ${database.sql([...ids])}`;
      return new Map(rows.map(({ id, hash }) => [id, hash]));
    },
  };
}
