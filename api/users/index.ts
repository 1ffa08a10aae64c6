// User administration. Every change that alters what a session may do ends the user's sessions.
import { admins, inPerson, type Feature } from '../http-kit/index.js';
import { registerCredentialRoutes } from './credential-routes.js';
import type { UserParts } from './administration.js';
import { registerUserRoutes } from './routes.js';

const administrator = inPerson('users', admins);

export const usersFeature: Feature<UserParts> = {
  name: 'users',
  access: {
    'GET /api/users': administrator,
    'POST /api/users': administrator,
    'GET /api/users/:id': administrator,
    'PATCH /api/users/:id': administrator,
    'DELETE /api/users/:id': administrator,
    'POST /api/users/:id/password': administrator,
    'DELETE /api/users/:id/totp': administrator,
    'GET /api/users/:id/sessions': administrator,
    'DELETE /api/users/:id/sessions': administrator,
  },
  routes(app, parts) {
    registerUserRoutes(app, parts);
    registerCredentialRoutes(app, parts);
  },
};
