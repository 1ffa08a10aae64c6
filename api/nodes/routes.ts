import { Type } from '@sinclair/typebox';
import { standingOf } from '../change/node-target.js';
import { ApiError, Nullable, refusals, requirePrincipal, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { findRunning } from '../rollout/store.js';
import { readState } from '../settings/state.js';
import type { NodeUpstream } from './node-client.js';
import { listNodes } from './node-store.js';

export type NodeParts = Pick<Parts, 'database' | 'expectedOf' | 'audit' | 'reconcileNodes' | 'drainNode'>;

const UpstreamView = Type.Object({
  site: Type.String(),
  url: Type.String(),
  weight: Type.Integer(),
  state: Type.Unsafe<NodeUpstream['state']>({
    type: 'string',
    enum: ['up', 'down', 'ejected'],
    description: 'down: its checks fail; ejected: left out for a while, because it failed requests',
  }),
  detail: Type.String({ description: 'why it is not up' }),
  workers_up: Type.Integer({ description: 'workers that send requests there' }),
});

const NodeView = Type.Object({
  url: Type.String(),
  state: Type.Unsafe<'active' | 'behind' | 'unreachable'>({
    type: 'string',
    enum: ['active', 'behind', 'unreachable'],
    description:
      'active: serves the active settings as they are meant in the environment of today; ' +
      'behind: the next reconciliation brings it there',
  }),
  generation: Nullable(Type.Integer({ description: 'the node’s own number of what it serves' })),
  ruleset: Type.String({ description: 'SHA-256 of the artifact it serves' }),
  workers: Type.Integer(),
  version: Nullable(Type.Integer({ description: 'settings version last put there' })),
  last_seen_at: Nullable(Time),
  last_asked_at: Time,
  detail: Type.String(),
  release: Nullable(Type.String({ description: 'of its program; null: it does not say' })),
  draining: Type.Boolean({ description: 'it asks load balancers to send traffic elsewhere (/readyz answers 503)' }),
  requests_per_minute: Nullable(Type.Integer({ description: 'in the last minute' })),
  load: Nullable(Type.Number({ description: 'processes that want a core, as a share of the cores of its machine' })),
  upstreams: Type.Array(UpstreamView, { description: 'of sites that have several, or a health check' }),
});

const helloSchema = {
  tags: ['data plane'],
  summary: 'A node has started: nodes are looked at now, and those that are behind are brought up to date',
  body: Type.Object({ node: Type.String({ maxLength: 253 }) }, { additionalProperties: false }),
  response: {
    200: Type.Object({ nodes: Type.String({ description: 'what was found and done, in one line' }) }),
    ...refusals,
  },
};

const listSchema = {
  tags: ['data plane'],
  summary: 'Data-plane nodes: what each serves and when it was last seen',
  response: {
    200: Type.Object({
      items: Type.Array(NodeView),
      active_version: Nullable(Type.Integer()),
      generation: Type.Integer(),
    }),
    ...refusals,
  },
};

const drainSchema = {
  tags: ['data plane'],
  summary: 'Ask load balancers to send traffic to other nodes (its /readyz answers 503), or to come back',
  description:
    'The node serves every request that comes all the same. It ends with {"drain": false}, or with a restart of ' +
    'the node.',
  body: Type.Object({ url: Type.String({ maxLength: 2000 }), drain: Type.Boolean() }, { additionalProperties: false }),
  response: { 200: Type.Object({ url: Type.String(), draining: Type.Boolean() }), ...refusals },
};

function registerDrain(app: App, { database, audit, drainNode }: NodeParts): void {
  app.post('/api/nodes/drain', { schema: drainSchema }, async (request) => {
    const { url, drain } = request.body;
    const { actor } = requirePrincipal(request);
    const isKnown = (await listNodes(database.sql)).some((node) => node.url === url);
    if (!isKnown || drainNode === null) throw new ApiError('not_found', `There is no node ${url}.`);
    if (!(await drainNode(url, drain))) throw new ApiError('outbound_failed', `The node ${url} did not answer.`);
    await database.sql.begin(async (tx) => {
      const summary = drain ? `drained ${url}` : `put ${url} back into service`;
      await audit.record(tx, { actor, action: 'nodes.drain', summary, details: { url, drain } });
    });
    return { url, draining: drain };
  });
}

/** Looks at all nodes; nodes that start or connect together are served by one look. */
export function createLook({
  audit,
  reconcileNodes,
}: Pick<NodeParts, 'audit' | 'reconcileNodes'>): () => Promise<string> {
  let looking: Promise<string> | null = null;
  return async () => {
    if (reconcileNodes === null) return '';
    await looking?.catch(() => {}); // it may have begun before this node was there
    looking ??= reconcileNodes(audit).finally(() => {
      looking = null;
    });
    return looking;
  };
}

export function registerNodeRoutes(app: App, parts: NodeParts): void {
  const {
    database: { sql },
    expectedOf,
  } = parts;
  const hello = createLook(parts);
  app.post('/api/dataplane/hello', { schema: helloSchema }, async () => ({ nodes: await hello() }));
  registerDrain(app, parts);
  app.get('/api/nodes', { schema: listSchema }, async () => {
    const state = await readState(sql);
    const expected = state.activeId === null ? null : await expectedOf(state.activeId);
    const rollout = await findRunning(sql);
    const ofRollout = rollout === null ? null : await expectedOf(rollout.version_id);
    const items = (await listNodes(sql)).map((node) => {
      const meant = rollout?.reached.includes(node.url) === true ? ofRollout : expected;
      const standing = node.reachable
        ? standingOf(node, node, meant)
        : { state: 'unreachable' as const, detail: node.detail };
      return {
        url: node.url,
        ...standing,
        generation: node.generation,
        ruleset: node.ruleset,
        workers: node.workers,
        version: node.served_version,
        last_seen_at: node.last_seen_at?.toISOString() ?? null,
        last_asked_at: node.last_asked_at.toISOString(),
        release: node.facts?.release ?? null,
        draining: node.facts?.draining ?? false,
        requests_per_minute: node.facts?.rpm ?? null,
        load: node.facts?.cpu ?? null,
        upstreams: node.upstreams,
      };
    });
    return { items, active_version: state.activeId, generation: state.generation };
  });
}
