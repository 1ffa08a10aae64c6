// What data-plane nodes report, and how people look at it: requests, security events, a stream, and what is stored.
import { everybody, may, nodesOnly, type Feature } from '../http-kit/index.js';
import { registerRecordRoutes, type RecordParts } from './routes.js';
import { registerStatsRoute, type StatsParts } from './stats.js';
import { registerStream, type StreamParts } from './stream.js';

const readEvents = may('events:read', everybody);

export const eventsFeature: Feature<RecordParts & StreamParts & StatsParts> = {
  name: 'events',
  access: {
    'POST /api/dataplane/records': nodesOnly,
    'GET /api/requests': readEvents,
    'GET /api/events': readEvents,
    'GET /api/events/stream': readEvents,
    'GET /api/policy/stats': may('stats:read', everybody),
  },
  routes(app, parts) {
    registerRecordRoutes(app, parts);
    registerStream(app, parts);
    registerStatsRoute(app, parts);
  },
  migrations: new URL('./migrations/', import.meta.url),
};
