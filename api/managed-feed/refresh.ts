// The managed feed in force: fetched or bundled, proven, stored whole or not at all. Networks take effect at once, by
// the road of the deny list. Rules take effect with the next apply, never by themselves: an apply puts everything in
// force that people have saved, finished or not, and shows beforehand whom it would block; a timer must not take that
// decision.
import { createHash } from 'node:crypto';
import { systemActor, type Actor } from '../audit/chain.js';
import { toCanonicalJson } from '../audit/canonical-json.js';
import type { Queryable } from '../db/client.js';
import type { House } from '../parts.js';
import type { RuleLab } from '../rules/sandbox.js';
import type { Settings } from '../settings/schema.js';
import type { CatalogPatch } from '../vpatch/catalog/entry.js';
import { baselineFeed } from './baseline.js';
import { documentBytesMax, readManagedFeed, type ManagedFeed } from './document.js';
import { replaceFeed } from '../threat-intel/store.js';

/** Of its networks in the deny list. */
const managedSource = 'managed';

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

export interface ManagedFeedOptions {
  readonly house: Pick<House, 'database' | 'outbound' | 'audit' | 'threatsChanged' | 'licencePublicKey'>;
  readonly lab: Pick<RuleLab, 'runAll'>;
}

const fetchTimeoutMs = 60_000;
const retryMs = 15 * 60_000;
const hourMs = 3600_000;

export async function findManagedRow(sql: Queryable): Promise<ManagedRow | null> {
  const [row] = await sql<ManagedRow[]>`select * from managed_feed`;
  return row ?? null;
}

const digest = (value: unknown): string => createHash('sha256').update(toCanonicalJson(value)).digest('hex');

/** Of the rules alone: networks that come and go do not ask for an apply. */
export const rulesDigest = (catalogIds: readonly number[], patches: readonly CatalogPatch[]): string =>
  digest({ catalog: catalogIds, patches });

type Wanted = Pick<Settings, 'mrf_enabled' | 'mrf_url' | 'mrf_interval_hours'>;

/**
 * Whether there is something to do at `nowMs`: switched on or off, another URL, another baseline, or the interval is
 * over.
 */
export function isManagedFeedDue(wanted: Wanted, row: ManagedRow | null, nowMs: number): boolean {
  if (!wanted.mrf_enabled || row === null) return wanted.mrf_enabled !== (row !== null);
  if (wanted.mrf_url === '') return row.copy_url !== '' || row.version !== baselineFeed.version;
  const everyMs = wanted.mrf_interval_hours * hourMs;
  return (
    row.url !== wanted.mrf_url ||
    nowMs >= row.attempted_at.getTime() + (row.last_error === null ? everyMs : Math.min(retryMs, everyMs))
  );
}

/** One look: what is due is done. Returns one line; a download that fails is a line and a row, not an exception. */
export async function refreshManagedFeed(
  options: ManagedFeedOptions,
  wanted: Wanted,
  nowMs: number,
  actor: Actor = systemActor,
): Promise<string> {
  const { sql } = options.house.database;
  const row = await findManagedRow(sql);
  const now = new Date(nowMs);
  if (!wanted.mrf_enabled) return row === null ? 'switched off' : switchOff(options, now, actor);
  const url = wanted.mrf_url;
  try {
    const feed = url === '' ? baselineFeed : await download(options, url);
    return await takeUp(options, feed, url, now, actor);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await sql`insert into managed_feed (url, attempted_at, last_error) values (${url}, ${now}, ${reason}) on conflict (only_row) do update set url = excluded.url, attempted_at = excluded.attempted_at, last_error = excluded.last_error`;
    return `failed: ${reason}`;
  }
}

async function download({ house }: ManagedFeedOptions, url: string): Promise<ManagedFeed> {
  const reply = await house.outbound.send(url, { bytesMax: documentBytesMax, timeoutMs: fetchTimeoutMs });
  if (reply.status !== 200) throw new Error(`it answered ${reply.status}`);
  const feed = readManagedFeed(reply.body, house.licencePublicKey);
  // whoever sits between could write it; within one's own network that is for the operator to say
  if (!feed.signed && !url.startsWith('https:') && !(await house.outbound.isAllowListed(url)))
    throw new Error('an unsigned feed has to come over https, or from a host in OUTBOUND_ALLOW');
  return feed;
}

/** Each patch matches its attacks and leaves its benign requests alone, or the whole feed is refused. */
async function provePatches({ lab }: ManagedFeedOptions, patches: readonly CatalogPatch[]): Promise<void> {
  const results = await lab.runAll(
    patches.map(({ id, seclang, tests }) => ({
      id,
      text: seclang,
      tests: tests.map((test) => ({
        ...test,
        headers: test.headers.map(([name, value]): [string, string] => [name, value]),
      })),
    })),
  );
  for (const [index, patch] of patches.entries()) {
    const failed = results[index]?.find(({ passed }) => !passed);
    if (failed !== undefined)
      throw new Error(
        `its patch ${patch.id} (${patch.cve}) does not keep what it promises: "${failed.name}" expects ${failed.expected} and gets ${failed.got}`,
      );
  }
}

async function takeUp(
  options: ManagedFeedOptions,
  feed: ManagedFeed,
  url: string,
  now: Date,
  actor: Actor,
): Promise<string> {
  const { house } = options;
  const sha256 = digest(feed);
  const rulesSha256 = rulesDigest(feed.catalogIds, feed.patches);
  await provePatches(options, feed.patches);
  const outcome = await house.database.sql.begin(async (tx) => {
    await tx`insert into managed_feed (url, attempted_at) values (${url}, ${now}) on conflict (only_row) do nothing`;
    const [row] = await tx<ManagedRow[]>`select * from managed_feed for update`;
    const isSamePlace = row?.copy_url === url && row.version !== null;
    if (isSamePlace && (row.version ?? 0) > feed.version)
      throw new Error(`it is version ${feed.version}, older than version ${row.version}, which is in force`);
    if (isSamePlace && row.version === feed.version && row.sha256 !== sha256)
      throw new Error(`it is version ${feed.version} again with another content; a change needs a higher version`);
    await tx`update managed_feed set url = ${url}, attempted_at = ${now}, last_error = null, copy_url = ${url}, fetched_at = ${now}`;
    if (isSamePlace && row.sha256 === sha256) return null;
    const { removed } = await replaceFeed(tx, managedSource, feed.networks, now);
    await tx`update managed_feed set version = ${feed.version}, name = ${feed.name}, issued = ${new Date(feed.issued)}, signed = ${feed.signed}, sha256 = ${sha256}, networks = ${feed.networks.length}, networks_left_out = ${feed.leftOut.length},
      catalog_ids = ${tx.json([...feed.catalogIds])}, patches = ${tx.json(feed.patches as never)}, rules_sha256 = ${rulesSha256}`;
    const rules = feed.catalogIds.length + feed.patches.length;
    const isOther = row?.rules_sha256 !== rulesSha256;
    const summary = `took up version ${feed.version} of the managed feed "${feed.name}"${url === '' ? '' : ` from ${url}`}: ${feed.networks.length} networks (${removed} removed${feed.leftOut.length === 0 ? '' : `, ${feed.leftOut.length} inner ones left out`}), ${rules} rules${isOther && rules > 0 ? ', in force with the next apply' : ''}`;
    await house.audit.record(tx, {
      actor,
      action: 'managed-feed.update',
      summary,
      details: { version: feed.version, sha256, signed: feed.signed, left_out: feed.leftOut.slice(0, 20) },
    });
    return summary;
  });
  if (outcome === null) return `version ${feed.version} is in force already`;
  await house.threatsChanged();
  return outcome;
}

async function switchOff({ house }: ManagedFeedOptions, now: Date, actor: Actor): Promise<string> {
  const summary = await house.database.sql.begin(async (tx) => {
    const { removed } = await replaceFeed(tx, managedSource, [], now);
    await tx`delete from managed_feed`;
    const line = `switched the managed feed off: ${removed} networks removed; its rules go with the next apply`;
    await house.audit.record(tx, { actor, action: 'managed-feed.off', summary: line });
    return line;
  });
  await house.threatsChanged();
  return summary;
}
