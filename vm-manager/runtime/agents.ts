// Sensors while they run: what they say of themselves, the switch that they obey, a new key, and the program itself.
import { ApiError } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { readFile } from 'node:fs/promises';
import { requireApplication } from '../assets/resources.js';
import { endpoint, type Endpoint } from '../kit/endpoint.js';
import { requireRow } from '../kit/resource.js';
import { checkSensors, newKey, placeOf, sensors, sensorView, SensorView, type SensorRow } from './sensors.js';

const closed = { additionalProperties: false } as const;
const bodyBytesMax = 16_384;
/** How long the key before is taken. */
const formerKeyMs = 24 * 3_600_000;
/** Written by the build (bin/sensor-package.mjs), from the room of the sensor. */
const packageFile = new URL('../../sensor-package/gatehouse-sensor.tgz', import.meta.url);
const Count = Type.Integer({ minimum: 0, maximum: 2_000_000_000 });

const heartbeat = endpoint({
  method: 'POST',
  path: '/runtime/heartbeat',
  permission: 'ingest_runtime',
  kind: 'I',
  summary: 'A sensor says that it lives; the answer says whether it is to look at anything',
  body: Type.Object(
    {
      application_id: Type.String({ maxLength: 20 }),
      sensor_id: Type.String({ minLength: 1, maxLength: 200 }),
      agent_version: Type.Optional(Type.String({ maxLength: 60 })),
      runtime: Type.Optional(Type.String({ maxLength: 60 })),
      sent: Type.Optional(Count),
      dropped: Type.Optional(Count),
      troubles: Type.Optional(Count),
    },
    closed,
  ),
  answer: Type.Object({
    enabled: Type.Boolean({ description: 'false: it looks at nothing until an answer says otherwise' }),
    registered: Type.Boolean(),
  }),
  raw: { bytesMax: bodyBytesMax },
  handle: async (call) => {
    const { agent_version: version = '', runtime = '', dropped = 0 } = call.body;
    await requireApplication(call.sql, call.reach, call.body.application_id);
    const ids = await checkSensors(call, [call.body]);
    // no audit entry: it comes each minute, and changes nothing but what the sensor says of itself
    const [row] =
      ids.length === 0
        ? []
        : await call.sql<SensorRow[]>`
            update vm_sensors set ${call.sql({ agent_version: version, runtime, dropped, last_seen_at: call.now })}
            where id in ${call.sql([...ids])} returning *`;
    return { enabled: row?.is_enabled ?? true, registered: row !== undefined };
  },
});

const setSwitch = endpoint({
  method: 'PATCH',
  path: '/runtime/sensors/:id',
  permission: 'manage_sensors',
  kind: 'S',
  summary: 'Switch a sensor off or on: with its next sign of life it looks at nothing, or looks again',
  body: Type.Object({ enabled: Type.Boolean() }, closed),
  answer: SensorView,
  handle: async (call) => {
    const { enabled } = call.body;
    const id = call.params['id'] ?? '';
    const row = await call.audited('vm.update', `switched the sensor ${id} ${enabled ? 'on' : 'off'}`, async (tx) => {
      const held = await requireRow(tx, sensors, call.reach, id, true);
      const [changed] = await tx<SensorRow[]>`
        update vm_sensors set is_enabled = ${enabled}, updated_at = ${call.now}, version = version + 1
        where id = ${held.id} returning *`;
      if (changed === undefined) throw new Error('the sensor went away under its lock');
      return changed;
    });
    return sensorView(row);
  },
});

const rotate = endpoint({
  method: 'POST',
  path: '/runtime/sensors/:id/key',
  permission: 'manage_sensors',
  kind: 'S',
  summary: 'A new key for a sensor, shown once; the one before is taken for a day more, with `at_once` no longer',
  body: Type.Object({ at_once: Type.Optional(Type.Boolean({ default: false })) }, closed),
  answer: Type.Composite([SensorView, Type.Object({ key: Type.String() })]),
  handle: async (call) => {
    const key = newKey();
    const id = call.params['id'] ?? '';
    const row = await call.audited('vm.update', `gave the sensor ${id} another key`, async (tx) => {
      const held = await requireRow(tx, sensors, call.reach, id, true);
      if (held['revoked_at'] !== null) throw new ApiError('conflict', 'It is revoked: register another one.');
      const isKept = call.body.at_once !== true;
      const [changed] = await tx<SensorRow[]>`
        update vm_sensors set ${tx({
          sealed: call.host.secrets.seal(key, placeOf(String(held['name']))),
          key_prefix: key.slice(0, 8),
          former_sealed: isKept ? String(held['sealed']) : null,
          former_until: isKept ? new Date(call.now.getTime() + formerKeyMs) : null,
          updated_at: call.now,
        })}, version = version + 1
        where id = ${held.id} returning *`;
      if (changed === undefined) throw new Error('the sensor went away under its lock');
      return changed;
    });
    return { ...sensorView(row), key };
  },
});

const download = endpoint({
  method: 'GET',
  path: '/runtime/sensor-package',
  permission: 'view_runtime',
  kind: 'X',
  summary: 'The sensor for Node.js of this release, as the archive that `npm install` takes',
  mediaType: 'application/octet-stream',
  handle: async ({ reply }) => {
    const bytes = await readFile(packageFile);
    reply
      .type('application/gzip')
      .header('content-disposition', 'attachment; filename="gatehouse-sensor.tgz"')
      .header('content-security-policy', "default-src 'none'; sandbox");
    return bytes;
  },
});

export const agentEndpoints: readonly Endpoint[] = [heartbeat, setSwitch, rotate, download];
