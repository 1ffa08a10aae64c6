// The table of automatic bans.
import type { Queryable, Tx } from '../db/client.js';
import type { NodeBan } from './node-gates.js';

export interface BanRow {
  readonly id: number;
  readonly network: string;
  readonly node: string;
  readonly zone: string;
  readonly request_id: string;
  readonly offence: number;
  readonly threshold: number;
  readonly window_seconds: number;
  readonly banned_at: Date;
  readonly expires_at: Date;
  readonly lifted_at: Date | null;
  readonly lifted_by: string | null;
}

/** How long bans are kept after their end. */
const keptMs = 90 * 86_400_000;

/** Adds bans of one node; returns those that are new. */
export async function addBans(tx: Tx, node: string, bans: readonly NodeBan[]): Promise<BanRow[]> {
  if (bans.length === 0) return [];
  const given = bans.map(({ atMs, untilMs, requestId, windowSeconds, ...rest }) => ({
    ...rest,
    request_id: requestId,
    window_seconds: windowSeconds,
    banned_at: new Date(atMs),
    expires_at: new Date(untilMs),
  }));
  const rows = await tx<BanRow[]>`
    insert into bans (network, node, zone, request_id, offence, threshold, window_seconds, banned_at, expires_at)
    select n.network, ${node}::text, n.zone, n.request_id, n.offence, n.threshold, n.window_seconds, n.banned_at,
      n.expires_at
    from json_to_recordset(${JSON.stringify(given)}::text::json) as n(network text, zone text, request_id text,
      offence integer, threshold integer, window_seconds integer, banned_at timestamptz, expires_at timestamptz)
    on conflict (network, node, banned_at) do nothing returning *`;
  return rows.sort((left, right) => left.id - right.id);
}

export interface BanQuery {
  /** Only those in force. */
  readonly isActive: boolean;
  /** Older than this one; null: from the newest on. */
  readonly before: number | null;
  readonly now: Date;
}

export async function listBans(sql: Queryable, { isActive, before, now }: BanQuery, limit: number): Promise<BanRow[]> {
  return sql<BanRow[]>`
    select * from bans where true
    ${before === null ? sql`` : sql`and id < ${before}`}
    ${isActive ? sql`and lifted_at is null and expires_at > ${now}` : sql``}
    order by id desc limit ${limit}`;
}

/** A ban of the same client on the same node, of which the next one was made longer. */
export interface EarlierBan {
  readonly banned_at: Date;
  readonly expires_at: Date;
  readonly request_id: string;
}

/** Of one ban. */
export const earlierMax = 10;

/**
 * By the id of each of these bans, those before it that its node still held against the client: as many as its number
 * says, the newest first, at most `earlierMax`. A ban that was lifted is forgotten, and so it is not one of them.
 */
export async function earlierBans(sql: Queryable, bans: readonly BanRow[]): Promise<Map<number, EarlierBan[]>> {
  const repeated = bans.filter(({ offence }) => offence > 1);
  const earlier = new Map<number, EarlierBan[]>(repeated.map(({ id }) => [Number(id), []]));
  if (repeated.length === 0) return earlier;
  const ids = JSON.stringify(repeated.map(({ id }) => Number(id)));
  const rows = await sql<(EarlierBan & { readonly of_id: number; readonly offence: number })[]>`
    select b.id as of_id, b.offence, e.banned_at, e.expires_at, e.request_id
    from bans b join lateral (
      select banned_at, expires_at, request_id from bans
      where network = b.network and node = b.node and banned_at < b.banned_at and lifted_at is null
      order by banned_at desc limit ${earlierMax}
    ) e on true
    where b.id in (select value::bigint from json_array_elements_text(${ids}::text::json))
    order by b.id, e.banned_at desc`;
  for (const { of_id: id, offence, ...ban } of rows) {
    const known = earlier.get(Number(id));
    if (known !== undefined && known.length < offence - 1) known.push(ban);
  }
  return earlier;
}

/** Ends the bans of these networks before their time, in one statement; returns how many there were. */
export async function liftBans(sql: Queryable, networks: readonly string[], by: string, now: Date): Promise<number> {
  return (
    await sql`
      update bans set lifted_at = ${now}, lifted_by = ${by}
      where network in (select value from json_array_elements_text(${JSON.stringify(networks)}::text::json))
        and lifted_at is null and expires_at > ${now}`
  ).count;
}

/** Bans in force whose network somebody took off the deny list. */
export async function findUnlisted(sql: Queryable, source: string, now: Date): Promise<string[]> {
  const rows = await sql<{ network: string }[]>`
    select distinct b.network from bans b
    where b.lifted_at is null and b.expires_at > ${now} and not exists (
      select 1 from threat_addresses t where t.network = b.network and t.source = ${source})`;
  return rows.map(({ network }) => network);
}

/** Networks of those bans of a node that were lifted here while it did not hear of it; one statement for all. */
export async function findLifted(sql: Queryable, node: string, bans: readonly NodeBan[]): Promise<string[]> {
  if (bans.length === 0) return [];
  const given = bans.map(({ network, atMs }) => ({ network, banned_at: new Date(atMs) }));
  const rows = await sql<{ network: string }[]>`
    select distinct b.network
    from json_to_recordset(${JSON.stringify(given)}::text::json) as n(network text, banned_at timestamptz)
    join bans b on b.network = n.network and b.node = ${node} and b.banned_at = n.banned_at
    where b.lifted_at is not null order by 1`;
  return rows.map(({ network }) => network);
}

export async function pruneBans(sql: Queryable, now: Date): Promise<void> {
  await sql`delete from bans where expires_at < ${new Date(now.getTime() - keptMs)}`;
}

/** Addresses of people who are logged in and were there within the last hour. */
export async function addressesOfPeople(sql: Queryable, now: Date): Promise<string[]> {
  const rows = await sql<{ source_ip: string }[]>`
    select distinct source_ip from sessions
    where revoked_at is null and expires_at > ${now} and last_seen_at > ${new Date(now.getTime() - 3600_000)}
      and source_ip <> '' limit 5000`;
  return rows.map(({ source_ip: address }) => address);
}
