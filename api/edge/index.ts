// What happens at the edge of the data plane before rules look: limits, bans, and the order of it all.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { createAttackJob, type AttackJobParts } from './attack/job.js';
import { registerAttackRoute } from './attack/routes.js';
import { registerVerdictRoutes } from './verdicts/routes.js';
import { registerBotRoutes } from './bot-routes.js';
import { createBanJob, type BanJobParts } from './job.js';
import { createCrawlerListJob, type CrawlerListParts } from './crawler-lists/job.js';
import { registerLimitEffectRoutes, type LimitEffectParts } from './limit-effect-routes.js';
import { registerLimitRoutes } from './limit-routes.js';
import { registerEdgeRoutes, type EdgeParts } from './routes.js';
import { registerUnnamedProxiesRoute } from './unnamed-proxies.js';
import { createSiteKeyJob, type SiteKeyParts } from './site-keys.js';

export const edgeFeature: Feature<
  EdgeParts & AttackJobParts & BanJobParts & SiteKeyParts & CrawlerListParts & LimitEffectParts
> = {
  name: 'edge',
  access: {
    'GET /api/bans': may('threat-intel:read', everybody),
    'POST /api/bans': may('threat-intel:write', tuners),
    'GET /api/verdicts': may('threat-intel:read', everybody),
    'DELETE /api/verdicts': may('threat-intel:write', tuners),
    'DELETE /api/bans': may('threat-intel:write', tuners),
    'GET /api/attack-mode': may('stats:read', everybody),
    'GET /api/pipeline': may('stats:read', everybody),
    'GET /api/bots': may('stats:read', everybody),
    'POST /api/bots/verify': may('threat-intel:read', tuners),
    'GET /api/unnamed-proxies': may('stats:read', everybody),
    'GET /api/rate-limits': may('stats:read', everybody),
    'GET /api/rate-limits/effect': may('stats:read', everybody),
    'POST /api/rate-limits/effect': may('stats:read', tuners),
  },
  routes(app, parts) {
    registerEdgeRoutes(app, parts);
    registerLimitRoutes(app, parts);
    registerLimitEffectRoutes(app, parts);
    registerUnnamedProxiesRoute(app, parts);
    registerBotRoutes(app, parts);
    registerAttackRoute(app, parts);
    registerVerdictRoutes(app, parts);
  },
  jobs: (parts) => [createBanJob(parts), createAttackJob(parts), createSiteKeyJob(parts), createCrawlerListJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
