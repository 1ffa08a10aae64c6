// Bans, limits and the pipeline, as people see them.
import { Type, type Static } from '@sinclair/typebox';
import { pipeline } from '#proxy/contract';
import {
  ApiError,
  closed,
  decodeCursor,
  Nullable,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
} from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { removeThreatsOf } from '../threat-intel/store.js';
import { banSource, reasonOf } from './job.js';
import { GateFigures, type NodeGates } from './node-gates.js';
import { liftBans, listBans, type BanRow } from './store.js';

export type EdgeParts = Pick<Parts, 'database' | 'now' | 'audit' | 'threatsChanged' | 'currentSettings'> & {
  readonly nodeGates: NodeGates | null;
};

const tags = ['edge'];

const BanView = Type.Object({
  network: Type.String({ description: 'an address, or the /64 of an IPv6 client' }),
  state: Type.Unsafe<'active' | 'ended' | 'lifted'>({ type: 'string', enum: ['active', 'ended', 'lifted'] }),
  reason: Type.String(),
  zone: Type.String({ description: 'the limit whose refusals led to it' }),
  offence: Type.Integer({ description: '1: its first; each is twice as long as the one before' }),
  request_id: Type.String({ description: 'the request that crossed the line; its event has the same id' }),
  node: Type.String(),
  banned_at: Time,
  expires_at: Time,
  lifted_at: Nullable(Time),
  lifted_by: Nullable(Type.String()),
});

const listSchema = {
  tags,
  summary: 'Automatic bans, the newest first',
  querystring: Type.Object(
    {
      ...PageQuery,
      state: Type.Optional(
        Type.Unsafe<'active' | 'all'>({ type: 'string', enum: ['active', 'all'], default: 'active' }),
      ),
    },
    closed,
  ),
  response: { 200: Page(BanView), ...refusals },
};
const liftSchema = {
  tags,
  summary: 'Lift a ban on all nodes, and forget the bans before it; the entry stays, with who lifted it',
  querystring: Type.Object({ network: Type.String({ maxLength: 64, description: 'as the list names it' }) }, closed),
  response: { 204: Type.Null(), ...refusals },
};
const pipelineSchema = {
  tags,
  summary: 'What every request meets, in this order',
  response: {
    200: Type.Object({
      stages: Type.Array(
        Type.Object({
          name: Type.String(),
          kind: Type.String(),
          applies_to: Type.String({ description: 'protected: sites that rules inspect; all: others as well' }),
          description: Type.String(),
          refuses: Nullable(Type.String()),
          settings: Type.Array(Type.String()),
        }),
      ),
    }),
    ...refusals,
  },
};
const limitsSchema = {
  tags,
  summary: 'Rate limits: what each counted since the nodes began, and the clients that were limited most',
  response: {
    200: Type.Object({
      enabled: Type.Boolean(),
      nodes: Type.Array(
        Type.Object({
          node: Type.String(),
          answers: Type.Boolean(),
          zones: GateFigures.properties.zones,
          heavy: GateFigures.properties.heavy,
          keys: Type.Integer({ description: 'clients and limits that are remembered at the moment' }),
          keys_max: Type.Integer(),
          evicted: Type.Integer({ description: 'that gave way before their time' }),
        }),
      ),
    }),
    ...refusals,
  },
};

function viewBan(row: BanRow, nowMs: number): Static<typeof BanView> {
  const isOver = row.expires_at.getTime() <= nowMs;
  return {
    network: row.network,
    state: row.lifted_at !== null ? 'lifted' : isOver ? 'ended' : 'active',
    reason: reasonOf(row),
    zone: row.zone,
    offence: row.offence,
    request_id: row.request_id,
    node: row.node,
    banned_at: row.banned_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    lifted_at: row.lifted_at?.toISOString() ?? null,
    lifted_by: row.lifted_by,
  };
}

export function registerEdgeRoutes(app: App, parts: EdgeParts): void {
  const { sql } = parts.database;
  app.get('/api/bans', { schema: listSchema }, async ({ query: { cursor, limit = 50, state = 'active' } }) => {
    const before = cursor === undefined ? null : decodeCursor(cursor, ['number'] as const)[0];
    const nowMs = parts.now();
    const rows = await listBans(sql, { isActive: state === 'active', before, now: new Date(nowMs) }, limit + 1);
    return toPage(
      rows,
      limit,
      ({ id }) => [Number(id)],
      (row) => viewBan(row, nowMs),
    );
  });
  app.delete('/api/bans', { schema: liftSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { network } = request.query;
    await sql.begin(async (tx) => {
      if ((await liftBans(tx, network, actor.name, new Date(parts.now()))) === 0)
        throw new ApiError('not_found', `${network} is not banned; GET /api/bans names those that are.`);
      await removeThreatsOf(tx, network, banSource);
      await parts.audit.record(tx, { actor, action: 'ban.lift', summary: `lifted the ban of ${network}` });
    });
    await parts.nodeGates?.lift(network);
    await parts.threatsChanged();
    return reply.code(204).send(null);
  });
  app.get('/api/pipeline', { schema: pipelineSchema }, async () => ({
    stages: pipeline.map(({ appliesTo, settings, ...stage }) => ({
      ...stage,
      applies_to: appliesTo,
      settings: [...settings],
    })),
  }));
  app.get('/api/rate-limits', { schema: limitsSchema }, async () => ({
    enabled: (await parts.currentSettings()).rl_enabled,
    nodes: ((await parts.nodeGates?.figures()) ?? []).map(({ node, answer }) => ({
      node,
      answers: answer !== null,
      zones: answer?.zones ?? [],
      heavy: answer?.heavy ?? [],
      keys: answer?.rateKeys.keys ?? 0,
      keys_max: answer?.rateKeys.keysMax ?? 0,
      evicted: answer?.rateKeys.evicted ?? 0,
    })),
  }));
}
