// Address feeds: fetched at their interval, replaced whole, and only by a list that looks like one: a feed that answers
// with an error page or suddenly with nothing leaves yesterday's list in force.
import { systemActor, type Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { Settings } from '#settings';
import { forgetFeed, listFeeds, recordFeedFailure, recordFeedSuccess, type FeedState } from './feed-store.js';
import { admitNetworks } from './inner-networks.js';
import { noListOf, parseNetworks } from './list-text.js';
import { replaceFeed } from '../measures/store.js';

export type FeedParts = Pick<
  Parts,
  'database' | 'outbound' | 'audit' | 'currentSettings' | 'measuresChanged' | 'torExitsUrl'
>;

export interface Feed {
  readonly name: 'tor' | 'feed';
  readonly url: string;
  readonly everyMs: number;
}

const feedBytesMax = 64 * 1024 * 1024;
const feedTimeoutMs = 60_000;
/** After a failure the next attempt comes sooner than the interval says. */
const retryMs = 15 * 60_000;
/** A list in which more than this share is not addresses is not a list. */
const wrongShareMax = 0.1;
const hourMs = 3600_000;

/** What the settings ask for. */
export function wantedFeeds(settings: Settings, torExitsUrl: string): Feed[] {
  const everyMs = settings.ti_feed_interval_hours * hourMs;
  return [
    ...(settings.ti_tor_enabled ? [{ name: 'tor' as const, url: torExitsUrl, everyMs }] : []),
    ...(settings.ti_feed_url !== '' ? [{ name: 'feed' as const, url: settings.ti_feed_url, everyMs }] : []),
  ];
}

/** When it is fetched next; 0: at the next look. */
export function dueAtMs(feed: Feed, state: FeedState | undefined): number {
  if (state === undefined) return 0;
  const hasFailed = state.succeeded_at === null || state.succeeded_at < state.attempted_at;
  return state.attempted_at.getTime() + (hasFailed ? Math.min(retryMs, feed.everyMs) : feed.everyMs);
}

/** Looks every minute whether a feed is due; feeds that were switched off are emptied. */
export function createFeedJob(parts: FeedParts): Job {
  return {
    name: 'feeds',
    everyMs: 60_000,
    timeoutMs: 3 * 60_000,
    async run({ nowMs, signal }) {
      const wanted = wantedFeeds(await parts.currentSettings(), parts.torExitsUrl);
      const known = await listFeeds(parts.database.sql);
      const lines: string[] = [];
      for (const old of known.filter((row) => wanted.every((feed) => feed.name !== row.name)))
        lines.push(await emptyFeed(parts, old.name as Feed['name'], nowMs));
      for (const feed of wanted) {
        const state = known.find((row) => row.name === feed.name && row.url === feed.url);
        if (nowMs >= dueAtMs(feed, state) && !signal.aborted) lines.push(await fetchFeed(parts, feed, nowMs));
      }
      return lines.join('; ') || 'nothing was due';
    },
  };
}

/** Fetches one at once, however long it is until it is due; never rejects for what the feed does. */
export async function fetchFeed(parts: FeedParts, feed: Feed, nowMs: number): Promise<string> {
  const { sql } = parts.database;
  const now = new Date(nowMs);
  try {
    const reply = await parts.outbound.send(feed.url, { bytesMax: feedBytesMax, timeoutMs: feedTimeoutMs });
    if (reply.status !== 200) throw new Error(`it answered ${reply.status}`);
    const { networks: listed, problems } = await parseNetworks(reply.body.toString('utf8'));
    if (listed.length === 0 || problems.length > (listed.length + problems.length) * wrongShareMax)
      throw noListOf({ networks: listed, problems });
    const { networks, leftOut } = admitNetworks(listed);
    const { removed } = await sql.begin(async (tx) => {
      await recordFeedSuccess(tx, feed, networks.length, now);
      return replaceFeed(tx, feed.name, networks, now);
    });
    await parts.measuresChanged();
    const inner = leftOut.length === 0 ? '' : `, ${leftOut.length} inner networks left out`;
    return `${feed.name}: ${networks.length} networks, ${removed} removed${inner}`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await recordFeedFailure(sql, feed, reason, now);
    return `${feed.name} failed: ${reason}`;
  }
}

async function emptyFeed(parts: FeedParts, name: Feed['name'], nowMs: number): Promise<string> {
  const removed = await parts.database.sql.begin(async (tx) => {
    const result = await replaceFeed(tx, name, [], new Date(nowMs));
    await forgetFeed(tx, name);
    await parts.audit.record(tx, {
      actor: systemActor,
      action: 'threat.feed.off',
      summary: `removed ${result.removed} networks of the feed ${name}, which was switched off`,
    });
    return result.removed;
  });
  await parts.measuresChanged();
  return `${name}: switched off, ${removed} networks removed`;
}
