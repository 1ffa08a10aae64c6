// Logging in and out with a password. Who is let in afterwards is the guard's business (guard.ts).
import { everybody, inPerson, open, type Feature } from '../http-kit/index.js';
import { registerLoginRoutes, type LoginRouteParts } from './routes.js';

export const loginFeature: Feature<LoginRouteParts> = {
  name: 'login',
  access: {
    'POST /api/login': open,
    'POST /api/login/otp': open,
    'POST /api/logout': inPerson('account', everybody, true),
  },
  routes: registerLoginRoutes,
};
