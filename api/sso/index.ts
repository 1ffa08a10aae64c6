// Single sign-on (OpenID Connect): people log in at a provider of their own and get a session here.
import { open, type Feature } from '../http-kit/index.js';
import { registerSsoRoutes, type SsoRouteParts } from './routes.js';

export const ssoFeature: Feature<SsoRouteParts> = {
  name: 'sso',
  access: {
    'GET /api/sso': open,
    'GET /api/sso/login': open,
    'GET /api/sso/callback': open,
  },
  routes: registerSsoRoutes,
};
