import { Type, type Static } from '@sinclair/typebox';
import { maskLevelOf } from '#proxy/contract';
import { Page, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { createMasker } from '../masking/masker.js';
import { createIngest } from './ingest.js';
import { EventQuery, pageRecords, RecordQuery, RequestView } from './query.js';
import { RecordBatch } from './record.js';
import { EventView, viewEvent, type RecordedEvent } from './view.js';

export type RecordParts = Pick<Parts, 'database' | 'now' | 'currentSettings' | 'locations'>;

const batchBytesMax = 32 * 1024 * 1024;

const IngestAnswer = Type.Object({
  stored: Type.Integer({ description: 'records, now' }),
  duplicate: Type.Boolean({ description: 'all of the batch was stored before' }),
  sampled_out: Type.Integer({ description: 'records of the batch left out because too much came' }),
  refused: Type.Integer({ description: 'records of the batch that the database would not have; they are lost' }),
});

const ingestSchema = {
  tags: ['data plane'],
  summary: 'Records of a data-plane node; acknowledged after they are stored, stored once however often they are sent',
  body: RecordBatch,
  response: { 200: IngestAnswer, ...refusals },
};
const requestsSchema = {
  tags: ['events'],
  summary: 'Request log, newest first',
  querystring: RecordQuery,
  response: { 200: Page(RequestView), ...refusals },
};
const eventsSchema = {
  tags: ['events'],
  summary: 'Security events, newest first',
  querystring: EventQuery,
  response: { 200: Page(EventView), ...refusals },
};

export function registerRecordRoutes(app: App, { database, now, currentSettings, locations }: RecordParts): void {
  const { sql } = database;
  const masker = createMasker();
  app.addHook('onClose', () => masker.close());
  const ingest = createIngest({
    database,
    now,
    masker,
    locations,
    maskLevel: async () => maskLevelOf((await currentSettings()).privacy_mode),
  });
  app.post(
    '/api/dataplane/records',
    { bodyLimit: batchBytesMax, logLevel: 'warn', schema: ingestSchema }, // twice a second and node
    async (request) => ingest.accept(request.body),
  );
  app.get('/api/requests', { schema: requestsSchema }, (request) =>
    pageRecords<Static<typeof RequestView>>(sql, 'request_records', request.query),
  );
  app.get('/api/events', { schema: eventsSchema }, async (request) => {
    const page = await pageRecords<RecordedEvent>(sql, 'security_events', request.query);
    return { ...page, items: page.items.map(viewEvent) };
  });
}
