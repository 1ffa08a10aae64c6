// The audit log is a hash chain: each entry's SHA-256 covers its content and the hash before it, so a changed, removed
// or inserted entry breaks the chain at a named place. The chain's two ends are sealed with a key that is not in the
// database (HMAC), so whoever can only write the database cannot recompute the chain or cut its end off unnoticed.
import { createHash } from 'node:crypto';
import type { Queryable, Tx } from '../db/client.js';
import type { Sealing } from '../auth/sealing.js';
import type { Actor } from '../http-kit/index.js';
import type { AuditAction } from './actions.js';
import { toCanonicalJson } from './canonical-json.js';

export interface AuditInput {
  readonly actor: Actor;
  /** For programs. */
  readonly action: AuditAction;
  /** One sentence for people. */
  readonly summary: string;
  readonly details?: unknown;
}

export interface AuditEntry {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly actor_id: string | null;
  readonly role: string;
  readonly source_ip: string;
  readonly action: string;
  readonly summary: string;
  readonly details: unknown;
  readonly prev_hash: string;
  readonly hash: string;
}

export interface AuditRow extends Omit<AuditEntry, 'at' | 'details'> {
  readonly at: Date;
  readonly details: string;
}

interface Ends {
  readonly last_id: number;
  readonly last_hash: string;
  readonly anchor_id: number;
  readonly anchor_hash: string;
  readonly seal: string;
}

const genesis = '0'.repeat(64);

/** What the hash of an entry covers; it ends with the hash of the entry before. */
export function toHashedText(row: Omit<AuditRow, 'hash'>): string {
  const { id, at, actor, actor_id, role, source_ip, action, summary, details, prev_hash } = row;
  return toCanonicalJson([id, at.toISOString(), actor, actor_id, role, source_ip, action, summary, details, prev_hash]);
}

const hashEntry = (row: Omit<AuditRow, 'hash'>): string => createHash('sha256').update(toHashedText(row)).digest('hex');

function sealEnds(sealing: Sealing, ends: Omit<Ends, 'seal'>): string {
  return sealing.sign(`audit:${ends.last_id}:${ends.last_hash}:${ends.anchor_id}:${ends.anchor_hash}`);
}

export interface AuditLog {
  /** Appends inside the caller's transaction: the action and its entry are kept or lost together. */
  record(tx: Tx, input: AuditInput): Promise<AuditEntry>;
  verify(sql: Queryable): Promise<AuditVerification>;
  /** Removes entries older than `before`, moving the sealed anchor; the rest still verifies. Returns how many went. */
  prune(tx: Tx, before: Date): Promise<number>;
}

export interface AuditVerification {
  readonly ok: boolean;
  readonly checked: number;
  /** The first entry that does not hold; `id` may be one that is missing. */
  readonly first_broken: { readonly id: number; readonly reason: string } | null;
}

export function createAuditLog(sealing: Sealing, now: () => number): AuditLog {
  const lockEnds = async (tx: Tx): Promise<Ends> => {
    const beginning = { last_id: 0, last_hash: genesis, anchor_id: 0, anchor_hash: genesis };
    const sealed = { ...beginning, seal: sealEnds(sealing, beginning) };
    await tx`insert into audit_chain ${tx(sealed)} on conflict do nothing`;
    const [ends] = await tx<
      Ends[]
    >`select last_id, last_hash, anchor_id, anchor_hash, seal from audit_chain for update`;
    if (ends === undefined) throw new Error('the audit chain has no end row');
    return ends;
  };
  const storeEnds = async (tx: Tx, ends: Omit<Ends, 'seal'>): Promise<void> => {
    const { last_id, last_hash, anchor_id, anchor_hash } = ends;
    await tx`
      update audit_chain set last_id = ${last_id}, last_hash = ${last_hash},
        anchor_id = ${anchor_id}, anchor_hash = ${anchor_hash}, seal = ${sealEnds(sealing, ends)}`;
  };
  return {
    async record(tx, input) {
      const ends = await lockEnds(tx);
      const row = {
        id: ends.last_id + 1,
        at: new Date(now()),
        actor: input.actor.name,
        actor_id: input.actor.id,
        role: input.actor.role,
        source_ip: input.actor.sourceIp,
        action: input.action,
        summary: input.summary.replaceAll('\u0000', ''),
        details: toCanonicalJson(input.details ?? null).replaceAll('\\u0000', ''),
        prev_hash: ends.last_hash,
      };
      const hash = hashEntry(row);
      await tx`insert into audit_entries ${tx({ ...row, hash })}`;
      await storeEnds(tx, { ...ends, last_id: row.id, last_hash: hash });
      return toAuditEntry({ ...row, hash });
    },
    verify: (sql) => verifyChain(sql, sealing),
    async prune(tx, before) {
      const ends = await lockEnds(tx);
      // the newest entry always stays: the chain keeps a link to hold on to
      const [oldest] = await tx<
        { id: number | null }[]
      >`select max(id) as id from audit_entries where at < ${before} and id < ${ends.last_id}`;
      const upTo = oldest?.id ?? null;
      if (upTo === null) return 0;
      const [anchor] = await tx<{ hash: string }[]>`select hash from audit_entries where id = ${upTo}`;
      const gone = await tx`delete from audit_entries where id <= ${upTo}`;
      await storeEnds(tx, { ...ends, anchor_id: upTo, anchor_hash: anchor?.hash ?? genesis });
      return gone.count;
    },
  };
}

async function verifyChain(sql: Queryable, sealing: Sealing): Promise<AuditVerification> {
  const [ends] = await sql<Ends[]>`select last_id, last_hash, anchor_id, anchor_hash, seal from audit_chain`;
  const [any] = await sql<{ n: number }[]>`select count(*) as n from audit_entries`;
  if (ends === undefined)
    return any?.n === 0
      ? { ok: true, checked: 0, first_broken: null }
      : { ok: false, checked: 0, first_broken: { id: 1, reason: 'the sealed end of the chain was removed' } };
  let [previousId, previousHash, checked] = [ends.anchor_id, ends.anchor_hash, 0];
  const broken = (id: number, reason: string): AuditVerification => ({
    ok: false,
    checked,
    first_broken: { id, reason },
  });
  const sealed = sealEnds(sealing, ends) === ends.seal;
  for (;;) {
    const rows = await sql<AuditRow[]>`select * from audit_entries where id > ${previousId} order by id limit 1000`;
    for (const row of rows) {
      // an entry appended while we read belongs to the next verification
      if (sealed && row.id > ends.last_id) return { ok: true, checked, first_broken: null };
      if (row.id !== previousId + 1) return broken(previousId + 1, 'the entry was removed');
      if (row.prev_hash !== previousHash) return broken(row.id, 'the entry does not follow the one before it');
      if (hashEntry(row) !== row.hash) return broken(row.id, 'the entry was changed');
      [previousId, previousHash] = [row.id, row.hash];
      checked++;
    }
    if (rows.length === 0) break;
  }
  const [early] = await sql<
    { id: number }[]
  >`select id from audit_entries where id <= ${ends.anchor_id} order by id limit 1`;
  if (early !== undefined) return broken(early.id, 'the entry lies before the sealed beginning');
  if (!sealed)
    return broken(ends.last_id, 'the seal over the chain is not ours: the whole chain may have been rewritten');
  if (previousId < ends.last_id) return broken(previousId + 1, 'the entry was removed');
  if (previousHash !== ends.last_hash) return broken(previousId, 'the entry is not the one that was sealed');
  return { ok: true, checked, first_broken: null };
}

export function toAuditEntry(row: AuditRow): AuditEntry {
  return { ...row, at: row.at.toISOString(), details: JSON.parse(row.details) as unknown };
}
