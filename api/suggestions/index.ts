// False positives: the rules that trip most, and exclusions that were tried out.
import { everybody, may, type Feature } from '../http-kit/index.js';
import { registerSuggestionRoutes, type SuggestionParts } from './routes.js';

export const suggestionsFeature: Feature<SuggestionParts> = {
  name: 'suggestions',
  access: { 'GET /api/fp-suggestions': may('rules:read', everybody) },
  routes: (app, parts) => registerSuggestionRoutes(app, parts),
};
