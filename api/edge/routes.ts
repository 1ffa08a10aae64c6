// Bans and the pipeline, as people see them.
import { Type, type Static } from '@sinclair/typebox';
import { pipeline } from '#proxy/contract';
import {
  closed,
  decodeCursor,
  Nullable,
  OneOf,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  SomeOf,
  Time,
  toPage,
  type App,
} from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { lift, subjectOf } from '../measures/lift.js';
import { kindOfSubject, measureSources, stateOf, type ClientMeasure } from '../measures/model.js';
import { listNewest } from '../measures/query.js';
import type { GateFigures, NodeGates } from './node-gates.js';
import { earlierBans, earlierMax, type EarlierBan } from './store.js';

export type EdgeParts = Pick<
  Parts,
  'database' | 'now' | 'audit' | 'measuresChanged' | 'currentSettings' | 'locations'
> & {
  readonly nodeGates: NodeGates | null;
};

const tags = ['edge'];

const ofAutomatic = (description: string) => `${description}; null: no automatic ban`;

const BanView = Type.Object({
  network: Type.String({ description: 'an address, a network, the /64 of an IPv6 client, or a principal' }),
  scope: OneOf(['ip', 'prefix', 'principal'], 'what is banned: one address, a network, or a principal'),
  source: OneOf(measureSources, 'who decided'),
  state: Type.Unsafe<'active' | 'ended' | 'lifted'>({ type: 'string', enum: ['active', 'ended', 'lifted'] }),
  reason: Type.String(),
  zone: Nullable(Type.String({ description: ofAutomatic('the limit whose refusals led to it') })),
  threshold: Nullable(Type.Integer({ description: ofAutomatic('limited requests that led to it') })),
  window_seconds: Nullable(Type.Integer({ description: ofAutomatic('in which they came') })),
  offence: Nullable(
    Type.Integer({ description: ofAutomatic('1: its first; each is twice as long as the one before') }),
  ),
  earlier: Type.Array(Type.Object({ banned_at: Time, expires_at: Time, request_id: Type.String() }), {
    description: `the bans before it that made it longer, the newest first, at most ${earlierMax}`,
  }),
  request_id: Nullable(
    Type.String({ description: ofAutomatic('the request that crossed the line; its event has the same id') }),
  ),
  node: Nullable(Type.String({ description: ofAutomatic('the node that banned it') })),
  added_by: Type.String(),
  banned_at: Time,
  expires_at: Nullable(Time),
  lifted_at: Nullable(Time),
  lifted_by: Nullable(Type.String()),
});

const listSchema = {
  tags,
  summary:
    'Clients that are denied by any source, the newest first; entries of lists (tor, feed, managed) are left out: ' +
    'GET /api/threat-intel and GET /api/measures have them',
  querystring: Type.Object(
    {
      ...PageQuery,
      source: Type.Optional(SomeOf(measureSources)),
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
  summary:
    'Let a client in again on all nodes, whichever source denied it,' +
    ' and forget the automatic bans before; the entry stays, ' +
    'with who lifted it',
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

function viewBan(row: ClientMeasure, earlier: readonly EarlierBan[], nowMs: number): Static<typeof BanView> {
  const { subject, evidence } = row;
  const kind = kindOfSubject(subject);
  return {
    network: subject,
    scope: kind === 'address' ? 'ip' : kind === 'network' ? 'prefix' : 'principal',
    source: row.source as Static<typeof BanView>['source'],
    state: stateOf(row, nowMs),
    reason: row.reason,
    zone: evidence?.zone ?? null,
    threshold: evidence?.threshold ?? null,
    window_seconds: evidence?.window_seconds ?? null,
    offence: evidence?.offence ?? null,
    earlier: earlier.map((one) => ({
      banned_at: one.banned_at.toISOString(),
      expires_at: one.expires_at.toISOString(),
      request_id: one.request_id,
    })),
    request_id: evidence?.request_id ?? null,
    node: evidence?.node ?? null,
    added_by: row.added_by,
    banned_at: row.added_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    lifted_at: row.lifted_at?.toISOString() ?? null,
    lifted_by: row.lifted_by,
  };
}

export function registerEdgeRoutes(app: App, parts: EdgeParts): void {
  const { sql } = parts.database;
  app.get('/api/bans', { schema: listSchema }, async ({ query: { cursor, limit = 50, state = 'active', source } }) => {
    const before = cursor === undefined ? null : decodeCursor(cursor, ['number'] as const)[0];
    const nowMs = parts.now();
    const filter = { actions: 'deny', sources: source, states: state === 'active' ? 'active' : undefined } as const;
    const rows = await listNewest(sql, filter, before, new Date(nowMs), limit + 1);
    const earlier = await earlierBans(sql, rows);
    return toPage(
      rows,
      limit,
      ({ id }) => [id],
      (row) => viewBan(row, earlier.get(row.id) ?? [], nowMs),
    );
  });
  app.delete('/api/bans', { schema: liftSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const subject = subjectOf(request.query.network);
    await lift(parts, {
      subject,
      actions: ['deny'],
      actor,
      audited: { action: 'ban.lift', summary: `lifted the ban of ${subject}` },
      absent: `${subject} is not banned; GET /api/bans names those that are.`,
    });
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
