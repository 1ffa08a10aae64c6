// Ingestion: requests that were seen elsewhere (gateways, archives, traces, a mesh) become observations like those of
// nodes.
import { everybody, may, tuners, type Feature } from '../http-kit/index.js';
import { registerRecordBodies } from './body.js';
import { registerEastWest } from './east-west.js';
import type { IntakeParts } from './intake.js';
import { registerIngestRoutes } from './routes.js';

export const ingestFeature: Feature<IntakeParts> = {
  name: 'ingest',
  access: {
    'POST /api/gateway/:type': may('ingest', tuners),
    'POST /api/ingest': may('ingest', tuners),
    'POST /api/ingest/mesh': may('ingest', tuners),
    'POST /api/ingest/v1/traces': may('ingest', tuners),
    'GET /api/east-west': may('stats:read', everybody),
  },
  routes(app, parts) {
    registerRecordBodies(app);
    registerIngestRoutes(app, parts);
    registerEastWest(app, parts);
  },
  migrations: new URL('./migrations/', import.meta.url),
};
