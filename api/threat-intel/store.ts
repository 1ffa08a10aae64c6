// The table of the deny list.
import { listOf } from '../http-kit/index.js';
import type { Queryable, Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';

export interface ThreatAddress {
  readonly network: string;
  readonly source: string;
  readonly reason: string;
  readonly added_by: string;
  readonly added_at: Date;
  readonly expires_at: Date | null;
}

/**
 * Who can name an address: people, exit nodes of Tor, the feed of the settings, the managed feed, bans of nodes, the
 * detection engine, findings of API abuse.
 */
export const threatSources = ['manual', 'tor', 'feed', 'managed', 'auto-ban', 'ai', 'api-abuse'] as const;

export interface NewThreats {
  readonly networks: readonly string[];
  /** One of `threatSources`. */
  readonly source: string;
  readonly reason: string;
  readonly addedBy: string;
  readonly expiresAt: Date | null;
}

/**
 * Entries of one statement. On the embedded database others wait for it, so a long import is a transaction for each.
 */
export const threatChunk = 20_000;
const analyzeFrom = 10_000;

/** Beyond this a change is told as "many", and the whole list is read and sent. */
export const touchedMax = 5000;
const changesKept = 50_000;
/** Expired entries stay that long, so that whoever looks less often than that has to read the whole list. */
export const expiryKnownMs = 3600_000;

/**
 * For whoever sends the list on: these may be in it or not any more. Revisions come in the order of commits, because
 * one writer at a time takes them; the order of locks is rows of the list, this one, the audit log.
 */
async function recordTouched(tx: Tx, networks: readonly string[]): Promise<void> {
  if (networks.length === 0) return;
  await lockUntilCommit(tx, 'threats');
  const told = networks.length > touchedMax ? [null] : networks;
  await tx`
    insert into threat_changes (network)
    select value from json_array_elements_text(${JSON.stringify(told)}::text::json)`;
}

/**
 * After many entries changed: reading the list in order depends on what the planner believes of the table, and the
 * embedded database looks only when told.
 */
export async function settleThreats(sql: Queryable, changed: number): Promise<void> {
  if (changed >= analyzeFrom) await sql`analyze threat_addresses`;
}

export interface ThreatQuery {
  /** Network and source of the last row of the page before; '' and '' for the first. */
  readonly after: readonly [network: string, source: string];
  readonly source: string | readonly string[] | undefined;
  /** Beginning of the network. */
  readonly q: string | undefined;
  readonly now: Date;
}

/** Entries in force, in the order of networks. */
export async function listThreats(
  sql: Queryable,
  { after, source, q, now }: ThreatQuery,
  limit: number,
): Promise<ThreatAddress[]> {
  return sql<ThreatAddress[]>`
    select * from threat_addresses
    where (network, source) > (${after[0]}, ${after[1]}) and (expires_at is null or expires_at > ${now})
    ${source === undefined ? sql`` : sql`and source in ${sql([...listOf(source)])}`}
    ${q === undefined ? sql`` : sql`and starts_with(network, ${q})`}
    order by network, source limit ${limit}`;
}

/** Adds networks; ones that this source has already get the new reason and expiry. Returns how many are new to it. */
export async function addThreats(tx: Tx, input: NewThreats, now: Date): Promise<number> {
  let added = 0;
  for (let at = 0; at < input.networks.length; at += threatChunk) {
    const part = input.networks.slice(at, at + threatChunk);
    // in order, so that neighbours land on the same pages of the index; counted there, not sent back row by row
    const [row] = await tx<{ added: number }[]>`
      with done as (
        insert into threat_addresses (network, source, reason, added_by, added_at, expires_at)
        select value, ${input.source}::text, ${input.reason}::text, ${input.addedBy}::text,
          ${now}::timestamptz, ${input.expiresAt}::timestamptz
        from json_array_elements_text(${JSON.stringify(part)}::text::json) order by value
        on conflict (network, source) do update
        set reason = excluded.reason, expires_at = excluded.expires_at, added_by = excluded.added_by
        returning (xmax = 0) as inserted)
      select count(*) filter (where inserted) as added from done`;
    added += row?.added ?? 0;
  }
  await recordTouched(tx, input.networks);
  return added;
}

export interface NewThreat {
  readonly network: string;
  readonly reason: string;
  readonly expiresAt: Date | null;
}

/**
 * As `addThreats`, for entries with a reason and an end of their own; of two for one network the later holds. A few
 * statements however many there are.
 */
export async function addEachThreat(
  tx: Tx,
  entries: readonly NewThreat[],
  { source, addedBy }: Pick<NewThreats, 'source' | 'addedBy'>,
  now: Date,
): Promise<void> {
  const last = [...new Map(entries.map((one) => [one.network, one])).values()];
  for (let at = 0; at < last.length; at += threatChunk)
    await tx`
      insert into threat_addresses (network, source, reason, added_by, added_at, expires_at)
      select n.network, ${source}::text, n.reason, ${addedBy}::text, ${now}::timestamptz, n."expiresAt"
      from json_to_recordset(${JSON.stringify(last.slice(at, at + threatChunk))}::text::json)
        as n(network text, reason text, "expiresAt" timestamptz) order by n.network
      on conflict (network, source) do update
      set reason = excluded.reason, expires_at = excluded.expires_at, added_by = excluded.added_by`;
  await recordTouched(
    tx,
    last.map(({ network }) => network),
  );
}

/**
 * A feed's new list: what it no longer names goes, what it names stays or comes. Entries of other sources are not
 * touched.
 */
export async function replaceFeed(
  tx: Tx,
  source: string,
  networks: readonly string[],
  now: Date,
): Promise<{ readonly total: number; readonly removed: number }> {
  // a table to join with: `not in` over a million values would be compared one by one
  await tx`create temporary table feed_now (network text collate "C" primary key) on commit drop`;
  for (let at = 0; at < networks.length; at += threatChunk) {
    const part = JSON.stringify(networks.slice(at, at + threatChunk));
    await tx`
      insert into feed_now select value from json_array_elements_text(${part}::text::json)
      order by value on conflict do nothing`;
  }
  // one more than is told by name says that there are too many, without all of them being read
  const touched = (rows: readonly { readonly network: string }[]): string[] => rows.map(({ network }) => network);
  const isGone = tx`
    t.source = ${source} and not exists (select 1 from feed_now f where f.network = t.network)`;
  const gone = touched(
    await tx<{ network: string }[]>`
      select network from threat_addresses t where ${isGone} limit ${touchedMax + 1}`,
  );
  const come = touched(
    await tx<{ network: string }[]>`
      select network from feed_now f where not exists (
        select 1 from threat_addresses t where t.source = ${source} and t.network = f.network)
      limit ${touchedMax + 1}`,
  );
  const removed = await tx`delete from threat_addresses t where ${isGone}`;
  await tx`
    insert into threat_addresses (network, source, reason, added_by, added_at)
    select network, ${source}::text, '', 'feed', ${now}::timestamptz from feed_now order by network
    on conflict (network, source) do nothing`;
  await settleThreats(tx, networks.length + removed.count);
  await recordTouched(tx, [...gone, ...come]);
  await tx`drop table feed_now`;
  return { total: networks.length, removed: removed.count };
}

export async function removeThreats(tx: Tx, networks: readonly string[]): Promise<number> {
  const { count } = await tx`
    delete from threat_addresses
    where network in (select value from jsonb_array_elements_text(${tx.json([...networks])}::jsonb))`;
  await recordTouched(tx, networks);
  return count;
}

/** The entry of one source; those of others stay. */
export async function removeThreatsOf(tx: Tx, network: string, source: string): Promise<void> {
  await tx`delete from threat_addresses where network = ${network} and source = ${source}`;
  await recordTouched(tx, [network]);
}

export interface NetworkPage {
  /** One a line, with the end of its ban behind a blank where it has one, each line ended. */
  readonly text: string;
  readonly networks: number;
}

/**
 * When the ban of a network ends, of all sources that name it, as the data plane reads it: milliseconds since 1970 as
 * text; null where one of them never ends. For queries that group by network.
 */
export const endOfBan = (sql: Queryable) =>
  sql`case when bool_or(expires_at is null) then null
    else (extract(epoch from max(expires_at)) * 1000)::bigint::text end`;

/**
 * Every network in force, once however many sources name it, in order. In pages, each joined by the database: a million
 * rows as objects would cost more than everything else on this road, and a page keeps the one connection of the
 * embedded database for a moment only.
 */
export async function* activeNetworks(sql: Queryable, now: Date): AsyncGenerator<NetworkPage> {
  for (let after = ''; ; ) {
    const [page] = await sql<{ text: string | null; last: string; networks: number }[]>`
      select string_agg(network || coalesce(' ' || ends, ''), chr(10) order by network) as text,
        max(network) as last, count(*) as networks
      from (
        select network, ${endOfBan(sql)} as ends from threat_addresses
        where network > ${after} and (expires_at is null or expires_at > ${now})
        group by network order by network limit 50000) page`;
    if (page === undefined || page.text === null) return;
    yield { text: `${page.text}\n`, networks: page.networks };
    after = page.last;
  }
}

/**
 * Expired entries that nobody has to be told about any more: what ends is told when it ends, as a change of
 * changes.ts.
 */
export async function pruneThreats(sql: Queryable, now: Date): Promise<number> {
  await sql`delete from threat_changes where revision <= (select max(revision) from threat_changes) - ${changesKept}`;
  return (await sql`delete from threat_addresses where expires_at <= ${new Date(now.getTime() - expiryKnownMs)}`).count;
}
