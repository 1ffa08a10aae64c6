// The routes that take records. Each answers what became of every record: accepted, or rejected with its index and a
// reason; one bad record never spoils the others.
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { closed, OneOf, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { takesRecords, wireBytesMax, type RecordBytes } from './body.js';
import { gatewayTypes } from './connectors/gateways.js';
import { createIntake, type Intake, type IntakeParts } from './intake.js';
import { rejectedShown, type RecordKind } from './reading.js';

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

export function registerIngestRoutes(app: App, parts: IntakeParts): void {
  const intake = createIntake(parts);
  app.addHook('onClose', () => intake.close());
  const options = { bodyLimit: wireBytesMax, preParsing: takesRecords };
  const gatewaySchema = {
    ...schemaOf('Access-log records of a gateway', '`auto` tells the gateway by the members of each record.'),
    params: Type.Object({ type: OneOf(gatewayTypes) }),
  };
  app.post('/api/gateway/:type', { ...options, schema: gatewaySchema }, async (request) => {
    const { type } = request.params as { readonly type: (typeof gatewayTypes)[number] };
    return take(request, intake, { kind: 'gateway', type });
  });
  const eventsSchema = schemaOf('Requests that others saw: events, a HAR archive, or OpenTelemetry traces', '');
  app.post('/api/ingest', { ...options, schema: eventsSchema }, (request) => take(request, intake, { kind: 'events' }));
  const meshSchema = schemaOf('Service-to-service requests of a sidecar or mesh', 'Each names caller and callee.');
  app.post('/api/ingest/mesh', { ...options, schema: meshSchema }, (request) =>
    take(request, intake, { kind: 'mesh' }),
  );
  const tracesSchema = schemaOf('OpenTelemetry traces, as OTLP/HTTP sends them in JSON', 'Spans of HTTP are taken.');
  app.post('/api/ingest/v1/traces', { ...options, schema: tracesSchema }, (request) =>
    take(request, intake, { kind: 'traces' }),
  );
}

const noBytes: RecordBytes = { bytes: new Uint8Array(), coding: '', isLines: false };

async function take(request: FastifyRequest, intake: Intake, kind: RecordKind) {
  const { actor } = requirePrincipal(request);
  const { site } = request.query as { readonly site?: string };
  const key = request.headers['idempotency-key'];
  const result = await intake.takeBody({
    body: (request.body as RecordBytes | undefined) ?? noBytes,
    kind,
    site: site ?? null,
    sender: actor.id ?? actor.name,
    idempotencyKey: typeof key === 'string' ? key : null,
  });
  return {
    accepted: result.accepted,
    duplicates: result.duplicates,
    duplicate: result.isDuplicate,
    rejected: result.rejected.map((one) => ({ ...one })),
    rejected_total: result.rejectedTotal,
    warnings: [...result.warnings],
  };
}
