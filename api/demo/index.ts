// The public demo page's sandbox.
import { open, type Feature } from '../http-kit/index.js';
import { registerDemoRoutes, type DemoParts } from './routes.js';

export const demoFeature: Feature<DemoParts> = {
  name: 'demo',
  access: { 'POST /api/demo': open },
  routes: registerDemoRoutes,
};
