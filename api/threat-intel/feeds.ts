// Address feeds: fetched at their interval, replaced whole, and only by a list that looks like one: a feed that answers
// with an error page or suddenly with nothing leaves yesterday's list in force.
import type { House } from '../parts.js';
import { systemActor } from '../audit/chain.js';
import type { Settings } from '../settings/schema.js';
import { admitNetworks } from '../addresses/inner-networks.js';
import { parseNetworks } from './parse.js';
import { replaceFeed } from './store.js';
import type { Job } from '../jobs/scheduler.js';

interface Feed {
  readonly name: string;
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

function wantedFeeds(settings: Settings, torExitsUrl: string): Feed[] {
  const everyMs = settings.ti_feed_interval_hours * hourMs;
  return [
    ...(settings.ti_tor_enabled ? [{ name: 'tor', url: torExitsUrl, everyMs }] : []),
    ...(settings.ti_feed_url !== '' ? [{ name: 'feed', url: settings.ti_feed_url, everyMs }] : []),
  ];
}

/** Looks every minute whether a feed is due; feeds that were switched off are emptied. */
export function createFeedJob(house: House, torExitsUrl: string): Job {
  return {
    name: 'feeds',
    everyMs: 60_000,
    timeoutMs: 3 * 60_000,
    async run({ nowMs, signal }) {
      const { sql } = house.database;
      const wanted = wantedFeeds(await house.currentSettings(), torExitsUrl);
      const known = await sql<
        { name: string; url: string; attempted_at: Date; succeeded_at: Date | null }[]
      >`select name, url, attempted_at, succeeded_at from feed_state`;
      const lines: string[] = [];
      for (const old of known.filter((row) => wanted.every((feed) => feed.name !== row.name)))
        lines.push(await emptyFeed(house, old.name, nowMs));
      for (const feed of wanted) {
        const state = known.find((row) => row.name === feed.name && row.url === feed.url);
        const hasFailed =
          state !== undefined && (state.succeeded_at === null || state.succeeded_at < state.attempted_at);
        const dueAt =
          state === undefined
            ? 0
            : state.attempted_at.getTime() + (hasFailed ? Math.min(retryMs, feed.everyMs) : feed.everyMs);
        if (nowMs >= dueAt && !signal.aborted) lines.push(await fetchFeed(house, feed, nowMs));
      }
      return lines.join('; ') || 'nothing was due';
    },
  };
}

async function fetchFeed(house: House, feed: Feed, nowMs: number): Promise<string> {
  const { sql } = house.database;
  const now = new Date(nowMs);
  try {
    const reply = await house.outbound.send(feed.url, { bytesMax: feedBytesMax, timeoutMs: feedTimeoutMs });
    if (reply.status !== 200) throw new Error(`it answered ${reply.status}`);
    const { networks: listed, problems } = await parseNetworks(reply.body.toString('utf8'));
    if (listed.length === 0 || problems.length > (listed.length + problems.length) * wrongShareMax)
      throw new Error(`it is not a list of addresses (${listed.length} right, ${problems.length} wrong entries)`);
    const { networks, leftOut } = admitNetworks(listed);
    const { removed } = await sql.begin(async (tx) => {
      await tx`insert into feed_state (name, url, attempted_at, succeeded_at, entries) values (${feed.name}, ${feed.url}, ${now}, ${now}, ${networks.length}) on conflict (name) do update set url = excluded.url, attempted_at = excluded.attempted_at, succeeded_at = excluded.succeeded_at, entries = excluded.entries, last_error = null`;
      return replaceFeed(tx, feed.name, networks, now);
    });
    await house.threatsChanged();
    return `${feed.name}: ${networks.length} networks, ${removed} removed${leftOut.length === 0 ? '' : `, ${leftOut.length} inner networks left out`}`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await sql`insert into feed_state (name, url, attempted_at, last_error) values (${feed.name}, ${feed.url}, ${now}, ${reason}) on conflict (name) do update set url = excluded.url, attempted_at = excluded.attempted_at, last_error = excluded.last_error`;
    return `${feed.name} failed: ${reason}`;
  }
}

async function emptyFeed(house: House, name: string, nowMs: number): Promise<string> {
  const removed = await house.database.sql.begin(async (tx) => {
    const result = await replaceFeed(tx, name, [], new Date(nowMs));
    await tx`delete from feed_state where name = ${name}`;
    await house.audit.record(tx, {
      actor: systemActor,
      action: 'threat.feed.off',
      summary: `removed ${result.removed} networks of the feed ${name}, which was switched off`,
    });
    return result.removed;
  });
  await house.threatsChanged();
  return `${name}: switched off, ${removed} networks removed`;
}
