import type { Queryable, Tx } from '../db/client.js';

export interface ThreatAddress {
  readonly network: string;
  readonly source: string;
  readonly reason: string;
  readonly added_by: string;
  readonly added_at: Date;
  readonly expires_at: Date | null;
}

export interface NewThreats {
  readonly networks: readonly string[];
  /** `manual`, `autoban`, or the name of a feed. */
  readonly source: string;
  readonly reason: string;
  readonly addedBy: string;
  readonly expiresAt: Date | null;
}

const chunk = 20_000;

/** Adds networks; ones that this source has already get the new reason and expiry. Returns how many are new to it. */
export async function addThreats(tx: Tx, input: NewThreats, now: Date): Promise<number> {
  let added = 0;
  for (let at = 0; at < input.networks.length; at += chunk) {
    const part = input.networks.slice(at, at + chunk);
    const rows = await tx<{ inserted: boolean }[]>`
      insert into threat_addresses (network, source, reason, added_by, added_at, expires_at)
      select value, ${input.source}::text, ${input.reason}::text, ${input.addedBy}::text, ${now}::timestamptz, ${input.expiresAt}::timestamptz from jsonb_array_elements_text(${tx.json([...part])}::jsonb)
      on conflict (network, source) do update set reason = excluded.reason, expires_at = excluded.expires_at, added_by = excluded.added_by
      returning (xmax = 0) as inserted`;
    added += rows.filter((row) => row.inserted).length;
  }
  return added;
}

/** A feed's new list: what it no longer names goes, what it names stays or comes. Entries of other sources are not touched. */
export async function replaceFeed(tx: Tx, source: string, networks: readonly string[], now: Date): Promise<{ readonly total: number; readonly removed: number }> {
  // a table to join with: `not in` over a million values would be compared one by one
  await tx`create temporary table feed_now (network text primary key) on commit drop`;
  for (let at = 0; at < networks.length; at += chunk) await tx`insert into feed_now select value from jsonb_array_elements_text(${tx.json(networks.slice(at, at + chunk))}::jsonb) on conflict do nothing`;
  const removed = await tx`delete from threat_addresses t where t.source = ${source} and not exists (select 1 from feed_now f where f.network = t.network)`;
  await tx`insert into threat_addresses (network, source, reason, added_by, added_at) select network, ${source}::text, '', 'feed', ${now}::timestamptz from feed_now on conflict (network, source) do nothing`;
  await tx`drop table feed_now`;
  return { total: networks.length, removed: removed.count };
}

export async function removeThreats(tx: Tx, networks: readonly string[]): Promise<number> {
  return (await tx`delete from threat_addresses where network in (select value from jsonb_array_elements_text(${tx.json([...networks])}::jsonb))`).count;
}

/** Every network in force, once however many sources name it; streams in pages so that a million never lie in memory twice. */
export async function* activeNetworks(sql: Queryable, now: Date): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const rows = await sql<{ network: string }[]>`select distinct network from threat_addresses where network > ${after} and (expires_at is null or expires_at > ${now}) order by network limit 50000`;
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => row.network);
    after = last.network;
  }
}

export async function pruneThreats(sql: Queryable, now: Date): Promise<number> {
  return (await sql`delete from threat_addresses where expires_at <= ${now}`).count;
}
