// Attack waves through the own data plane, on request and every night.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { createSelfTestJob } from './job.js';
import { registerSimulationRoutes } from './routes.js';
import type { SimulationParts, EngineView } from './simulator.js';

export { simulatedOf } from './store.js';

const read = may('stats:read', everybody);

/** `engine`: what the detection engine says of clients. */
export const createSimulationFeature = (engine: EngineView): Feature<SimulationParts> => ({
  name: 'simulation',
  access: {
    'POST /api/ai/simulate': may('apply', tuners),
    'GET /api/ai/simulate': read,
    'GET /api/ai/simulate/:id': read,
    'DELETE /api/ai/simulate/:id': may('apply', tuners),
    'GET /api/ai/self-tests': read,
  },
  routes: (app, parts) => registerSimulationRoutes(app, { ...parts, engine }),
  jobs: (parts) => [createSelfTestJob({ ...parts, engine })],
  migrations: new URL('./migrations/', import.meta.url),
});
