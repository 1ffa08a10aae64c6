import { Type, type Static } from '@sinclair/typebox';
import { ApiError, closed, Nullable, refusals, requirePrincipal, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { noRollout, type Rollouts } from './contract.js';
import { limitsDefault } from './judge.js';
import { findRunning, listRollouts, type RolloutRow } from './store.js';

export type RolloutRouteParts = Pick<Parts, 'database' | 'audit' | 'rollouts'>;

const Ring = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' });
const { hold_seconds, requests_min, error_points_max, block_points_max, latency_factor_max } = limitsDefault;
const LimitFields = {
  hold_seconds: Type.Integer({
    minimum: 1,
    maximum: 86_400,
    description: `how long a ring is watched (default ${hold_seconds})`,
  }),
  requests_min: Type.Integer({
    minimum: 20,
    maximum: 10_000_000,
    description: `requests that a ring must have answered before it is judged (default ${requests_min})`,
  }),
  error_points_max: Type.Number({
    minimum: 0,
    maximum: 100,
    description: `stop: failed requests, percentage points above the other nodes (default ${error_points_max})`,
  }),
  block_points_max: Type.Number({
    minimum: 0,
    maximum: 100,
    description: `stop: blocked requests, percentage points above the other nodes (default ${block_points_max})`,
  }),
  latency_factor_max: Type.Number({
    minimum: 1,
    maximum: 1000,
    description: `stop: mean time of a request, as a multiple of that of the others (default ${latency_factor_max})`,
  }),
};
const Start = Type.Object(
  {
    rings: Type.Optional(
      Type.Array(Ring, {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
        description: 'labels `ring` in the order in which they get the version (default canary); the others come last',
      }),
    ),
    hold_seconds: Type.Optional(LimitFields.hold_seconds),
    requests_min: Type.Optional(LimitFields.requests_min),
    error_points_max: Type.Optional(LimitFields.error_points_max),
    block_points_max: Type.Optional(LimitFields.block_points_max),
    latency_factor_max: Type.Optional(LimitFields.latency_factor_max),
  },
  closed,
);
const SharesView = Type.Object({
  requests: Type.Integer(),
  block_rate: Type.Number({ description: '0 to 1' }),
  error_rate: Type.Number({ description: '0 to 1' }),
  latency_ms: Nullable(Type.Number({ description: 'mean' })),
});
const RolloutView = Type.Object({
  id: Type.Integer(),
  status: Type.Unsafe<RolloutRow['status']>({ type: 'string', enum: ['running', 'finished', 'stopped'] }),
  version: Type.Integer({ description: 'settings version' }),
  rings: Type.Array(Type.String()),
  ring: Nullable(Type.String({ description: 'that is watched; null: all nodes have it, or it has ended' })),
  nodes: Type.Array(Type.String(), { description: 'that have been given the version' }),
  limits: Type.Object(LimitFields),
  seen: Nullable(
    Type.Object({
      ring: SharesView,
      reference: SharesView,
      against: Nullable(
        Type.Unsafe<'others' | 'before'>({
          type: 'string',
          enum: ['others', 'before'],
          description: 'the nodes without the version in the same time; or the same nodes, before they had it',
        }),
      ),
      note: Type.String({ description: 'what it waits for; empty: the hold time alone' }),
    }),
  ),
  started_at: Time,
  started_by: Type.String(),
  ring_since: Time,
  ended_at: Nullable(Time),
  reason: Type.String({ description: 'why it was stopped' }),
});

const tags = ['data plane'];
const one = { 200: RolloutView, ...refusals };
const listSchema = {
  tags,
  summary: 'Rollouts ring by ring, the newest 20: how far they are, and what was compared',
  response: { 200: Type.Object({ items: Type.Array(RolloutView) }), ...refusals },
};
const startSchema = {
  tags,
  summary: 'Put the saved settings on the nodes of one ring first, and on the others if those do as well',
  description:
    'The rings are the labels `ring` of enrolled nodes. A ring is watched for `hold_seconds` and compared with the ' +
    'nodes that do not have the version. It is taken back by itself where errors, blocked requests or latency are ' +
    'beyond the limits. Until the end the active version is the one before, and `POST /api/apply` answers 409.',
  body: Start,
  response: { 201: RolloutView, ...refusals },
};
const stopSchema = { tags, summary: 'Stop the rollout and put the active version back', response: one };
const continueSchema = { tags, summary: 'Go on with the next ring now, whatever the comparison says', response: one };

function view(row: RolloutRow): Static<typeof RolloutView> {
  return {
    id: row.id,
    status: row.status,
    version: row.version_id,
    rings: [...row.rings],
    ring: row.status === 'running' ? (row.rings[row.stage] ?? null) : null,
    nodes: [...row.reached],
    limits: row.limits,
    seen: row.seen,
    started_at: row.started_at.toISOString(),
    started_by: row.started_by,
    ring_since: row.stage_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    reason: row.reason,
  };
}

function requireRollouts(rollouts: Rollouts | null): Rollouts {
  if (rollouts !== null) return rollouts;
  throw new ApiError('not_ready', 'No data plane is connected to this server.');
}

export function registerRolloutRoutes(app: App, { database, audit, rollouts }: RolloutRouteParts): void {
  app.get('/api/rollouts', { schema: listSchema }, async () => ({
    items: (await listRollouts(database.sql)).map(view),
  }));
  app.post('/api/rollouts', { schema: startSchema }, async (request, reply) => {
    const { rings = ['canary'], ...limits } = request.body;
    const { actor } = requirePrincipal(request);
    const asked = { rings, limits: { ...limitsDefault, ...limits } };
    return reply.status(201).send(view(await requireRollouts(rollouts).start(audit, actor, asked)));
  });
  /** The one that is under way is there to be stopped, or not, whatever this server is connected to. */
  const underWay = async (): Promise<Rollouts> => {
    if ((await findRunning(database.sql)) === null) throw noRollout();
    return requireRollouts(rollouts);
  };
  app.post('/api/rollouts/stop', { schema: stopSchema }, async (request) =>
    view(await (await underWay()).stop(audit, requirePrincipal(request).actor)),
  );
  app.post('/api/rollouts/continue', { schema: continueSchema }, async (request) =>
    view(await (await underWay()).advance(audit, requirePrincipal(request).actor)),
  );
}
