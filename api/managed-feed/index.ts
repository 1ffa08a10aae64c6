// The managed feed: networks to deny and virtual patches, kept up to date by somebody else.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { createManagedFeedJob, type ManagedFeedJobParts } from './job.js';
import { registerManagedFeedRoutes, type ManagedFeedRouteParts } from './routes.js';

export const managedFeedFeature: Feature<ManagedFeedRouteParts & ManagedFeedJobParts> = {
  name: 'managed-feed',
  access: {
    'GET /api/managed-feed': may('threat-intel:read', everybody),
    'POST /api/managed-feed/refresh': may('threat-intel:write', admins),
  },
  routes: registerManagedFeedRoutes,
  jobs: (parts) => [createManagedFeedJob(parts)],
};
