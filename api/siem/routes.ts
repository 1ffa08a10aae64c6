// Connectors as people see them: lag, failures, dead letters; and what people do about them.
import { randomUUID } from 'node:crypto';
import { Type, type Static } from '@sinclair/typebox';
import { checkSettings, settingRows } from '#settings';
import {
  ApiError,
  closed,
  decodeCursor,
  Moment,
  Nullable,
  OneOf,
  Page,
  PageQuery,
  parseRange,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
} from '../http-kit/index.js';
import { requireReachable } from '../outbound/reachable.js';
import { hideSecrets, sealSecrets } from '../settings/secrets.js';
import { readHead } from '../settings/store.js';
import { connectorsOf, type Connector } from './connector.js';
import { toEvent } from './event.js';
import type { SiemParts } from './job.js';
import { redact } from './redact.js';
import { createSinks } from './sinks/index.js';
import { laneStates, readStatus, type LaneStatus } from './status.js';
import { askReplay, placeEvents, type PlacedRow } from './store.js';

const tags = ['siem'];
const Id = Type.Object({ id: Type.String({ maxLength: 64, description: 'name of the connector' }) }, closed);

const ConnectorView = Type.Object({
  name: Type.String({ description: '`_siem_webhook_url` is the setting of that name' }),
  kind: Type.String(),
  format: Type.String(),
  state: OneOf(laneStates, 'failing: it is tried again at retry_at; misconfigured: problems have to be fixed'),
  problems: Type.Array(Type.String()),
  waiting: Type.Integer({ description: 'events' }),
  lag_seconds: Type.Number({ description: 'age of the oldest event that waits' }),
  delivered: Type.Integer({ description: 'events, since it was first named' }),
  dead_letters: Type.Integer(),
  replaying: Type.Integer({ description: 'events that are still to be sent again' }),
  expired: Type.Integer({ description: 'events that became older than the retention before it took them' }),
  failures: Type.Integer({ description: 'in a row' }),
  retry_at: Nullable(Time),
  last_error: Nullable(Type.String()),
  last_error_at: Nullable(Time),
  last_delivered_at: Nullable(Time),
});
const listSchema = {
  tags,
  summary: 'Connectors for security events: lag, failures, dead letters',
  response: { 200: Type.Object({ connectors: Type.Array(ConnectorView) }), ...refusals },
};
const Sent = Type.Object({ events: Type.Integer({ description: 'that will be sent' }) });
const testSchema = {
  tags,
  summary: 'Send one made-up event to a connector, now, and say what it answered',
  params: Id,
  body: Type.Optional(Type.Object({}, closed)),
  response: {
    200: Type.Object({ delivered: Type.Boolean(), event_id: Type.String(), reason: Nullable(Type.String()) }),
    ...refusals,
  },
};
const ConnectorBody = settingRows.siem_connectors.items;
const draftTestSchema = {
  tags,
  summary: 'Send one made-up event to a connector that is not saved, now, and say what it answered',
  body: ConnectorBody,
  response: testSchema.response,
};
const replaySchema = {
  tags,
  summary: 'Send the events of a time again, under the ids that they had',
  params: Id,
  body: Type.Object({ from: Moment('UTC'), to: Moment('UTC, exclusive') }, closed),
  response: { 202: Sent, ...refusals },
};
const lettersSchema = {
  tags,
  summary: 'What a connector refused, and why; the newest first',
  params: Id,
  querystring: Type.Object(PageQuery, closed),
  response: {
    200: Page(
      Type.Object({
        event_id: Type.String(),
        kind: Type.String(),
        at: Time,
        died_at: Time,
        reason: Type.String(),
        is_retried: Type.Boolean({ description: 'it will be sent again' }),
        event: Type.Unknown({ description: 'as it is sent, before the format of the connector' }),
      }),
    ),
    ...refusals,
  },
};
const retrySchema = {
  tags,
  summary: 'Send the dead letters of a connector again',
  params: Id,
  body: Type.Optional(Type.Object({}, closed)),
  response: { 202: Sent, ...refusals },
};
const forgetSchema = {
  tags,
  summary: 'Throw the dead letters of a connector away',
  params: Id,
  response: { 204: Type.Null(), ...refusals },
};

function view({ connector, lane, ...status }: LaneStatus, nowMs: number) {
  return {
    name: connector.name,
    kind: connector.kind,
    format: connector.format,
    state: status.state,
    problems: [...connector.problems],
    waiting: status.waiting,
    lag_seconds: status.oldestAt === null ? 0 : Math.max(0, nowMs - status.oldestAt.getTime()) / 1000,
    delivered: lane.delivered,
    dead_letters: status.deadLetters,
    replaying: status.replaying,
    expired: lane.expired,
    failures: lane.failures,
    retry_at: lane.retry_at?.toISOString() ?? null,
    last_error: lane.last_error,
    last_error_at: lane.last_error_at?.toISOString() ?? null,
    last_delivered_at: lane.last_delivered_at?.toISOString() ?? null,
  };
}

export function registerSiemRoutes(app: App, parts: SiemParts): void {
  const { sql } = parts.database;
  const all = async (): Promise<Connector[]> => connectorsOf(await parts.currentSettings(), parts.sealing);
  const find = async (name: string): Promise<Connector> => {
    const connectors = await all();
    const found = connectors.find((one) => one.name === name);
    if (found !== undefined) return found;
    const names = connectors.map((one) => one.name).join(', ') || 'none';
    throw new ApiError('not_found', `No connector ${name} is switched on. Those that are: ${names}.`);
  };
  app.get('/api/siem', { schema: listSchema }, async () => {
    const nowMs = parts.now();
    return { connectors: (await readStatus(sql, await all())).map((status) => view(status, nowMs)) };
  });
  app.post('/api/siem/connectors/:id/replays', { schema: replaySchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { name } = await find(request.params.id);
    const { from, to } = parseRange(request.body);
    if (from === undefined || to === undefined) throw new ApiError('validation_failed', 'from and to are needed.');
    await placeEvents(sql);
    const events = await sql.begin(async (tx) => {
      const count = await askReplay(tx, name, { from, to }, actor.name, new Date(parts.now()));
      if (count > 0)
        await parts.audit.record(tx, {
          actor,
          action: 'siem.replay',
          summary: `asked for ${count} events from ${from.toISOString()} to ${to.toISOString()} for ${name} again`,
        });
      return count;
    });
    return reply.code(202).send({ events });
  });
  registerTest(app, parts, find);
  registerLetters(app, parts, find);
}

type Find = (name: string) => Promise<Connector>;

function registerTest(app: App, parts: SiemParts, find: Find): void {
  const sinks = createSinks();
  const send = async (connector: Connector, actor: string) => {
    const id = randomUUID();
    if (connector.problems.length > 0) return { delivered: false, event_id: id, reason: connector.problems.join(' ') };
    const details = { is_test: true, asked_by: actor };
    const body = { name: 'Test event', severity: 0, reason: 'somebody tried the connector', details };
    const event = toEvent({ event_id: id, kind: 'alert', at: new Date(parts.now()), body });
    const told = redact(event, connector.redact);
    const outcome = await sinks[connector.kind].deliver(connector, [told], parts);
    const reason = outcome.kind === 'taken' ? (outcome.refused[0]?.reason ?? null) : outcome.reason;
    return { delivered: reason === null, event_id: id, reason };
  };
  app.post('/api/siem/connectors/:id/test', { schema: testSchema }, async (request) =>
    send(await find(request.params.id), requirePrincipal(request).actor.name),
  );
  app.post('/api/siem/test', { schema: draftTestSchema }, async (request) => {
    const connector = await draftOf(parts, request.body);
    await requireReachable(parts.outbound, [{ target: connector.target, path: '/target' }]);
    return send(connector, requirePrincipal(request).actor.name);
  });
}

/** A connector that is not saved, with the secrets that asterisks keep of the one with its name. */
async function draftOf({ database, sealing }: SiemParts, given: Static<typeof ConnectorBody>): Promise<Connector> {
  const head = await readHead(database.sql);
  const shown = hideSecrets(head.settings);
  const checked = checkSettings({ ...shown, siem_connectors: [{ ...given, enabled: true }], siem_webhook_url: '' });
  if (checked.kind === 'refused') {
    const errors = checked.problems.map((one) => ({ ...one, path: one.path.replace(/^\/siem_connectors\/0/, '') }));
    throw new ApiError('validation_failed', `${errors[0]?.path} ${errors[0]?.reason}.`, { errors });
  }
  const [connector] = connectorsOf(sealSecrets(checked.settings, head.settings, sealing), sealing);
  if (connector === undefined) throw new Error('a connector that is on is listed');
  return connector;
}

function registerLetters(app: App, parts: SiemParts, find: Find): void {
  const { sql } = parts.database;
  app.get('/api/siem/connectors/:id/dead-letters', { schema: lettersSchema }, async (request) => {
    const connector = await find(request.params.id);
    const { cursor, limit = 50 } = request.query;
    const before = cursor === undefined ? null : decodeCursor(cursor, ['number'] as const)[0];
    const rows = await sql<(PlacedRow & { id: number; reason: string; died_at: Date; retry: boolean })[]>`
      select * from siem_dead_letters where connector = ${connector.name}
      ${before === null ? sql`` : sql`and id < ${before}`} order by id desc limit ${limit + 1}`;
    return toPage(
      rows,
      limit,
      ({ id }) => [Number(id)],
      (row) => ({
        event_id: row.event_id,
        kind: row.kind,
        at: row.at.toISOString(),
        died_at: row.died_at.toISOString(),
        reason: row.reason,
        is_retried: row.retry,
        event: redact(toEvent(row), connector.redact),
      }),
    );
  });
  app.post('/api/siem/connectors/:id/dead-letters/retry', { schema: retrySchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { name } = await find(request.params.id);
    const events = await sql.begin(async (tx) => {
      const { count } = await tx`update siem_dead_letters set retry = true where connector = ${name} and not retry`;
      const summary = `asked for ${count} dead letters of ${name} to be sent again`;
      if (count > 0) await parts.audit.record(tx, { actor, action: 'siem.retry', summary });
      return count;
    });
    return reply.code(202).send({ events });
  });
  app.delete('/api/siem/connectors/:id/dead-letters', { schema: forgetSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { name } = await find(request.params.id);
    await sql.begin(async (tx) => {
      const { count } = await tx`delete from siem_dead_letters where connector = ${name}`;
      const summary = `threw ${count} dead letters of ${name} away`;
      if (count > 0) await parts.audit.record(tx, { actor, action: 'siem.forget', summary });
    });
    return reply.code(204).send(null);
  });
}
