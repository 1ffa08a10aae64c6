// Discovery: which APIs there are, learned from what nodes and others observed.
import { everybody, may, nodesOnly, tuners, type Feature } from '../http-kit/index.js';
import { inventoryOf } from './inventory.js';
import { registerDataFlow } from './data-flow.js';
import { createInventoryJob } from './job.js';
import { registerNodeRoutes } from './node-routes.js';
import { registerInventoryRoutes, type InventoryParts } from './routes.js';

export { takeOnce, type KeptWindow } from './cells.js';
export { hashOfId, keptBatch, keptText, type KeptSighting } from './kept.js';
export { windowOf } from './sightings.js';
export { foldedPlace, type SiteForm } from './templates/form.js';
export { matchTemplate } from './templates/match.js';
export { inventoryOf, type Inventory } from './inventory.js';
export { listEndpoints, toEndpoint, type Endpoint, type EndpointRow } from './store.js';

export const inventoryFeature: Feature<InventoryParts> = {
  name: 'inventory',
  access: {
    'POST /api/dataplane/observations': nodesOnly,
    'GET /api/inventory': may('stats:read', everybody),
    'GET /api/inventory/stats': may('stats:read', everybody),
    'GET /api/inventory/export': may('stats:read', everybody),
    'GET /api/data-flow': may('stats:read', everybody),
    'POST /api/inventory/split': may('rules:write', tuners),
  },
  routes(app, parts) {
    const inventory = inventoryOf(parts);
    registerNodeRoutes(app, inventory);
    registerInventoryRoutes(app, parts, inventory);
    registerDataFlow(app, parts, inventory);
  },
  jobs: (parts) => [createInventoryJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
