// The sites of the settings as they are meant: what each takes from the installation, and where a path of it goes.
import { everybody, may, type Feature } from '../http-kit/index.js';
import { registerSiteRoutes, type SiteParts } from './routes.js';

export const sitesFeature: Feature<SiteParts> = {
  name: 'sites',
  access: { 'GET /api/sites': may('settings:read', everybody) },
  routes: registerSiteRoutes,
};
