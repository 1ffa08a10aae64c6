// Links to one event for readers without a login.
import { inPerson, open, tuners, type Feature } from '../http-kit/index.js';
import { registerShareRoutes, type ShareParts } from './routes.js';

const operator = inPerson('events:read', tuners);

export const eventSharesFeature: Feature<ShareParts> = {
  name: 'event-shares',
  access: {
    'POST /api/events/:id/shares': operator,
    'GET /api/event-shares': operator,
    'DELETE /api/event-shares/:id': operator,
    'POST /api/shared-event': open,
  },
  routes: registerShareRoutes,
  migrations: new URL('./migrations/', import.meta.url),
};
