// Client measures: what was decided about clients, in one table, with one list on the nodes. The views that the
// specification names (bans, threat intelligence, verdicts) read and lift the same rows.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import type { LiftParts } from './lift.js';
import { createPlaceJob } from './places.js';
import { registerMeasureRoutes } from './routes.js';

export const measuresFeature: Feature<LiftParts> = {
  name: 'measures',
  access: {
    'GET /api/measures': may('threat-intel:read', everybody),
    'DELETE /api/measures': may('threat-intel:write', tuners),
  },
  routes: registerMeasureRoutes,
  jobs: (parts) => [createPlaceJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
