// A few whole requests, kept for replays.
import { nodesOnly, type Feature } from '../http-kit/index.js';
import { registerSampleRoutes, type SampleParts } from './routes.js';

export const samplesFeature: Feature<SampleParts> = {
  name: 'samples',
  access: { 'POST /api/dataplane/samples': nodesOnly },
  routes: registerSampleRoutes,
};
