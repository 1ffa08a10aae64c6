// Certificates of protected hosts and of the dashboard: ordered, renewed, uploaded, revoked; nodes serve them.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { createCertificateJob, type CertificateJobParts } from './job.js';
import { registerCertificateRoutes } from './routes.js';

const read = may('settings:read', everybody);
const change = may('settings:write', admins);

export const certificatesFeature: Feature<CertificateJobParts> = {
  name: 'certificates',
  access: {
    'GET /api/certificates': read,
    'POST /api/certificates': change,
    'POST /api/certificates/upload': change,
    'GET /api/certificates/:id': read,
    'DELETE /api/certificates/:id': change,
    'POST /api/certificates/:id/renew': change,
    'POST /api/certificates/:id/revoke': change,
  },
  routes: registerCertificateRoutes,
  jobs: (parts) => [createCertificateJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
