// Virtual patches: the catalogue, and which of its entries are in force.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { registerPatchRoutes, type PatchParts } from './routes.js';

export const vpatchFeature: Feature<PatchParts> = {
  name: 'vpatch',
  access: {
    'GET /api/vpatch/catalog': may('rules:read', everybody),
    'POST /api/vpatch': may('rules:write', tuners),
  },
  routes: registerPatchRoutes,
};
