// Evidence for tuning: which rules trip, which exclusions are in use, and what could be done about them.
import { everybody, may, type Feature } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { createEvidenceJob } from './job.js';
import { registerEvidenceRoutes } from './routes.js';

export const evidenceFeature: Feature<Pick<Parts, 'database' | 'now' | 'currentSettings' | 'ruleSets'>> = {
  name: 'evidence',
  access: {
    'GET /api/rules/evidence': may('rules:read', everybody),
    'GET /api/rules/names': may('rules:read', everybody),
  },
  routes: registerEvidenceRoutes,
  jobs: (parts) => [createEvidenceJob(parts)],
};
