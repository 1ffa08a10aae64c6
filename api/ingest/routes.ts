// The routes that take records. Each answers what became of every record: accepted, or rejected with its index and a
// reason; one bad record never spoils the others.
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { ObservationSource } from '#proxy/contract';
import { ApiError, closed, OneOf, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { parseRecords, takesRecords, wireBytesMax, type ParsedBody, type RecordText } from './body.js';
import { harEntries, otlpSpans, readHarEntry, readMeshRecord, readSpan } from './connectors/archives.js';
import { gatewayTypes, readGatewayRecord } from './connectors/gateways.js';
import { UnusableRecord, type ForeignExchange, type Rejected } from './exchange.js';
import { createIntake, type Intake, type IntakeParts } from './intake.js';

const rejectedShown = 1000;

const Answer = Type.Object({
  accepted: Type.Integer({ description: 'records that count, those that came before included' }),
  duplicates: Type.Integer({ description: 'of those, records whose id came before: they were not counted again' }),
  duplicate: Type.Boolean({ description: 'the Idempotency-Key came before: nothing was counted again' }),
  rejected: Type.Array(Type.Object({ index: Type.Integer(), reason: Type.String() }), {
    description: `at most ${rejectedShown} of them`,
  }),
  rejected_total: Type.Integer(),
  warnings: Type.Array(Type.String()),
});
const querystring = Type.Object(
  {
    site: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'of all records; absent: by their host' }),
    ),
  },
  closed,
);
const headers = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'the same for a request that is sent again' }),
  ),
});
const bodyNote =
  'JSON (a record, a list, or `{"events": […]}`) or NDJSON, also with `Content-Encoding: gzip`, `br` or `deflate`. ' +
  'At most 32 MiB as sent, 48 MiB unpacked, 50,000 records.';

const schemaOf = (summary: string, description: string) => ({
  tags: ['ingestion'],
  summary,
  description: `${description} ${bodyNote}`,
  querystring,
  headers,
  response: { 200: Answer, ...refusals },
});

type ReadRecord = (record: unknown, nowMs: number) => ForeignExchange | null;

export function registerIngestRoutes(app: App, parts: IntakeParts): void {
  const intake = createIntake(parts);
  const options = { bodyLimit: wireBytesMax, preParsing: takesRecords };
  const gatewaySchema = {
    ...schemaOf('Access-log records of a gateway', '`auto` tells the gateway by the members of each record.'),
    params: Type.Object({ type: OneOf(gatewayTypes) }),
  };
  app.post('/api/gateway/:type', { ...options, schema: gatewaySchema }, async (request) => {
    const { type } = request.params as { readonly type: (typeof gatewayTypes)[number] };
    return take(request, intake, parts, 'gateway', parsed(request), (record, at) =>
      readGatewayRecord(type, record, at),
    );
  });
  const eventsSchema = schemaOf('Requests that others saw: events, a HAR archive, or OpenTelemetry traces', '');
  app.post('/api/ingest', { ...options, schema: eventsSchema }, async (request) => {
    const body = parsed(request);
    const entries = harEntries(body.whole);
    if (entries !== null) return take(request, intake, parts, 'har', withRecords(body, entries), readHarEntry);
    if (otlpSpans(body.whole) !== null) return takeTraces(request, intake, parts, body);
    return take(request, intake, parts, 'events', body, (record, at) => readGatewayRecord('auto', record, at));
  });
  const meshSchema = schemaOf('Service-to-service requests of a sidecar or mesh', 'Each names caller and callee.');
  app.post('/api/ingest/mesh', { ...options, schema: meshSchema }, (request) =>
    take(request, intake, parts, 'mesh', parsed(request), readMeshRecord),
  );
  const tracesSchema = schemaOf('OpenTelemetry traces, as OTLP/HTTP sends them in JSON', 'Spans of HTTP are taken.');
  app.post('/api/ingest/v1/traces', { ...options, schema: tracesSchema }, async (request) =>
    takeTraces(request, intake, parts, parsed(request)),
  );
}

const parsed = (request: FastifyRequest): ParsedBody => {
  const body = request.body as RecordText | undefined;
  return parseRecords(body ?? { text: '', isLines: false });
};

const withRecords = (body: ParsedBody, list: readonly unknown[]): ParsedBody => ({
  ...body,
  records: list.map((record, index) => [index, record] as const),
});

function takeTraces(request: FastifyRequest, intake: Intake, parts: IntakeParts, body: ParsedBody) {
  const spans = otlpSpans(body.whole);
  if (spans === null)
    throw new ApiError('validation_failed', 'There is no list resourceSpans: this is no OTLP export of traces.', {
      errors: [{ path: '/resourceSpans', reason: 'is missing', mend: 'send OTLP/HTTP with JSON encoding' }],
    });
  const read: ReadRecord = (span, nowMs) => readSpan(span as (typeof spans)[number], nowMs);
  return take(request, intake, parts, 'otlp', withRecords(body, spans), read);
}

async function take(
  request: FastifyRequest,
  intake: Intake,
  { now }: IntakeParts,
  source: ObservationSource,
  { records, rejected: unread }: ParsedBody,
  read: ReadRecord,
) {
  const exchanges: ForeignExchange[] = [];
  const rejected: Rejected[] = [...unread];
  let passedOver = 0;
  for (const [index, record] of records) {
    try {
      const exchange = read(record, now());
      if (exchange === null) passedOver += 1;
      else exchanges.push(exchange);
    } catch (error) {
      if (!(error instanceof UnusableRecord)) throw error;
      rejected.push({ index, reason: error.message });
    }
  }
  const { actor } = requirePrincipal(request);
  const { site } = request.query as { readonly site?: string };
  const key = request.headers['idempotency-key'];
  const result = await intake.take({
    exchanges,
    source,
    site: site ?? null,
    sender: actor.id ?? actor.name,
    idempotencyKey: typeof key === 'string' ? key : null,
  });
  rejected.sort((one, other) => one.index - other.index);
  return {
    accepted: exchanges.length,
    duplicates: result.duplicates,
    duplicate: result.isDuplicate,
    rejected: rejected.slice(0, rejectedShown).map((one) => ({ ...one })),
    rejected_total: rejected.length,
    warnings: warningsOf(exchanges, passedOver),
  };
}

/** What is missing in the records, so that discovery knows less than it could. */
function warningsOf(exchanges: readonly ForeignExchange[], passedOver: number): string[] {
  const lacks = (has: (exchange: ForeignExchange) => boolean): number =>
    exchanges.reduce((sum, exchange) => sum + (has(exchange) ? 0 : 1), 0);
  const say = (count: number, what: string): string[] => (count === 0 ? [] : [`${count} ${what}`]);
  return [
    ...say(passedOver, 'spans are about something else than a request of HTTP'),
    ...say(
      lacks(({ clientIp }) => clientIp !== ''),
      'records name no client address: whether they came from outside is not known',
    ),
    ...say(
      lacks(({ knowsCredentials }) => knowsCredentials),
      'records do not say whether there was a credential: whether endpoints ask for one is not learned from them',
    ),
  ];
}
