// What data-plane nodes report, and how people look at it: requests, security events, a stream, and what is stored.
import { everybody, may, nodesOnly, type Feature } from '../http-kit/index.js';
import { registerFacetRoutes, type FacetParts } from './facets/routes.js';
import { countEvents } from './facets/rollup.js';
import { registerRecordRoutes, type RecordParts } from './routes.js';
import { registerStatsRoute, type StatsParts } from './stats.js';
import { registerStream, type StreamParts } from './stream.js';

const readEvents = may('events:read', everybody);

export const eventsFeature: Feature<RecordParts & StreamParts & StatsParts & FacetParts> = {
  name: 'events',
  access: {
    'POST /api/dataplane/records': nodesOnly,
    'GET /api/requests': readEvents,
    'GET /api/events': readEvents,
    'GET /api/events/stream': readEvents,
    'GET /api/events/stats': readEvents,
    'GET /api/policy/stats': may('stats:read', everybody),
  },
  routes(app, parts) {
    registerRecordRoutes(app, parts);
    registerStream(app, parts);
    registerStatsRoute(app, parts);
    registerFacetRoutes(app, parts);
  },
  jobs: ({ database }) => [
    {
      name: 'event-counts',
      everyMs: 10_000,
      timeoutMs: 5 * 60_000,
      run: async ({ signal }) => `${await countEvents(database, signal)} events counted`,
    },
  ],
  migrations: new URL('./migrations/', import.meta.url),
};
