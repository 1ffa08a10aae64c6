// Alert rules: what is measured, when it fires, whom it tells, and why it did not fire.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { createAlertJob, type AlertParts } from './job.js';
import { registerAlertRoutes } from './routes.js';

const read = may('stats:read', everybody);
const change = may('settings:write', admins);

export const alertsFeature: Feature<AlertParts> = {
  name: 'alerts',
  access: {
    'GET /api/alerts': read,
    'POST /api/alerts': change,
    'POST /api/alerts/test': change,
    'GET /api/alerts/:id': read,
    'PUT /api/alerts/:id': change,
    'DELETE /api/alerts/:id': change,
    'GET /api/alerts/:id/why': read,
  },
  routes: registerAlertRoutes,
  jobs: (parts) => [createAlertJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
