// Abuse of APIs: who got the objects of others, reached functions of administrators, or tried accounts. Learned from
// what nodes and others observed, without a request being stored.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { createThreatJob, type ThreatParts } from './job.js';
import { registerThreatRoutes, type ThreatRouteParts } from './routes.js';

export const threatsFeature: Feature<ThreatParts & ThreatRouteParts> = {
  name: 'api-threats',
  access: {
    'GET /api/api-threats': may('stats:read', everybody),
    'PATCH /api/api-threats/:id': may('rules:write', tuners),
  },
  routes: registerThreatRoutes,
  jobs: (parts) => [createThreatJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
