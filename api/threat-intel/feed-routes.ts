// Feeds of bad addresses, as people see them: what is fetched, when, and what went wrong.
import { Type, type Static } from '@sinclair/typebox';
import {
  ApiError,
  closed,
  Nullable,
  refusals,
  requirePrincipal,
  Time,
  type Actor,
  type App,
} from '../http-kit/index.js';
import { dueAtMs, fetchFeed, wantedFeeds, type Feed, type FeedParts } from './feeds.js';
import { listFeeds } from './feed-store.js';
import type { ThreatParts } from './routes.js';

const FeedsView = Type.Object({
  interval_hours: Type.Integer(),
  feeds: Type.Array(
    Type.Object({
      name: Type.String({ description: 'tor (ti_tor_enabled) or feed (ti_feed_url)' }),
      state: Type.String({ description: 'waiting: not fetched yet; ok; failed: the list of before is in force' }),
      host: Type.String({ description: 'where it comes from, without the path' }),
      entries: Type.Integer({ description: 'networks of the last good answer' }),
      attempted_at: Nullable(Time),
      succeeded_at: Nullable(Time),
      next_at: Nullable(Time),
      last_error: Nullable(Type.String()),
    }),
  ),
});
const tags = ['threat intelligence'];
const schema = {
  tags,
  summary: 'Feeds of bad addresses: state, last attempt, last error; after a failure the list of before is in force',
  response: { 200: FeedsView, ...refusals },
};
const fetchSchema = {
  tags,
  summary: 'Fetch one feed of bad addresses now; one that is refused changes nothing and says why in last_error',
  params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 64, description: 'tor or feed' }) }, closed),
  response: { 200: FeedsView, ...refusals },
};

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

async function viewFeeds({ database, currentSettings, torExitsUrl }: FeedParts): Promise<Static<typeof FeedsView>> {
  const settings = await currentSettings();
  const known = await listFeeds(database.sql);
  const feeds = wantedFeeds(settings, torExitsUrl).map((feed) => {
    const state = known.find(({ name, url }) => name === feed.name && url === feed.url);
    const nextMs = dueAtMs(feed, state);
    return {
      name: feed.name,
      state: state === undefined ? 'waiting' : state.last_error === null ? 'ok' : 'failed',
      host: hostOf(feed.url),
      entries: state?.entries ?? 0,
      attempted_at: state?.attempted_at.toISOString() ?? null,
      succeeded_at: state?.succeeded_at?.toISOString() ?? null,
      next_at: nextMs === 0 ? null : new Date(nextMs).toISOString(),
      last_error: state?.last_error ?? null,
    };
  });
  return { interval_hours: settings.ti_feed_interval_hours, feeds };
}

export function registerFeedRoutes(app: App, parts: FeedParts & ThreatParts): void {
  /** By name: a second click does not fetch the same list twice. */
  const underWay = new Map<string, Promise<unknown>>();
  app.get('/api/threat-intel/feeds', { schema }, () => viewFeeds(parts));
  app.post('/api/threat-intel/feeds/:name/fetch', { schema: fetchSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { name } = request.params;
    const wanted = wantedFeeds(await parts.currentSettings(), parts.torExitsUrl);
    const feed = wanted.find((one) => one.name === name);
    if (feed === undefined) {
      const names = wanted.map((one) => one.name).join(', ') || 'none (ti_feed_url, ti_tor_enabled)';
      throw new ApiError('not_found', `No feed ${name} is switched on; there are: ${names}.`);
    }
    let fetching = underWay.get(name);
    if (fetching === undefined) {
      fetching = fetchNow(parts, feed, actor).finally(() => underWay.delete(name));
      underWay.set(name, fetching);
    }
    await fetching;
    return viewFeeds(parts);
  });
}

async function fetchNow(parts: FeedParts & ThreatParts, feed: Feed, actor: Actor): Promise<void> {
  const result = await fetchFeed(parts, feed, parts.now());
  await parts.audit.record(parts.database.sql as never, {
    actor,
    action: 'threat.feed.fetch',
    summary: `fetched the feed ${feed.name}: ${result}`.slice(0, 500),
  });
}
