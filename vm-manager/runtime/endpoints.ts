// /runtime/events: what sensors in running applications, and pivots of live scans, saw.
import { createHash } from 'node:crypto';
import { Nullable, OneOf, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { allOf, json, type Fragment, type Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { reachable, type Reach } from '../kit/caller.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, toMoment, unfit, When, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { agentEndpoints } from './agents.js';
import { attacks, attackTypes, type AttackType } from './attacks.js';
import { alsoProven, confirm, disprove, prove, type ShownEvent } from './confirm.js';
import { maskText, maskValue } from './mask.js';
import { checkSensors, noteSeen, sensorEndpoints } from './sensors.js';

const closed = { additionalProperties: false } as const;
const eventsMax = 500;
const bodyBytesMax = 1_048_576;
const Short = Type.String({ maxLength: 200 });
const actions = ['observed', 'blocked'] as const;

const Event = Type.Object(
  {
    application_id: Type.String({ maxLength: 20 }),
    sensor_id: Type.String({ minLength: 1, maxLength: 200 }),
    event_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'of the sensor; the same event is taken once' }),
    ),
    request_id: Type.Optional(Short),
    attack_type: OneOf(attackTypes),
    confirmed: Type.Optional(Type.Boolean({ default: false, description: 'proven, not only suspected' })),
    action: Type.Optional(OneOf(actions)),
    method: Type.Optional(Type.String({ maxLength: 20 })),
    route: Type.Optional(Type.String({ maxLength: 1000 })),
    file: Type.Optional(Type.String({ maxLength: 1000 })),
    line: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
    sink: Type.Optional(Type.String({ maxLength: 500 })),
    stack: Type.Optional(Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 100 })),
    proof: Type.Optional(Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), { maxProperties: 100 })),
    at: When,
  },
  closed,
);
type Given = Static<typeof Event>;

const EventView = Type.Object({
  id: Type.String(),
  application_id: Type.String(),
  vuln_id: Nullable(Type.String()),
  sensor_id: Type.String(),
  request_id: Nullable(Type.String()),
  attack_type: OneOf(attackTypes),
  confirmed: Type.Boolean(),
  action: OneOf(actions),
  method: Type.String(),
  route: Type.String(),
  file: Type.String(),
  line: Nullable(Type.Integer()),
  sink: Type.String(),
  stack: Type.Array(Type.String()),
  proof: Type.Record(Type.String(), Type.Unknown()),
  at: Time,
  received_at: Time,
});

interface EventRow {
  readonly id: number;
  readonly application_id: number;
  readonly finding_id: number | null;
  readonly at: Date;
  readonly received_at: Date;
}

function view({ finding_id: finding, at, received_at: received, ...row }: EventRow): object {
  const { event_key: _key, sort_value: _sort, ...shown } = row as Record<string, unknown>;
  return {
    ...shown,
    id: String(row.id),
    application_id: String(row.application_id),
    vuln_id: finding === null ? null : String(finding),
    at: at.toISOString(),
    received_at: received.toISOString(),
  };
}

/** The same event, sent twice, has the same key: the sensor's own id where it gives one, else what it says. */
const keyOf = (event: Given): string =>
  createHash('sha256')
    .update(
      JSON.stringify(
        event.event_id === undefined
          ? [
              event.application_id,
              event.sensor_id,
              event.request_id,
              event.attack_type,
              event.method,
              event.route,
              event.file,
              event.line,
              event.confirmed,
              event.at,
            ]
          : [event.application_id, event.sensor_id, event.event_id],
      ),
    )
    .digest('hex');

async function insert(tx: Tx, given: Given, applicationId: number, now: Date): Promise<number | null> {
  const at = toMoment(given.at, '/events/at');
  const [row] = await tx<{ id: number }[]>`
    insert into vm_runtime_events ${tx({
      application_id: applicationId,
      event_key: keyOf(given),
      sensor_id: given.sensor_id,
      request_id: given.request_id ?? null,
      attack_type: given.attack_type,
      confirmed: given.confirmed ?? false,
      action: given.action ?? 'observed',
      method: given.method ?? '',
      route: maskText(given.route ?? ''),
      file: given.file ?? '',
      line: given.line ?? null,
      sink: maskText(given.sink ?? ''),
      stack: json(tx, (given.stack ?? []).map(maskText)),
      proof: json(tx, maskValue(given.proof ?? {})),
      at,
      received_at: now,
    } as never)} on conflict (event_key) do nothing returning id`;
  return row?.id ?? null;
}

interface StoredEvent extends EventRow {
  readonly attack_type: AttackType;
  readonly confirmed: boolean;
  readonly method: string;
  readonly route: string;
  readonly file: string;
  readonly line: number | null;
  readonly request_id: string | null;
  readonly proof: unknown;
}

const shown = (
  event: Pick<StoredEvent, 'id' | 'attack_type' | 'method' | 'route' | 'file' | 'line' | 'request_id' | 'proof' | 'at'>,
): ShownEvent => ({
  ...{ id: event.id, kind: 'runtime', name: event.attack_type, attack: attacks[event.attack_type] },
  places: [event.route, event.file],
  within: { method: event.method, route: event.route, file: event.file, line: event.line },
  location: [event.method, event.route || event.file].filter((part) => part !== '').join(' '),
  of: [event.attack_type, event.method, event.route, event.file],
  ...{ requestId: event.request_id, proof: event.proof, at: event.at },
});

const visible = (sql: Tx | Parameters<typeof reachable>[0], reach: Reach): Fragment =>
  sql`exists (select 1 from vm_applications a where a.id = vm_runtime_events.application_id
    and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)})`;

const sorts = {
  at: { column: 'at', type: 'time' },
  received_at: { column: 'received_at', type: 'time' },
} as const;

/** A finding of the application of the event. Throws 422 for another one, and for one that the caller does not see. */
async function requireLinked(tx: Tx, reach: Reach, id: string, event: StoredEvent): Promise<FindingRow> {
  const [row] = await tx<FindingRow[]>`
    select * from vm_findings where id = ${toId(id, 'finding')} and application_id = ${event.application_id}
      and ${visibleFindings(tx, reach)} for update`;
  if (row === undefined) throw unfit('/vuln_id', 'is no finding of the application of the event');
  return row;
}

const link = endpoint({
  method: 'POST',
  path: '/runtime/events/:id/link',
  permission: 'triage_findings',
  kind: 'B',
  summary: 'Say which finding an event shows; of a confirmed one the proof goes along. null: none',
  body: Type.Object(
    { vuln_id: Nullable(Type.String({ maxLength: 20 })) },
    { ...closed, examples: [{ vuln_id: null }] },
  ),
  answer: EventView,
  handle: async (call) => {
    const { vuln_id: wanted } = call.body;
    const id = call.params['id'] ?? '';
    const made = await call.audited(
      'vm.update',
      `linked the runtime event ${id} to ${wanted === null ? 'no finding' : `the finding ${wanted}`}`,
      async (tx) => {
        const [event] = await tx<StoredEvent[]>`
          select * from vm_runtime_events where id = ${toId(id, 'event')} and ${visible(tx, call.reach)} for update`;
        if (event === undefined) throw notFound('event', id);
        const next = wanted === null ? null : await requireLinked(tx, call.reach, wanted, event);
        if (next?.id === event.finding_id) return event;
        const proven = await alsoProven(tx, event.application_id, event.id);
        for (const one of new Set([...(event.finding_id === null ? [] : [event.finding_id]), ...proven]))
          await disprove(tx, one, event.id, call.now);
        if (next !== null && event.confirmed) await prove(tx, next, shown(event), call.caller.actor, call.now);
        const [changed] = await tx<StoredEvent[]>`
          update vm_runtime_events set finding_id = ${next?.id ?? null} where id = ${event.id} returning *`;
        return changed ?? event;
      },
    );
    return view(made);
  },
});

export const runtimeEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/runtime/events',
    permission: 'ingest_runtime',
    kind: 'I',
    summary: `Events of sensors, at most ${eventsMax} at once; a confirmed one proves its finding, or makes it`,
    body: Type.Object({ events: Type.Array(Event, { minItems: 1, maxItems: eventsMax }) }, closed),
    status: 202,
    answer: Type.Object({
      accepted: Type.Integer({ description: 'new events' }),
      deduped: Type.Integer({ description: 'events that were here already' }),
      linked: Type.Integer({ description: 'new events that prove a finding' }),
    }),
    raw: { bytesMax: bodyBytesMax },
    handle: async (call) => {
      const signed = await checkSensors(call, call.body.events);
      await noteSeen(call.sql, signed, call.now);
      return call.audited(
        'vm.import',
        (made: { accepted: number }) => `sent ${made.accepted} runtime events`,
        async (tx) => {
          const made = { accepted: 0, deduped: 0, linked: 0 };
          const { actor } = call.caller;
          for (const given of call.body.events) {
            const { id: applicationId, project_id: projectId } = await requireApplication(
              tx,
              call.reach,
              given.application_id,
            );
            const id = await insert(tx, given, applicationId, call.now);
            if (id === null) {
              made.deduped++;
              continue;
            }
            made.accepted++;
            if (given.confirmed !== true) continue;
            const finding = await confirm(
              tx,
              { applicationId, projectId },
              shown({
                id,
                attack_type: given.attack_type,
                method: given.method ?? '',
                route: maskText(given.route ?? ''),
                file: given.file ?? '',
                line: given.line ?? null,
                request_id: given.request_id ?? null,
                proof: maskValue(given.proof ?? {}),
                at: new Date(given.at),
              }),
              actor,
              call.now,
            );
            await tx`update vm_runtime_events set finding_id = ${finding} where id = ${id}`;
            made.linked++;
          }
          return made;
        },
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/runtime/events',
    permission: 'view_runtime',
    kind: 'A',
    summary: 'Events of sensors, the newest first, by when they happened',
    query: Type.Object(
      {
        ...ListQuery,
        sort: SortQuery(sorts),
        application_id: Type.Optional(Type.String({ maxLength: 20 })),
        vuln_id: Type.Optional(Type.String({ maxLength: 20 })),
        attack_type: Type.Optional(SomeOf(attackTypes)),
        confirmed: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    answer: List(EventView),
    handle: async ({ sql, reach, query }) => {
      const where: Fragment[] = [visible(sql, reach)];
      if (query.application_id !== undefined)
        where.push(sql`application_id = ${toId(query.application_id, 'application')}`);
      if (query.vuln_id !== undefined) where.push(sql`finding_id = ${toId(query.vuln_id, 'finding')}`);
      if (query.attack_type !== undefined) where.push(hasOneOf(sql, 'attack_type', query.attack_type));
      if (query.confirmed !== undefined) where.push(sql`confirmed = ${query.confirmed}`);
      const source = { table: 'vm_runtime_events', where: allOf(sql, where), sorts, sort: '-at' };
      const page = await readPage<EventRow>(sql, source, query);
      return { ...page, items: page.items.map(view) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/runtime/events/:id',
    permission: 'view_runtime',
    kind: 'A',
    summary: 'An event, with its stack and its masked proof',
    answer: EventView,
    handle: async ({ sql, reach, params }) => {
      const id = params['id'] ?? '';
      const [row] = await sql<EventRow[]>`
        select * from vm_runtime_events where id = ${toId(id, 'event')} and ${visible(sql, reach)}`;
      if (row === undefined) throw notFound('event', id);
      return view(row);
    },
  }),
  link,
  ...sensorEndpoints,
  ...agentEndpoints,
];
