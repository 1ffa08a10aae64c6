// Nodes on other machines: tokens, the CA that issues their certificates, labels, revocation.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { createForgetJob } from './fleeting.js';
import { registerEnrolmentRoutes, type EnrolmentParts } from './routes.js';

const change = may('settings:write', admins);

export const enrolmentFeature: Feature<EnrolmentParts> = {
  name: 'enrolment',
  access: {
    'GET /api/nodes/enrolled': may('stats:read', everybody),
    'PUT /api/nodes/enrolled/:name/labels': change,
    'POST /api/nodes/enrolled/:name/revoke': change,
    'GET /api/nodes/tokens': may('settings:read', admins),
    'POST /api/nodes/tokens': change,
    'DELETE /api/nodes/tokens/:id': change,
    'POST /api/nodes/tokens/local': { kind: 'feature' },
  },
  routes: registerEnrolmentRoutes,
  jobs: (parts) => [createForgetJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
