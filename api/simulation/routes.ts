// Simulations over the API: start one, look at it, stop it; and what the nightly self-tests found.
import { Type, type Static } from '@sinclair/typebox';
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
import { begin, findTarget, networkOf, run, type SimulationParts } from './simulator.js';
import {
  findSimulation,
  listSelfTests,
  listSimulations,
  requestStop,
  type SelfTestRow,
  type SimulationRow,
} from './store.js';
import { waveOf, waveTypes } from './waves.js';

const tags = ['detection'];
export const bounds = { requests: 2000, seconds: 120, rate: 200 } as const;
const secondsDefault = 60;

const Attack = Type.Object({
  attack: Type.String(),
  sent: Type.Integer(),
  stopped: Type.Integer(),
  stages: Type.Array(Type.String(), { description: 'gates, or rules' }),
  rule_ids: Type.Array(Type.Integer(), { description: 'every rule that had something to say of it' }),
});
const View = Type.Object({
  id: Type.String(),
  type: OneOf(waveTypes),
  site: Type.String(),
  status: OneOf(['running', 'ended', 'stopped', 'failed'] as const),
  started_by: Type.String(),
  self_test: Type.Boolean({ description: 'part of a nightly self-test' }),
  requests: Type.Integer(),
  seconds: Type.Integer(),
  rate: Type.Integer(),
  sent: Type.Integer(),
  clients: Type.String({ description: 'the network that its clients are in' }),
  started_at: Time,
  ended_at: Nullable(Time),
  error: Nullable(Type.String()),
  report: Nullable(
    Type.Object({
      sent: Type.Integer(),
      stopped: Type.Integer(),
      passed: Type.Integer(),
      failed: Type.Integer({ description: 'without an answer, or an error of the application' }),
      unrecorded: Type.Optional(
        Type.Integer({ description: 'answered, and no node had a record in time: unknown whether it was stopped' }),
      ),
      first_stopped_ms: Nullable(Type.Integer({ description: 'time to detect; null: nothing was stopped' })),
      by_stage: Type.Array(
        Type.Object({ stage: Type.String(), rule_id: Nullable(Type.Integer()), count: Type.Integer() }),
      ),
      attacks: Type.Array(Attack),
      verdicts: Type.Array(Type.Unknown(), { description: 'of the detection engine on these clients' }),
      scored_clients: Type.Optional(Type.Integer({ description: 'clients that it could score; 0: it was off' })),
    }),
  ),
});
const SelfTestView = Type.Object({
  id: Type.String(),
  site: Type.String(),
  started_at: Time,
  ended_at: Nullable(Time),
  error: Nullable(Type.String()),
  attacks: Type.Array(Attack),
  lost: Type.Array(
    Type.Object({
      attack: Type.String(),
      passes: Type.Boolean({ description: 'it was stopped the time before, and passes now' }),
      stages: Type.Array(Type.String()),
      rule_ids: Type.Array(Type.Integer()),
    }),
    { description: 'what protected the time before and does not now' },
  ),
});
const startSchema = {
  tags,
  summary: 'Send an attack wave through the data plane, as clients of its own; the report stands in the answer of GET',
  body: Type.Object(
    {
      type: OneOf(waveTypes),
      site: Type.String({ minLength: 1, maxLength: 100, description: 'the name of a site that nodes serve' }),
      requests: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.requests })),
      seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.seconds, default: secondsDefault })),
      rate: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.rate, description: 'requests a second' })),
    },
    closed,
  ),
  response: { 202: View, ...refusals },
};
const Id = Type.Object({ id: Type.String({ pattern: '^\\d{1,15}$' }) }, closed);
const getSchema = { tags, summary: 'A simulation with its report', params: Id, response: { 200: View, ...refusals } };
const stopSchema = {
  tags,
  summary: 'Stop a simulation; it ends within two seconds, with the report of what was sent',
  params: Id,
  response: { 202: View, ...refusals },
};
const listSchema = {
  tags,
  summary: 'Simulations, newest first',
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(View), ...refusals },
};
const selfTestSchema = {
  tags,
  summary: 'Nightly self-tests, newest first: what each attack met, and what no longer protects',
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(SelfTestView), ...refusals },
};

function view(row: SimulationRow): Static<typeof View> {
  const { wanted, report } = row;
  return {
    id: String(row.id),
    type: row.type,
    site: row.site,
    status: row.status,
    started_by: row.started_by,
    self_test: row.self_test !== null,
    requests: wanted.requests,
    seconds: wanted.seconds,
    rate: wanted.rate,
    sent: row.sent,
    clients: networkOf(row.id),
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    error: row.error,
    report: report as Static<typeof View>['report'],
  };
}

const viewSelfTest = (row: SelfTestRow): Static<typeof SelfTestView> => ({
  id: String(row.id),
  site: row.site,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
  error: row.error,
  attacks: (row.seen ?? []) as Static<typeof SelfTestView>['attacks'],
  lost: (row.lost ?? []) as Static<typeof SelfTestView>['lost'],
});

const beforeOf = (cursor: string | undefined): number =>
  cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor, ['number'] as const)[0];

export function registerSimulationRoutes(app: App, parts: SimulationParts): void {
  const { sql } = parts.database;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  app.addHook('preClose', async () => {
    closing.abort();
    await Promise.all(running);
  });
  const find = async (id: string): Promise<SimulationRow> => {
    const row = await findSimulation(sql, Number(id));
    if (row === null) throw new ApiError('not_found', `There is no simulation ${id}; GET /api/ai/simulate lists them.`);
    return row;
  };
  app.post('/api/ai/simulate', { schema: startSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { type, site, seconds = secondsDefault } = request.body;
    const wave = waveOf(type);
    const { requests = wave.requests, rate = wave.rate } = request.body;
    const target = await findTarget(parts, site);
    const row = await begin(parts, { type, site, requests, seconds, rate }, actor, null);
    const one = run(parts, row, target, closing.signal).finally(() => running.delete(one));
    running.add(one);
    return reply.code(202).send(view(row));
  });
  app.get('/api/ai/simulate', { schema: listSchema }, async ({ query: { cursor, limit = 50 } }) =>
    toPage(await listSimulations(sql, beforeOf(cursor), limit + 1), limit, ({ id }) => [id], view),
  );
  app.get('/api/ai/simulate/:id', { schema: getSchema }, async ({ params: { id } }) => view(await find(id)));
  app.delete('/api/ai/simulate/:id', { schema: stopSchema }, async (request, reply) => {
    const row = await find(request.params.id);
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      if (!(await requestStop(tx, row.id)))
        throw new ApiError('conflict', `Simulation ${row.id} does not run any more: it is ${row.status}.`);
      const summary = `simulation ${row.id} was to stop`;
      await parts.audit.record(tx, { actor, action: 'simulation.stop', summary, details: { simulation: row.id } });
    });
    return reply.code(202).send(view(await find(request.params.id)));
  });
  app.get('/api/ai/self-tests', { schema: selfTestSchema }, async ({ query: { cursor, limit = 50 } }) =>
    toPage(await listSelfTests(sql, beforeOf(cursor), limit + 1), limit, ({ id }) => [id], viewSelfTest),
  );
}
