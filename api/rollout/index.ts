// Rollouts ring by ring: a version on some nodes first, compared with the others, and stopped by itself.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { registerRolloutRoutes, type RolloutRouteParts } from './routes.js';

const change = may('apply', tuners);

export const rolloutFeature: Feature<RolloutRouteParts> = {
  name: 'rollout',
  access: {
    'GET /api/rollouts': may('stats:read', everybody),
    'POST /api/rollouts': change,
    'POST /api/rollouts/continue': change,
    'POST /api/rollouts/stop': change,
  },
  routes: registerRolloutRoutes,
};
