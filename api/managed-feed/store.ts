// The one copy of the managed feed that is in force, and what the last attempt to renew it said. Its networks are in
// the deny list, under the source `managed`.
import { createHash } from 'node:crypto';
import { toCanonicalJson } from '../audit/canonical-json.js';
import type { Queryable, Tx } from '../db/client.js';
import type { CatalogPatch } from '../vpatch/catalog/entry.js';
import type { ManagedFeed } from './document.js';

/** Of its networks in the deny list. */
export const managedSource = 'managed';

export interface ManagedRow {
  readonly url: string;
  readonly attempted_at: Date;
  readonly last_error: string | null;
  /** null: no copy yet. */
  readonly copy_url: string | null;
  readonly fetched_at: Date | null;
  readonly version: number | null;
  readonly name: string;
  readonly issued: Date | null;
  readonly signed: boolean;
  readonly sha256: string;
  readonly networks: number;
  readonly networks_left_out: number;
  readonly catalog_ids: readonly number[];
  readonly patches: readonly CatalogPatch[];
  readonly rules_sha256: string;
}

export async function findManagedRow(sql: Queryable): Promise<ManagedRow | null> {
  const [row] = await sql<ManagedRow[]>`select * from managed_feed`;
  return row ?? null;
}

/** The row, locked until the transaction ends; made when there was none. */
export async function holdManagedRow(tx: Tx, url: string, now: Date): Promise<ManagedRow | undefined> {
  await tx`insert into managed_feed (url, attempted_at) values (${url}, ${now}) on conflict (only_row) do nothing`;
  const [row] = await tx<ManagedRow[]>`select * from managed_feed for update`;
  return row;
}

/** The copy was fetched again, whatever was in it. */
export async function recordFetch(tx: Tx, url: string, now: Date): Promise<void> {
  await tx`
    update managed_feed set url = ${url}, attempted_at = ${now}, last_error = null, copy_url = ${url},
      fetched_at = ${now}`;
}

export async function recordFailure(sql: Queryable, url: string, now: Date, reason: string): Promise<void> {
  await sql`
    insert into managed_feed (url, attempted_at, last_error) values (${url}, ${now}, ${reason})
    on conflict (only_row) do update
    set url = excluded.url, attempted_at = excluded.attempted_at, last_error = excluded.last_error`;
}

export async function storeCopy(tx: Tx, feed: ManagedFeed): Promise<void> {
  const { version, name, issued, signed, networks, leftOut, catalogIds, patches } = feed;
  await tx`
    update managed_feed set version = ${version}, name = ${name}, issued = ${new Date(issued)}, signed = ${signed},
      sha256 = ${feedDigest(feed)}, networks = ${networks.length}, networks_left_out = ${leftOut.length},
      catalog_ids = ${tx.json([...catalogIds])}, patches = ${tx.json(patches as never)},
      rules_sha256 = ${rulesDigest(catalogIds, patches)}`;
}

export async function forgetManagedFeed(tx: Tx): Promise<void> {
  await tx`delete from managed_feed`;
}

const digest = (value: unknown): string => createHash('sha256').update(toCanonicalJson(value)).digest('hex');

/** Of everything in it. */
export const feedDigest = (feed: ManagedFeed): string => digest(feed);

/** Of the rules alone: networks that come and go do not ask for an apply. */
export const rulesDigest = (catalogIds: readonly number[], patches: readonly CatalogPatch[]): string =>
  digest({ catalog: catalogIds, patches });
