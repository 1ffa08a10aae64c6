// The data-plane nodes: what each serves, and the job that brings back those that fell behind.
import { everybody, may, nodesOnly, tuners, type Feature, type Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { registerNodeRoutes, type NodeParts } from './routes.js';

const reconcileEveryMs = 15_000;

export const nodesFeature: Feature<NodeParts & Pick<Parts, 'audit' | 'reconcileNodes'>> = {
  name: 'nodes',
  access: {
    'GET /api/nodes': may('stats:read', everybody),
    'POST /api/nodes/drain': may('apply', tuners),
    'POST /api/dataplane/hello': nodesOnly,
  },
  routes: registerNodeRoutes,
  jobs({ audit, reconcileNodes }): readonly Job[] {
    if (reconcileNodes === null) return [];
    return [{ name: 'nodes', everyMs: reconcileEveryMs, timeoutMs: 300_000, run: () => reconcileNodes(audit) }];
  },
};
