// The settings people edit: read, saved, made active, and their versions.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { registerProfileRoutes } from './profile-routes.js';
import { registerSettingsRoutes, type SettingsParts } from './routes.js';
import { registerVersionRoutes } from './version-routes.js';

const readSettings = may('settings:read', everybody);
const writeSettings = may('settings:write', tuners);
const readVersions = may('versions:read', everybody);

export const settingsFeature: Feature<SettingsParts> = {
  name: 'settings',
  access: {
    'GET /api/settings': readSettings,
    'GET /api/settings/schema': readSettings,
    'GET /api/settings/profiles': readSettings,
    'POST /api/settings/profiles/:name': writeSettings,
    'PUT /api/settings': writeSettings,
    'PATCH /api/settings': writeSettings,
    'POST /api/apply': may('apply', tuners),
    'GET /api/config/versions': readVersions,
    'GET /api/config/versions/:id': readVersions,
    'GET /api/config/diff': readVersions,
    'POST /api/config/rollback': may('rollback', tuners),
  },
  routes(app, parts) {
    registerSettingsRoutes(app, parts);
    registerProfileRoutes(app, parts);
    registerVersionRoutes(app, parts);
  },
};
