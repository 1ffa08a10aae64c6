// The audit log in answers: pages, an export, and whether its chain of hashes holds.
import { everybody, may, type Feature } from '../http-kit/index.js';
import { registerAuditRoutes, type AuditParts } from './routes.js';

const reader = may('audit:read', everybody);

export const auditFeature: Feature<AuditParts> = {
  name: 'audit',
  access: {
    'GET /api/audit': reader,
    'GET /api/audit/export': reader,
    'GET /api/audit/verify': reader,
  },
  routes: registerAuditRoutes,
};
