// Specifications of APIs: stored by site, name and version. The settings (api_specs) say which are in force; what a
// node enforces of them is made on the road of a change (change/steps/specifications.ts).
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { registerPreview } from './preview/routes.js';
import { registerReality, type RealityParts } from './reality/routes.js';
import type { SpecParts } from './requests.js';
import { registerSpecRoutes } from './routes.js';

export const specFeature: Feature<SpecParts & RealityParts> = {
  name: 'spec',
  access: {
    'POST /api/spec': may('rules:write', tuners),
    'GET /api/spec': may('rules:read', everybody),
    'GET /api/spec/compare': may('rules:read', everybody),
    'GET /api/spec/preview': may('rules:read', everybody),
    'POST /api/spec/preview': may('rules:read', everybody),
    'GET /api/spec/generated': may('stats:read', everybody),
    'GET /api/spec/:id/reality': may('stats:read', everybody),
    'GET /api/spec/:id/preview': may('rules:read', everybody),
    'GET /api/spec/:id': may('rules:read', everybody),
    'DELETE /api/spec/:id': may('rules:write', tuners),
  },
  routes(app, parts) {
    registerSpecRoutes(app, parts);
    registerPreview(app, parts);
    registerReality(app, parts);
  },
  migrations: new URL('./migrations/', import.meta.url),
};
