// Feeds of bad addresses, as people see them: what is fetched, when, and what went wrong.
import { Type } from '@sinclair/typebox';
import { Nullable, refusals, Time, type App } from '../http-kit/index.js';
import type { FeedParts } from './feeds.js';
import { dueAtMs, wantedFeeds } from './feeds.js';
import { listFeeds } from './feed-store.js';
import type { ThreatParts } from './routes.js';

const schema = {
  tags: ['threat intelligence'],
  summary: 'Feeds of bad addresses: state, last attempt, last error; after a failure the list of before is in force',
  response: {
    200: Type.Object({
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
    }),
    ...refusals,
  },
};

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

export function registerFeedRoute(app: App, { database, currentSettings, torExitsUrl }: FeedParts & ThreatParts): void {
  app.get('/api/threat-intel/feeds', { schema }, async () => {
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
  });
}
