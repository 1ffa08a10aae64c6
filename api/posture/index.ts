// Posture: specifications beside traffic, and what a specification alone says of the security of its operations.
import { everybody, may, type Feature } from '../http-kit/index.js';
import { inventoryOf } from '../inventory/index.js';
import { registerGaps } from './gaps/routes.js';
import type { PostureParts } from './parts.js';
import { registerScan } from './scan/routes.js';

export const postureFeature: Feature<PostureParts> = {
  name: 'posture',
  access: {
    'GET /api/posture-gaps': may('stats:read', everybody),
    'POST /api/ci-scan': may('rules:read', everybody),
  },
  routes(app, parts) {
    registerGaps(app, parts, inventoryOf(parts));
    registerScan(app);
  },
};
