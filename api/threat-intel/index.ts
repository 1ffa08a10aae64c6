// The deny list: bad addresses from people and from feeds. The data plane has it within a moment (push.ts).
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { createFeedJob, type FeedParts } from './feeds.js';
import { registerFeedRoutes } from './feed-routes.js';
import { registerThreatRoutes, type ThreatParts } from './routes.js';

export const threatIntelFeature: Feature<ThreatParts & FeedParts> = {
  name: 'threat-intel',
  access: {
    'GET /api/threat-intel': may('threat-intel:read', everybody),
    'POST /api/threat-intel': may('threat-intel:write', tuners),
    'GET /api/threat-intel/feeds': may('threat-intel:read', everybody),
    'POST /api/threat-intel/feeds/:name/fetch': may('threat-intel:write', tuners),
    'DELETE /api/threat-intel': may('threat-intel:write', tuners),
  },
  routes(app, parts) {
    registerThreatRoutes(app, parts);
    registerFeedRoutes(app, parts);
  },
  jobs: (parts) => [createFeedJob(parts)],
};
