// Security events for other systems: every connector of the settings, how far each has come, and what it refused.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { createDeliveryJob, createOutboxJob, type SiemParts } from './job.js';
import { registerSiemRoutes } from './routes.js';

const change = may('settings:write', admins);

export const siemFeature: Feature<SiemParts> = {
  name: 'siem',
  access: {
    'GET /api/siem': may('stats:read', everybody),
    'POST /api/siem/test': change,
    'POST /api/siem/connectors/:id/test': change,
    'POST /api/siem/connectors/:id/replays': change,
    'GET /api/siem/connectors/:id/dead-letters': may('events:read', everybody),
    'POST /api/siem/connectors/:id/dead-letters/retry': change,
    'DELETE /api/siem/connectors/:id/dead-letters': change,
  },
  routes: registerSiemRoutes,
  jobs: (parts) => [createDeliveryJob(parts), createOutboxJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
