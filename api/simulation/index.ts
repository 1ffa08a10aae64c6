// Attack waves through the own data plane, on request and every night.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { createSelfTestJob } from './job.js';
import { registerSimulationRoutes } from './routes.js';
import type { SimulationParts, VerdictsOf } from './simulator.js';

export { simulatedOf } from './store.js';

const read = may('stats:read', everybody);

/** `verdictsOf`: what the detection engine said of clients. */
export const createSimulationFeature = (verdictsOf: VerdictsOf): Feature<SimulationParts> => ({
  name: 'simulation',
  access: {
    'POST /api/ai/simulate': may('apply', tuners),
    'GET /api/ai/simulate': read,
    'GET /api/ai/simulate/:id': read,
    'DELETE /api/ai/simulate/:id': may('apply', tuners),
    'GET /api/ai/self-tests': read,
  },
  routes: (app, parts) => registerSimulationRoutes(app, { ...parts, verdictsOf }),
  jobs: (parts) => [createSelfTestJob({ ...parts, verdictsOf })],
  migrations: new URL('./migrations/', import.meta.url),
});
