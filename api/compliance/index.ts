// Compliance: what frameworks ask for, answered from what runs.
import { everybody, may, type Feature } from '../http-kit/index.js';
import type { ComplianceParts } from './facts.js';
import { registerComplianceRoutes } from './routes.js';

export { answerEveryCheck } from './answers.js';
export type { ComplianceParts } from './facts.js';

export const complianceFeature: Feature<ComplianceParts> = {
  name: 'compliance',
  access: { 'GET /api/compliance': may('audit:read', everybody) },
  routes: registerComplianceRoutes,
};
