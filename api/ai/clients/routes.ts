// What nodes tell of their clients; each batch is taken once however often it is sent.
import { Type } from '@sinclair/typebox';
import { clientCountNames, principalKinds, type ClientBatch, type ClientCount } from '#proxy/contract';
import { OneOf, refusals, type App } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import { storeBatch } from './batches.js';

const batchBytesMax = 16 * 1024 * 1024;
const clientsMax = 10_000;

const Count = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Moment = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
const Counts = Type.Record(Type.String({ maxLength: 32 }), Count, { maxProperties: 200 });
const Bitmap = Type.String({ maxLength: 96, pattern: '^[A-Za-z0-9+/=]*$' });

const counts = Object.fromEntries(clientCountNames.map((name) => [name, Count])) as Record<ClientCount, typeof Count>;

/** Members are those of ClientWindow (proxy/features/client-window.ts). */
const Client = Type.Object({
  site: Type.String({ minLength: 1, maxLength: 200 }),
  address: Type.String({ maxLength: 64 }),
  principal: Type.Optional(
    Type.Object({ kind: OneOf(principalKinds), id: Type.String({ pattern: '^[0-9a-f]{16}$', maxLength: 16 }) }),
  ),
  first_ms: Moment,
  last_ms: Moment,
  ...counts,
  score_max: Count,
  groups: Counts,
  rules: Counts,
  agents: Counts,
  paths: Bitmap,
  sessions: Bitmap,
  user_agents: Bitmap,
  shapes: Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 32 }), { maxItems: 64 }),
  samples: Type.Array(Type.String({ maxLength: 128 }), { maxItems: 16 }),
});

const schema = {
  tags: ['data plane'],
  summary: 'A window of what clients of a data-plane node did; taken once however often it is sent',
  body: Type.Object({
    node: Type.String({ minLength: 1, maxLength: 200 }),
    batch: Type.Object({
      batch_id: Type.String({ minLength: 1, maxLength: 100 }),
      clients: Type.Array(Client, { maxItems: clientsMax }),
      dropped: Count,
    }),
  }),
  response: { 200: Type.Object({ stored: Type.Integer(), duplicate: Type.Boolean() }), ...refusals },
};

export function registerClientRoutes(app: App, { database, now }: Pick<Parts, 'database' | 'now'>): void {
  app.post('/api/dataplane/clients', { bodyLimit: batchBytesMax, logLevel: 'warn', schema }, async ({ body }) => {
    const batch = body.batch as ClientBatch;
    const isNew = await storeBatch(database, body.node, batch, new Date(now()));
    return { stored: isNew ? batch.clients.length : 0, duplicate: !isNew };
  });
}
