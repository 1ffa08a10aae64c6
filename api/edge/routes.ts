// Bans and the pipeline, as people see them.
import { Type, type Static } from '@sinclair/typebox';
import { pipeline } from '#proxy/contract';
import {
  ApiError,
  closed,
  decodeCursor,
  Nullable,
  OneOf,
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
import type { GateFigures, NodeGates } from './node-gates.js';
import { earlierBans, earlierMax, liftBans, listBans, type BanRow, type EarlierBan } from './store.js';

export type EdgeParts = Pick<Parts, 'database' | 'now' | 'audit' | 'threatsChanged' | 'currentSettings'> & {
  readonly nodeGates: NodeGates | null;
};

const tags = ['edge'];

const BanView = Type.Object({
  network: Type.String({ description: 'an address, or the /64 of an IPv6 client' }),
  scope: OneOf(['ip', 'prefix'], 'what is banned: one address, or the network of an IPv6 client'),
  state: Type.Unsafe<'active' | 'ended' | 'lifted'>({ type: 'string', enum: ['active', 'ended', 'lifted'] }),
  reason: Type.String(),
  zone: Type.String({ description: 'the limit whose refusals led to it' }),
  threshold: Type.Integer({ description: 'limited requests that led to it' }),
  window_seconds: Type.Integer({ description: 'in which they came' }),
  offence: Type.Integer({ description: '1: its first; each is twice as long as the one before' }),
  earlier: Type.Array(Type.Object({ banned_at: Time, expires_at: Time, request_id: Type.String() }), {
    description: `the bans before it that made it longer, the newest first, at most ${earlierMax}`,
  }),
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
          decisions: Type.Array(
            Type.Object({
              decision: Type.String({ description: 'deny, throttle, challenge or flag' }),
              outcome: Type.String({ description: 'enforced; recorded: DetectionOnly, a dry run, or a flag' }),
              count: Type.Integer(),
            }),
            { description: 'of all nodes since they began; rules and steps that are no gates have none' },
          ),
        }),
      ),
    }),
    ...refusals,
  },
};

/** The same decision of all nodes as one row. */
function addUp(
  decisions: GateFigures['decisions'],
): { readonly decision: string; readonly outcome: string; readonly count: number }[] {
  const rows = new Map<string, { readonly decision: string; readonly outcome: string; readonly count: number }>();
  for (const { decision, outcome, count } of decisions) {
    const key = `${decision} ${outcome}`;
    rows.set(key, { decision, outcome, count: (rows.get(key)?.count ?? 0) + count });
  }
  return [...rows.values()];
}

function viewBan(row: BanRow, earlier: readonly EarlierBan[], nowMs: number): Static<typeof BanView> {
  const isOver = row.expires_at.getTime() <= nowMs;
  return {
    network: row.network,
    scope: row.network.includes('/') ? 'prefix' : 'ip',
    state: row.lifted_at !== null ? 'lifted' : isOver ? 'ended' : 'active',
    reason: reasonOf(row),
    zone: row.zone,
    threshold: row.threshold,
    window_seconds: row.window_seconds,
    offence: row.offence,
    earlier: earlier.map((one) => ({
      banned_at: one.banned_at.toISOString(),
      expires_at: one.expires_at.toISOString(),
      request_id: one.request_id,
    })),
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
    const earlier = await earlierBans(sql, rows);
    return toPage(
      rows,
      limit,
      ({ id }) => [Number(id)],
      (row) => viewBan(row, earlier.get(Number(row.id)) ?? [], nowMs),
    );
  });
  app.delete('/api/bans', { schema: liftSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { network } = request.query;
    await sql.begin(async (tx) => {
      if ((await liftBans(tx, [network], actor.name, new Date(parts.now()))) === 0)
        throw new ApiError('not_found', `${network} is not banned; GET /api/bans names those that are.`);
      await removeThreatsOf(tx, network, banSource);
      await parts.audit.record(tx, { actor, action: 'ban.lift', summary: `lifted the ban of ${network}` });
    });
    await parts.nodeGates?.lift([network]);
    await parts.threatsChanged();
    return reply.code(204).send(null);
  });
  app.get('/api/pipeline', { schema: pipelineSchema }, async () => {
    const decisions = ((await parts.nodeGates?.figures()) ?? []).flatMap(({ answer }) => answer?.decisions ?? []);
    return {
      stages: pipeline.map(({ appliesTo, settings, countedAs, ...stage }) => ({
        ...stage,
        applies_to: appliesTo,
        settings: [...settings],
        decisions: addUp(decisions.filter(({ gate }) => gate === (countedAs ?? stage.name))),
      })),
    };
  });
}
