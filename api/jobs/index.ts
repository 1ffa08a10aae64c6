// What the background jobs of all features did (scheduler.ts runs them).
import { everybody, may, type Feature } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { registerJobRoutes } from './routes.js';

export const jobsFeature: Feature<Pick<Parts, 'database'>> = {
  name: 'jobs',
  access: { 'GET /api/jobs': may('jobs:read', everybody) },
  routes: registerJobRoutes,
};
