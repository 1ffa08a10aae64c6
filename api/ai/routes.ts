// The detection engine over the API: what it sees, what it decided and why, and what other settings would decide.
import { Type } from '@sinclair/typebox';
import {
  ApiError,
  closed,
  decodeTimeCursor,
  Nullable,
  OneOf,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  toPage,
  type App,
  SomeOf,
} from '../http-kit/index.js';
import { tellNodes } from '../measures/lift.js';
import { measureActions } from '../measures/model.js';
import { liftMeasures } from '../measures/store.js';
import { networkOf } from './clients/client-table.js';
import { engineSource, holdsStill } from './enforce.js';
import { ladderOf, rungs, type Ladder } from './engine/fusion.js';
import { layers, type Weights } from './engine/vector.js';
import type { AiParts } from './job.js';
import { readLive, type Live } from './live.js';
import { findVerdict, heldBackReasons, enforcements, listVerdicts, marks, replay, type VerdictRow } from './store.js';
import { BriefView, Collateral, LayersView, RungName, SubjectView, toBrief, toVerdict, VerdictView } from './views.js';
import { lookedAtMax, whatIf } from './what-if.js';

const tags = ['detection engine'];
const Count = Type.Integer({ minimum: 0 });
const Rungs = Type.Object({ ALLOW: Count, RATE_LIMIT: Count, CHALLENGE: Count, BLOCK: Count });
const WeightsView = Type.Object({
  signature: Type.Number({ minimum: 0, maximum: 100 }),
  anomaly: Type.Number({ minimum: 0, maximum: 100 }),
  api_abuse: Type.Number({ minimum: 0, maximum: 100 }),
  bot: Type.Number({ minimum: 0, maximum: 100 }),
});
const Meter = Type.Object({
  site: Type.String(),
  layers: Type.Record(
    Type.String({ enum: [...layers] }),
    Type.Object({ percent: Type.Integer({ minimum: 0, maximum: 100 }), note: Type.String() }),
  ),
  drifting: Type.Array(Type.String(), { description: 'measures whose baseline has been held back for days' }),
});
const LiveClientView = Type.Object({
  subject: SubjectView,
  address: Type.String(),
  verdict: RungName,
  risk: Count,
  confidence: Count,
  layers: LayersView,
  signals: Type.Array(Type.Object({ code: Type.String(), name: Type.String(), points: Count })),
  reason: Type.String(),
  requests: Count,
  sites: Type.Array(Type.String()),
  collateral: Collateral,
  would: Nullable(OneOf(enforcements)),
  held_back: Nullable(OneOf(heldBackReasons)),
});
const socSchema = {
  tags,
  summary: 'Live scoring: clients with a risk, what each layer says, how much is learned, which evaluators fail',
  response: {
    200: Type.Object({
      enabled: Type.Boolean(),
      action: OneOf(['monitor', 'block'] as const),
      at: Nullable(Type.String({ description: 'of the last round; null: there was none yet' })),
      threshold: Type.Integer(),
      ladder: Type.Object({ BLOCK: Count, CHALLENGE: Count, RATE_LIMIT: Count }),
      weights: WeightsView,
      window_seconds: Type.Integer(),
      clients: Count,
      evicted: Count,
      rungs: Rungs,
      principals: Type.Integer({ minimum: 0, description: 'that are known by a credential' }),
      principal_rungs: Rungs,
      learning_frozen: Type.Boolean({ description: 'a node is in attack mode' }),
      top: Type.Array(LiveClientView),
      learning: Type.Array(Meter),
      evaluators: Type.Array(
        Type.Object({ name: Type.String(), failures: Count, error: Nullable(Type.String()), took_ms: Count }),
      ),
    }),
    ...refusals,
  },
};
const historySchema = {
  tags,
  summary: 'Verdicts, the newest first; a client has one in five minutes unless its verdict becomes a stronger one',
  querystring: Type.Object(
    {
      ...PageQuery,
      address: Type.Optional(
        Type.String({ maxLength: 64, description: 'a client, or a principal (`jwt:0123456789abcdef`)' }),
      ),
      verdict: Type.Optional(SomeOf(rungs)),
    },
    closed,
  ),
  response: { 200: Page(BriefView), ...refusals },
};
const Id = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,14}$', maxLength: 15 }) }, closed);
const verdictSchema = {
  tags,
  summary: 'A verdict: its vector, why, what would have to be absent for a lower rung, distance to the next one',
  params: Id,
  response: { 200: VerdictView, ...refusals },
};
const replaySchema = {
  tags,
  summary: 'Score a stored vector again with the code, weights and threshold of then: the same, bit for bit',
  params: Id,
  response: {
    200: Type.Object({
      equal: Type.Boolean(),
      version: Type.String(),
      stored: Type.Record(Type.String(), Type.Unknown()),
      replayed: Type.Record(Type.String(), Type.Unknown()),
    }),
    ...refusals,
  },
};
const markSchema = {
  tags,
  summary: 'Say that a verdict was right, or false: a false one is ended, and its client left alone for a day',
  params: Id,
  body: Type.Object({ mark: OneOf(marks) }, closed),
  response: { 200: BriefView, ...refusals },
};
const whatIfSchema = {
  tags,
  summary: 'What other weights or another threshold would have decided over stored verdicts',
  body: Type.Object(
    {
      weights: Type.Optional(Type.Partial(WeightsView, closed)),
      threshold: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      window: Type.Optional(
        Type.Integer({
          minimum: 60,
          maximum: 31_536_000,
          default: 86_400,
          description: 'verdicts of the last seconds',
        }),
      ),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      weights: WeightsView,
      threshold: Type.Integer(),
      looked_at: Count,
      truncated: Type.Boolean({ description: `there are more than ${lookedAtMax}` }),
      before: Rungs,
      after: Rungs,
      flips: Type.Array(
        Type.Object({
          from: RungName,
          to: RungName,
          count: Count,
          examples: Type.Array(
            Type.Object({ id: Count, address: Type.String(), risk_before: Count, risk_after: Count }),
          ),
        }),
      ),
    }),
    ...refusals,
  },
};

const nothingYet: Omit<Live, 'top' | 'learning' | 'evaluators'> = {
  clients: 0,
  rungs: { ALLOW: 0, RATE_LIMIT: 0, CHALLENGE: 0, BLOCK: 0 },
  principals: 0,
  principal_rungs: { ALLOW: 0, RATE_LIMIT: 0, CHALLENGE: 0, BLOCK: 0 },
  evicted: 0,
  frozen: false,
};
/** Of a round longer ago nothing is live. */
const liveMs = 120_000;

async function configured({ currentSettings }: AiParts) {
  const settings = await currentSettings();
  const weights: Weights = {
    signature: settings.ai_w_signature,
    anomaly: settings.ai_w_anomaly,
    api_abuse: settings.ai_w_api_abuse,
    bot: settings.ai_w_bot,
  };
  // settings of an earlier release may say 0, which is refused by now
  const threshold = Math.max(1, settings.ai_risk_threshold);
  const ladder: Ladder = ladderOf(threshold);
  return { settings, weights, threshold, ladder };
}

function cursorOf(cursor: string): readonly [Date, number] {
  const [ms, id] = decodeTimeCursor(cursor, 'number');
  return [new Date(ms), id];
}

const inFull = async (parts: AiParts, row: VerdictRow) =>
  toVerdict(row, await holdsStill(parts.database.sql, row, new Date(parts.now())));

export function registerAiRoutes(app: App, parts: AiParts): void {
  const { sql } = parts.database;
  const find = async (id: string): Promise<VerdictRow> => {
    const row = await findVerdict(sql, Number(id));
    if (row === null) throw new ApiError('not_found', `There is no verdict ${id}; GET /api/ai/history lists them.`);
    return row;
  };
  app.get('/api/ai/soc', { schema: socSchema }, async () => {
    const { settings, weights, threshold, ladder } = await configured(parts);
    const row = await readLive(sql);
    const live = row !== null && parts.now() - row.at.getTime() <= liveMs ? row.live : null;
    const { clients, rungs: counts, principals, principal_rungs: ofPrincipals, evicted, frozen } = live ?? nothingYet;
    return {
      enabled: settings.ai_enabled,
      action: settings.ai_action,
      at: row?.at.toISOString() ?? null,
      threshold,
      ladder: { ...ladder },
      weights: { ...weights },
      window_seconds: settings.ai_window_sec,
      clients,
      evicted,
      rungs: { ...counts },
      principals,
      principal_rungs: { ...ofPrincipals },
      learning_frozen: frozen,
      top: (live?.top ?? []).map((one) => ({ ...one, signals: [...one.signals], sites: [...one.sites] })),
      learning: (live?.learning ?? []).map((one) => ({ ...one, drifting: [...one.drifting] })),
      evaluators: [...(live?.evaluators ?? [])],
    };
  });
  app.get('/api/ai/history', { schema: historySchema }, async ({ query }) => {
    const { cursor, limit = 50, address, verdict } = query;
    const before = cursor === undefined ? null : cursorOf(cursor);
    const wanted = address === undefined ? undefined : (networkOf(address.split('/')[0] as string) ?? address);
    const rows = await listVerdicts(sql, { before, address: wanted, verdict }, limit + 1);
    return toPage(rows, limit, ({ at, id }) => [at.getTime(), id], toBrief);
  });
  app.get('/api/ai/verdicts/:id', { schema: verdictSchema }, async ({ params }) => {
    return inFull(parts, await find(params.id));
  });
  app.get('/api/ai/verdicts/:id/replay', { schema: replaySchema }, async ({ params }) => {
    const row = await find(params.id);
    const replayed = replay(row);
    if (replayed === null)
      throw new ApiError(
        'conflict',
        `This program cannot score as ${row.version} did; another release made the verdict.`,
      );
    return {
      equal: replayed === row.result,
      version: row.version,
      stored: JSON.parse(row.result) as Record<string, unknown>,
      replayed: JSON.parse(replayed) as Record<string, unknown>,
    };
  });
  app.post('/api/ai/whatif', { schema: whatIfSchema }, async ({ body }) => {
    const { weights: present, threshold: presentThreshold } = await configured(parts);
    const weights: Weights = { ...present, ...body.weights };
    const threshold = body.threshold ?? presentThreshold;
    const since = new Date(parts.now() - (body.window ?? 86_400) * 1000);
    const found = await whatIf(sql, weights, threshold, since);
    return {
      ...{ weights: { ...weights }, threshold },
      ...found,
      flips: found.flips.map((flip) => ({ ...flip, examples: [...flip.examples] })),
    };
  });
  registerMarks(app, parts, find);
}

function registerMarks(app: App, parts: AiParts, find: (id: string) => Promise<VerdictRow>): void {
  const { sql } = parts.database;
  app.post('/api/ai/verdicts/:id/mark', { schema: markSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { mark } = request.body;
    const row = await find(request.params.id);
    const now = new Date(parts.now());
    const lifted = await sql.begin(async (tx) => {
      await tx`
        update ai_verdicts set marked = ${mark}, marked_by = ${actor.name}, marked_at = ${now} where id = ${row.id}`;
      const wanted = { subjects: [row.address], actions: measureActions, sources: [engineSource] };
      const ended = mark === 'false_positive' ? await liftMeasures(tx, wanted, actor.name, now) : [];
      const what = mark === 'attack' ? 'an attack' : 'false';
      await parts.audit.record(tx, {
        actor,
        action: 'ai.mark',
        summary: `called the verdict ${row.verdict} on ${row.address} ${what}`,
        details: { id: row.id, mark },
      });
      return ended;
    });
    await tellNodes(parts, lifted, false);
    return toBrief(await find(request.params.id));
  });
}
