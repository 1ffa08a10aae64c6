// The licence of this installation: state, allowance, activation of a key.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { registerLicenceRoutes, type LicenceParts } from './routes.js';

export const licenceFeature: Feature<LicenceParts> = {
  name: 'licence',
  access: {
    'GET /api/license': may('licence:read', everybody),
    'POST /api/license': may('licence:write', admins),
  },
  routes: registerLicenceRoutes,
};
