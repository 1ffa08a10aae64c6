// Tokens for automation, and the table of who may call what.
import { admins, everybody, inPerson, may, type Feature } from '../http-kit/index.js';
import { registerTokenRoutes, type TokenParts } from './routes.js';

const administrator = inPerson('tokens', admins);

export const apiTokensFeature: Feature<TokenParts> = {
  name: 'api-tokens',
  access: {
    'GET /api/tokens': administrator,
    'POST /api/tokens': administrator,
    'DELETE /api/tokens/:id': administrator,
    'GET /api/roles/matrix': may('settings:read', everybody),
  },
  routes: registerTokenRoutes,
};
