// The table of verdicts short of a ban, and of those on principals. `setVerdicts` is what decides over clients calls:
// routes, and what scores them.
import type { Queryable, Tx } from '../../db/client.js';

export interface VerdictRow {
  /** A network, or a principal as lists have it (`jwt:0123456789abcdef`). */
  readonly network: string;
  /** `deny`: of a principal alone; networks that are denied stand in the deny list. */
  readonly action: 'deny' | 'challenge' | 'throttle';
  readonly reason: string;
  readonly added_by: string;
  readonly added_at: Date;
  readonly expires_at: Date;
}

/** As many as a node takes. */
export const verdictsMax = 100_000;
/** Of them principals. */
export const principalsMax = 20_000;

/** Rows of one statement: on the embedded database others wait for it. */
const verdictChunk = 5000;

/** The last verdict on a network or principal holds. `network` canonical. */
export async function setVerdicts(tx: Tx, verdicts: readonly VerdictRow[]): Promise<void> {
  // one statement must not name a row twice
  const last = [...new Map(verdicts.map((one) => [one.network, one])).values()];
  for (let at = 0; at < last.length; at += verdictChunk)
    await tx`
      insert into verdicts (network, action, reason, added_by, added_at, expires_at)
      select * from json_to_recordset(${JSON.stringify(last.slice(at, at + verdictChunk))}::text::json)
        as n(network text, action text, reason text, added_by text, added_at timestamptz, expires_at timestamptz)
      on conflict (network) do update set action = excluded.action, reason = excluded.reason,
        added_by = excluded.added_by, added_at = excluded.added_at, expires_at = excluded.expires_at`;
}

/** In force, by network; `after`: behind this one. */
export async function listVerdicts(sql: Queryable, after: string, now: Date, limit: number): Promise<VerdictRow[]> {
  return sql<VerdictRow[]>`
    select * from verdicts where expires_at > ${now} and network > ${after} order by network limit ${limit}`;
}

/** Returns how many there were. */
export async function removeVerdict(sql: Queryable, network: string, now: Date): Promise<number> {
  return (await sql`delete from verdicts where network = ${network} and expires_at > ${now}`).count;
}

export async function pruneVerdicts(sql: Queryable, now: Date): Promise<void> {
  await sql`delete from verdicts where expires_at <= ${now}`;
}
