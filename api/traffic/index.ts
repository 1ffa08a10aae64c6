// Traffic at a glance, for dashboards: counts over a window of the request log, each with the filter that lists what it
// counted.
import { everybody, may, type Feature } from '../http-kit/index.js';
import { registerTrafficRoutes, type TrafficParts } from './routes.js';

export const trafficFeature: Feature<TrafficParts> = {
  name: 'traffic',
  access: { 'GET /api/traffic': may('events:read', everybody) },
  routes: registerTrafficRoutes,
};
