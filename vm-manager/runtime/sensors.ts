// Sensors that are registered: their key is shown once, what bears their name has to be signed with it, and one that is
// revoked is heard no more.
import { ApiError, Nullable, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Name, requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, violatedUnique, type Sql } from '../database.js';
import { endpoint, toId, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { requireRow } from '../kit/resource.js';
import { rawBodyOf } from '../kit/upload/raw-body.js';

const closed = { additionalProperties: false } as const;
const Id = Type.String({ maxLength: 20 });
/** A signature is of a moment: within it the same one may come again, as the event is taken once. */
export const signatureMs = 300_000;
const sensorsMax = 1000;

export interface SensorRow {
  readonly id: number;
  readonly version: number;
  readonly name: string;
  readonly application_id: number;
  readonly language: string;
  readonly sealed: string;
  readonly key_prefix: string;
  readonly created_by: string;
  readonly created_at: Date;
  readonly last_seen_at: Date | null;
  readonly revoked_at: Date | null;
  readonly revoked_by: string | null;
  readonly agent_version: string;
  readonly runtime: string;
  readonly dropped: number;
  readonly is_enabled: boolean;
  readonly former_sealed: string | null;
  readonly former_until: Date | null;
}

export const SensorView = Type.Object({
  id: Type.String(),
  name: Type.String({ description: '`sensor_id` of its events' }),
  application_id: Type.String(),
  language: Type.String(),
  agent_version: Type.String({ description: 'of the program, as it said itself' }),
  runtime: Type.String(),
  dropped: Type.Integer({ description: 'events that found no place in its queue since it started' }),
  enabled: Type.Boolean({ description: 'false: it is told to look at nothing' }),
  key_prefix: Type.String({ description: 'of the key; the rest was shown once' }),
  created_by: Type.String(),
  created_at: Time,
  last_seen_at: Nullable(Time),
  revoked_at: Nullable(Time),
  revoked_by: Nullable(Type.String()),
});

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;
export const sensorView = (row: SensorRow) => ({
  ...{ id: String(row.id), name: row.name, application_id: String(row.application_id), language: row.language },
  ...{ agent_version: row.agent_version, runtime: row.runtime, dropped: row.dropped, enabled: row.is_enabled },
  ...{ key_prefix: row.key_prefix, created_by: row.created_by, created_at: row.created_at.toISOString() },
  ...{ last_seen_at: iso(row.last_seen_at), revoked_at: iso(row.revoked_at), revoked_by: row.revoked_by },
});

export const sensors = { table: 'vm_sensors', noun: 'sensor', visible: visibleByApplication('vm_sensors') } as const;
export const placeOf = (name: string): string => `vm_sensors/${name}`;
const sorts = {
  name: { column: 'name', type: 'text' },
  last_seen_at: { column: 'last_seen_at', type: 'time', ifNull: '-infinity' },
} as const;

/** The header of a request that a sensor signed: HMAC-SHA256 over the moment in seconds, a dot and the body. */
export const signatureOf = (key: string, seconds: string, body: Buffer): string =>
  `sha256=${createHmac('sha256', key).update(`${seconds}.`).update(body).digest('hex')}`;

const header = (call: Call, name: string): string => {
  const value = call.request.headers[name];
  return typeof value === 'string' ? value : '';
};

/** The key that it has, and the one before while that is taken; sealed. */
const keysOf = (row: SensorRow, now: Date): string[] =>
  row.former_sealed !== null && row.former_until !== null && row.former_until > now
    ? [row.sealed, row.former_sealed]
    : [row.sealed];

function isSame(wanted: string, given: string): boolean {
  const [left, right] = [Buffer.from(wanted), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Holds a batch to the sensors that it names: those that are registered have to have signed it, and speak for their
 * application only. Throws ApiError 403. Returns the ids of the sensors that did.
 */
export async function checkSensors(
  call: Call,
  events: readonly { readonly sensor_id: string; readonly application_id: string }[],
): Promise<readonly number[]> {
  const { host, sql, now } = call;
  const names = [...new Set(events.map(({ sensor_id: id }) => id))];
  // names are told apart by project: those beyond reach say nothing here
  const rows = await sql<SensorRow[]>`
    select * from vm_sensors where name in ${sql(names)} and ${sensors.visible(sql, call.reach)} order by id`;
  const refuse = (name: string, why: string): ApiError =>
    new ApiError('role_denied', `The sensor ${name.slice(0, 200)} ${why}.`);
  const [seconds, given] = [header(call, 'x-sensor-timestamp'), header(call, 'x-sensor-signature')];
  if (given !== '' && rows.length === 0)
    throw refuse(names[0] ?? '', 'is not registered, and its signature is of none');
  // a name that another application registered says nothing of this one, which may use it unsigned
  const speaks = ({ name, application_id: of }: SensorRow): boolean =>
    events.some((one) => one.sensor_id === name && one.application_id === String(of));
  const spoken = new Set(rows.filter(speaks).map(({ name }) => name));
  const own = rows.filter((row) => speaks(row) || (given !== '' && !spoken.has(row.name)));
  for (const row of own) {
    if (row.revoked_at !== null) throw refuse(row.name, 'is revoked');
    if (given === '') throw refuse(row.name, 'is registered: its events are signed (X-Sensor-Signature)');
    const isNow = /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) * 1000 - now.getTime()) <= signatureMs;
    if (!isNow) throw refuse(row.name, 'signed another moment: X-Sensor-Timestamp is in seconds, within five minutes');
    const isSigned = keysOf(row, now).some((sealed) => {
      const key = host.secrets.open(sealed, placeOf(row.name));
      return isSame(signatureOf(key, seconds, rawBodyOf(call.request)), given);
    });
    if (!isSigned) throw refuse(row.name, 'did not sign this body');
    const other = events.find((one) => one.sensor_id === row.name && one.application_id !== String(row.application_id));
    if (other !== undefined) throw refuse(row.name, `speaks for application ${row.application_id} only`);
  }
  return own.map(({ id }) => id);
}

const list = endpoint({
  method: 'GET',
  path: '/runtime/sensors',
  permission: 'view_runtime',
  kind: 'C',
  summary: 'Sensors that are registered: of which application, and when they were heard last',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      application_id: Type.Optional(Id),
      revoked: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
  answer: List(SensorView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, revoked } = query;
    const where = allOf(sql, [
      sensors.visible(sql, reach),
      ...(application === undefined ? [] : [sql`application_id = ${toId(application, 'application')}`]),
      ...(revoked === undefined ? [] : [sql`(revoked_at is not null) = ${revoked}`]),
    ]);
    const page = await readPage<SensorRow>(sql, { table: 'vm_sensors', where, sorts, sort: 'name' }, query);
    return { ...page, items: page.items.map(sensorView) };
  },
});

/** Shown once. */
export const newKey = (): string => `gs_${randomBytes(32).toString('base64url')}`;

const nameTaken = (name: string): ApiError =>
  new ApiError(
    'conflict',
    `There is a sensor ${name} in the project already, revoked ones counted: take another name.`,
  );

const register = endpoint({
  method: 'POST',
  path: '/runtime/sensors',
  permission: 'manage_sensors',
  kind: 'B',
  summary: 'Register a sensor; its key is shown once, and from then on its events are signed with it',
  body: Type.Object(
    {
      application_id: Id,
      name: Name,
      language: Type.Optional(Type.String({ maxLength: 60, description: 'of the application: node, java …' })),
    },
    closed,
  ),
  status: 201,
  answer: Type.Composite([SensorView, Type.Object({ key: Type.String() })]),
  handle: async (call) => {
    const { name, language = '', application_id: application } = call.body;
    const key = newKey();
    const sealed = call.host.secrets.seal(key, placeOf(name));
    const insert = call.audited(
      'vm.create',
      (made: SensorRow) => `registered the sensor ${made.id}`,
      async (tx) => {
        const { id, project_id: project } = await requireApplication(tx, call.reach, application);
        // two that register one name at once: the second sees the first
        await tx`select pg_advisory_xact_lock(hashtext(${`vm_sensors ${name}`}))`;
        const taken = await tx`
          select 1 from vm_sensors s join vm_applications a on a.id = s.application_id
          where s.name = ${name} and a.project_id is not distinct from ${project}::bigint limit 1`;
        if (taken.length > 0) throw nameTaken(name);
        const [count] = await tx<{ n: number }[]>`select count(*)::int as n from vm_sensors`;
        if ((count?.n ?? 0) >= sensorsMax)
          throw new ApiError('conflict', `There are ${sensorsMax} sensors, which is the most.`);
        const [row] = await tx<SensorRow[]>`
          insert into vm_sensors ${tx({
            ...{ name, language, application_id: id, sealed, key_prefix: key.slice(0, 8) },
            ...{ created_by: call.caller.actor.name, created_at: call.now, updated_at: call.now },
          })} returning *`;
        if (row === undefined) throw new Error('the sensor was not stored');
        return row;
      },
      (made) => sensorView(made),
    );
    const row = await insert.catch((error: unknown) => {
      if (violatedUnique(error) !== null) throw nameTaken(name);
      throw error;
    });
    return { ...sensorView(row), key };
  },
});

const revoke = endpoint({
  method: 'DELETE',
  path: '/runtime/sensors/:id',
  permission: 'manage_sensors',
  kind: 'S',
  summary: 'Revoke a sensor: nothing that bears its name is taken any more; it stays in the list',
  status: 204,
  handle: async (call) => {
    await call.audited('vm.delete', `revoked the sensor ${call.params['id']}`, async (tx) => {
      const row = await requireRow(tx, sensors, call.reach, call.params['id'] ?? '', true);
      if (row['revoked_at'] !== null) return;
      await tx`
        update vm_sensors set revoked_at = ${call.now}, revoked_by = ${call.caller.actor.name},
          updated_at = ${call.now}, version = version + 1 where id = ${row.id}`;
    });
  },
});

export async function noteSeen(sql: Sql, ids: readonly number[], now: Date): Promise<void> {
  if (ids.length > 0) await sql`update vm_sensors set last_seen_at = ${now} where id in ${sql([...ids])}`;
}

export const sensorEndpoints: readonly Endpoint[] = [list, register, revoke];
