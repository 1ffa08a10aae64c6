// What is older than the settings say goes, and what the embedded database has no room for. GET /api/jobs tells what
// was done; a clock that has jumped ahead is not believed before somebody says so.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { createRetentionJob, createSizeJob, type RetentionParts } from './job.js';
import { registerRetentionRoutes, type RetentionRouteParts } from './routes.js';

export const retentionFeature: Feature<RetentionParts & RetentionRouteParts> = {
  name: 'retention',
  access: {
    'GET /api/retention': may('jobs:read', everybody),
    'POST /api/retention/confirm': may('settings:write', admins),
  },
  routes: registerRetentionRoutes,
  jobs: (parts) => [createRetentionJob(parts), createSizeJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
