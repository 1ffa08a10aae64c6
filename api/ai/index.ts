// The detection engine: what layers say of a client becomes one risk, a verdict that can be explained and made again,
// and, with `ai_action` block, a measure on every node.
import { everybody, may, nodesOnly, tuners, type Feature } from '../http-kit/index.js';
import type { SimulatedOf } from './calibration/cases.js';
import { registerCalibration } from './calibration/routes.js';
import { registerClientRoutes } from './clients/routes.js';
import { createAiJob, type AiParts, type ThreatsOf } from './job.js';
import { registerAiRoutes } from './routes.js';

export type { ThreatsOf } from './job.js';
export type { Threat } from './engine/round.js';
export { lookedAt } from './live.js';
export { verdictsOf, type VerdictSummary } from './store.js';

const noThreats: ThreatsOf = async () => [];
const noSimulations: SimulatedOf = async () => [];

/** `threatsOf`: findings of API abuse; `simulatedOf`: simulations with their verdicts; absent: there are none. */
export function createAiFeature(
  threatsOf: ThreatsOf = noThreats,
  simulatedOf: SimulatedOf = noSimulations,
): Feature<AiParts> {
  return {
    name: 'ai',
    access: {
      'POST /api/dataplane/clients': nodesOnly,
      'GET /api/ai/soc': may('stats:read', everybody),
      'GET /api/ai/history': may('stats:read', everybody),
      'GET /api/ai/verdicts/:id': may('stats:read', everybody),
      'GET /api/ai/verdicts/:id/replay': may('stats:read', everybody),
      'POST /api/ai/verdicts/:id/mark': may('threat-intel:write', tuners),
      'GET /api/ai/calibration': may('stats:read', everybody),
      'POST /api/ai/whatif': may('stats:read', everybody),
    },
    routes(app, parts) {
      registerClientRoutes(app, parts);
      registerAiRoutes(app, parts);
      registerCalibration(app, parts, simulatedOf);
    },
    jobs: (parts) => [createAiJob(parts, threatsOf)],
    migrations: new URL('./migrations/', import.meta.url),
  };
}
