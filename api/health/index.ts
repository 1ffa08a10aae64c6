// Whether the server runs and is ready, and where a person or a program that looks around finds what there is.
import { open, type Feature } from '../http-kit/index.js';
import { registerHealthRoutes, type HealthParts } from './routes.js';

export const healthFeature: Feature<HealthParts> = {
  name: 'health',
  access: {
    'GET /api': open,
    'GET /api/': open,
    'GET /api/health': open,
    'GET /api/live': open,
    'GET /api/ready': open,
    'GET /api/openapi.json': open,
  },
  routes: registerHealthRoutes,
};
