// Custom rules, and the categories of the core rule set.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { registerCategoryRoutes } from './category-routes.js';
import { registerRuleRoutes } from './routes.js';
import type { RuleParts } from './save.js';
import { registerTestRoute } from './test-route.js';

const readRules = may('rules:read', everybody);
const writeRules = may('rules:write', tuners);

export const rulesFeature: Feature<RuleParts & Pick<Parts, 'crsDirectory'>> = {
  name: 'rules',
  access: {
    'GET /api/rules/categories': readRules,
    'GET /api/rules': readRules,
    'GET /api/rules/:id': readRules,
    'POST /api/rules': writeRules,
    'PATCH /api/rules/:id': writeRules,
    'DELETE /api/rules/:id': writeRules,
    'POST /api/rules/test': writeRules,
  },
  routes(app, parts) {
    registerCategoryRoutes(app, parts);
    registerRuleRoutes(app, parts);
    registerTestRoute(app, parts);
  },
};
