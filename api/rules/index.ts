// Custom rules, and the categories of the core rule set.
import { everybody, may, nodesOnly, tuners, type Feature } from '../http-kit/index.js';
import { registerCategoryRoutes } from './category-routes.js';
import { registerRecordedRoute } from './recorded-route.js';
import { registerRuleRoutes } from './routes.js';
import { registerRuleSetRoutes, type RuleSetParts } from './rule-set-routes.js';
import type { RuleParts } from './save.js';
import { registerTestRoute } from './test-route.js';

const readRules = may('rules:read', everybody);
const writeRules = may('rules:write', tuners);

export const rulesFeature: Feature<RuleParts & RuleSetParts> = {
  name: 'rules',
  access: {
    'GET /api/rules/categories': readRules,
    'GET /api/rules': readRules,
    'GET /api/rules/:id': readRules,
    'POST /api/rules': writeRules,
    'PATCH /api/rules/:id': writeRules,
    'DELETE /api/rules/:id': writeRules,
    'POST /api/rules/test': writeRules,
    'POST /api/rules/matches': writeRules,
    'POST /api/dataplane/rules': nodesOnly,
  },
  routes(app, parts) {
    registerCategoryRoutes(app, parts);
    registerRuleRoutes(app, parts);
    registerTestRoute(app, parts);
    registerRecordedRoute(app, parts);
    registerRuleSetRoutes(app, parts);
  },
};
