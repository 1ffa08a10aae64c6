// The managed feed in force: fetched or bundled, proven, stored whole or not at all. Networks take effect at once, by
// the road of the deny list. Rules take effect with the next apply, never by themselves: an apply puts everything in
// force that people have saved, finished or not, and shows beforehand whom it would block; a timer must not take that
// decision.
import { systemActor, type Actor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { RuleSandbox } from '../rules/sandbox/sandbox.js';
import { maskUrl } from '../settings/url-credentials.js';
import type { Settings } from '#settings';
import { replaceFeed } from '../measures/store.js';
import type { CatalogPatch } from '../vpatch/catalog/entry.js';
import { baselineFeed } from './baseline.js';
import { documentBytesMax, readManagedFeed, type ManagedFeed } from './document.js';
import {
  feedDigest,
  findManagedRow,
  forgetManagedFeed,
  holdManagedRow,
  managedSource,
  recordFailure,
  recordFetch,
  rulesDigest,
  storeCopy,
  type ManagedRow,
} from './store.js';

export type ManagedFeedParts = Pick<
  Parts,
  'database' | 'outbound' | 'audit' | 'measuresChanged' | 'licencePublicKey'
> & {
  readonly sandbox: Pick<RuleSandbox, 'runAll'>;
};

const fetchTimeoutMs = 60_000;
const retryMs = 15 * 60_000;
const hourMs = 3600_000;

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
  parts: ManagedFeedParts,
  wanted: Wanted,
  nowMs: number,
  actor: Actor = systemActor,
): Promise<string> {
  const { sql } = parts.database;
  const row = await findManagedRow(sql);
  const now = new Date(nowMs);
  if (!wanted.mrf_enabled) return row === null ? 'switched off' : switchOff(parts, now, actor);
  const url = wanted.mrf_url;
  try {
    const feed = url === '' ? baselineFeed : await download(parts, url);
    return await takeUp(parts, feed, { url, now, actor });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await recordFailure(sql, url, now, reason);
    return `failed: ${reason}`;
  }
}

async function download({ outbound, licencePublicKey }: ManagedFeedParts, url: string): Promise<ManagedFeed> {
  const reply = await outbound.send(url, { bytesMax: documentBytesMax, timeoutMs: fetchTimeoutMs });
  if (reply.status !== 200) throw new Error(`it answered ${reply.status}`);
  const feed = readManagedFeed(reply.body, licencePublicKey);
  // whoever sits between could write it; within one's own network that is for the operator to say
  if (!feed.signed && !url.startsWith('https:') && !(await outbound.isAllowListed(url)))
    throw new Error('an unsigned feed has to come over https, or from a host in OUTBOUND_ALLOW');
  return feed;
}

/** Each patch matches its attacks and leaves its benign requests alone, or the whole feed is refused. */
async function provePatches({ sandbox }: ManagedFeedParts, patches: readonly CatalogPatch[]): Promise<void> {
  const results = await sandbox.runAll(
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
        `its patch ${patch.id} (${patch.cve}) does not keep what it promises: ` +
          `"${failed.name}" expects ${failed.expected} and gets ${failed.got}`,
      );
  }
}

interface TakeUp {
  readonly url: string;
  readonly now: Date;
  readonly actor: Actor;
}

async function takeUp(parts: ManagedFeedParts, feed: ManagedFeed, { url, now, actor }: TakeUp): Promise<string> {
  const sha256 = feedDigest(feed);
  await provePatches(parts, feed.patches);
  const outcome = await parts.database.sql.begin(async (tx) => {
    const row = await holdManagedRow(tx, url, now);
    const isSamePlace = row?.copy_url === url && row.version !== null;
    if (isSamePlace && (row.version ?? 0) > feed.version)
      throw new Error(`it is version ${feed.version}, older than version ${row.version}, which is in force`);
    if (isSamePlace && row.version === feed.version && row.sha256 !== sha256)
      throw new Error(`it is version ${feed.version} again with another content; a change needs a higher version`);
    await recordFetch(tx, url, now);
    if (isSamePlace && row.sha256 === sha256) return null;
    const { removed } = await replaceFeed(tx, managedSource, feed.networks, now);
    await storeCopy(tx, feed);
    const summary = describeCopy(feed, url, removed, row?.rules_sha256);
    await parts.audit.record(tx, {
      actor,
      action: 'managed-feed.update',
      summary,
      details: { version: feed.version, sha256, signed: feed.signed, left_out: feed.leftOut.slice(0, 20) },
    });
    return summary;
  });
  if (outcome === null) return `version ${feed.version} is in force already`;
  await parts.measuresChanged();
  return outcome;
}

/** `rulesBefore`: digest of the rules that the feed had. */
function describeCopy(feed: ManagedFeed, url: string, removed: number, rulesBefore: string | undefined): string {
  const { version, name, networks, leftOut, catalogIds, patches } = feed;
  const from = url === '' ? '' : ` from ${maskUrl(url, 'keyed')}`;
  const inner = leftOut.length === 0 ? '' : `, ${leftOut.length} inner ones left out`;
  const rules = catalogIds.length + patches.length;
  const isOther = rulesBefore !== rulesDigest(catalogIds, patches);
  const later = isOther && rules > 0 ? ', in force with the next apply' : '';
  return (
    `took up version ${version} of the managed feed "${name}"${from}: ` +
    `${networks.length} networks (${removed} removed${inner}), ${rules} rules${later}`
  );
}

async function switchOff(
  { database, audit, measuresChanged }: ManagedFeedParts,
  now: Date,
  actor: Actor,
): Promise<string> {
  const summary = await database.sql.begin(async (tx) => {
    const { removed } = await replaceFeed(tx, managedSource, [], now);
    await forgetManagedFeed(tx);
    const line = `switched the managed feed off: ${removed} networks removed; its rules go with the next apply`;
    await audit.record(tx, { actor, action: 'managed-feed.off', summary: line });
    return line;
  });
  await measuresChanged();
  return summary;
}
