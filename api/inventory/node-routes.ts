// What nodes observed, in windows; each is taken once however often it is sent.
import { Type } from '@sinclair/typebox';
import { credentialKinds, droppedSitesMax, viaMax, type ObservationBatch } from '#proxy/contract';
import { refusals, type App } from '../http-kit/index.js';
import type { Inventory } from './inventory.js';

const batchBytesMax = 32 * 1024 * 1024;
const rowsMax = 20_000;

const Count = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Moment = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
const Counts = Type.Record(Type.String({ maxLength: 300 }), Count);
const NestedCounts = Type.Record(Type.String({ maxLength: 600 }), Counts);
const Site = Type.String({ minLength: 1, maxLength: 200 });
const Method = Type.String({ minLength: 1, maxLength: 64 });
const Path = Type.String({ minLength: 1, maxLength: 4096 });
const Id = Type.String({ maxLength: 128 });
const Credential = Type.String({ enum: [...credentialKinds] });

/** Members are those of Observation (proxy/observation/observation.ts). */
const Observation = Type.Object({
  site: Site,
  method: Method,
  path: Path,
  count: Count,
  first_ms: Moment,
  last_ms: Moment,
  statuses: Counts,
  credentials: Type.Record(Credential, Type.Array(Count, { minItems: 3, maxItems: 3 })),
  clients: Counts,
  parameters: NestedCounts,
  request_types: Counts,
  response_types: Counts,
  pii: NestedCounts,
  request_bytes: Count,
  response_bytes: Count,
  latency_us: Count,
  latency_us_max: Count,
});
const Sighting = Type.Object({
  site: Site,
  method: Method,
  path: Path,
  principal: Id,
  credential: Credential,
  client_ip: Id,
  first_ms: Moment,
  last_ms: Moment,
  ok: Count,
  denied: Count,
  failed: Count,
  request_id: Id,
  accounts: Type.Array(Id, { maxItems: 200 }),
  admitted: Type.Optional(Type.Array(Id, { maxItems: 200 })),
  passwords: Type.Optional(Count),
  queried: Type.Optional(
    Type.Array(Type.Object({ noun: Type.String({ maxLength: 300 }), object: Id, request_id: Id }), { maxItems: 200 }),
  ),
  distinct: Type.Optional(Count),
  polluted: Type.Union([Type.String({ maxLength: 512 }), Type.Null()]),
  role: Type.Optional(Id),
});
const Relation = Type.Object({
  site: Site,
  principal: Id,
  object: Id,
  noun: Type.Optional(Type.String({ maxLength: 300 })),
  label: Type.Optional(Type.String({ maxLength: 300 })),
  how: Type.String({ enum: ['created', 'shown', 'unread'] }),
  credential: Type.Optional(Credential),
  client_ip: Type.Optional(Id),
  via: Type.Optional(
    Type.Array(
      Type.Object({ noun: Type.String({ maxLength: 300 }), label: Type.String({ maxLength: 300 }), object: Id }),
      { maxItems: viaMax },
    ),
  ),
  request_id: Id,
  at_ms: Moment,
});
const Batch = Type.Object({
  batch_id: Type.String({ minLength: 1, maxLength: 100 }),
  observations: Type.Array(Observation, { maxItems: rowsMax }),
  sightings: Type.Array(Sighting, { maxItems: rowsMax }),
  relations: Type.Array(Relation, { maxItems: rowsMax }),
  dropped: Count,
  dropped_by_site: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), Count, { maxProperties: droppedSitesMax }),
  ),
});

const schema = {
  tags: ['data plane'],
  summary: 'A window of what a data-plane node observed of APIs; taken once however often it is sent',
  body: Type.Object({ node: Type.String({ minLength: 1, maxLength: 200 }), batch: Batch }),
  response: { 200: Type.Object({ stored: Type.Integer(), duplicate: Type.Boolean() }), ...refusals },
};

export function registerNodeRoutes(app: App, inventory: Inventory): void {
  app.post('/api/dataplane/observations', { bodyLimit: batchBytesMax, logLevel: 'warn', schema }, async ({ body }) => {
    const batch = body.batch as ObservationBatch;
    const { stored, isDuplicate } = await inventory.take(batch, 'waf', `node ${body.node}`);
    return { stored, duplicate: isDuplicate };
  });
}
