// What data-plane nodes send: request records and security events, in batches. Field names are the columns.
import { Type, type Static } from '@sinclair/typebox';

const Text = (lengthMax: number) => Type.String({ maxLength: lengthMax });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Of a node's own making, so it is no place for attackers' bytes. */
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000]*$' });

const hexadecimal = (digits: number) => Type.String({ pattern: `^[0-9a-f]{${digits}}$` });

/** Identifiers as in a `traceparent` field (W3C Trace Context), and stages by microseconds since the request came. */
export const TraceRecord = Type.Object(
  {
    trace_id: hexadecimal(32),
    span_id: hexadecimal(16),
    parent_id: Type.Optional(hexadecimal(16)),
    stages: Type.Array(Type.Object({ name: Text(32), at_us: Count, us: Count }, { additionalProperties: false }), {
      maxItems: 32,
    }),
  },
  { additionalProperties: false },
);

export const RequestRecord = Type.Object(
  {
    at_ms: Count,
    request_id: Text(128),
    site: Text(200),
    generation: Count,
    client_ip: Text(64),
    method: Text(64),
    uri: Text(8192),
    status: Type.Integer({ minimum: 0, maximum: 999 }),
    verdict: Text(32),
    inbound_score: Count,
    outbound_score: Count,
    rule_ids: Type.Array(Count, { maxItems: 200 }),
    user_agent: Text(1024),
    request_bytes: Count,
    response_bytes: Count,
    latency_us: Count,
    inspection_us: Count,
    /** Of requests that came in over the TLS edge. */
    ja3: Type.Optional(Text(32)),
    ja4: Type.Optional(Text(64)),
    /** Of requests that were chosen to become a trace. */
    trace: Type.Optional(TraceRecord),
  },
  { additionalProperties: false },
);
export type RequestRecord = Static<typeof RequestRecord>;

export const EventRecord = Type.Object(
  {
    at_ms: Count,
    request_id: Text(128),
    site: Text(200),
    client_ip: Text(64),
    kind: Text(64),
    verdict: Text(32),
    method: Text(64),
    uri: Text(8192),
    status: Type.Integer({ minimum: 0, maximum: 999 }),
    rule_id: Type.Union([Count, Type.Null()]),
    inbound_score: Count,
    details: Type.Record(Type.String(), Type.Unknown()),
  },
  { additionalProperties: false },
);
export type EventRecord = Static<typeof EventRecord>;

export const RecordBatch = Type.Object(
  {
    node: Name,
    /** Chosen by the node, the same on every retry. */
    batch_id: Name,
    requests: Type.Array(RequestRecord, { maxItems: 20_000 }),
    events: Type.Array(EventRecord, { maxItems: 20_000 }),
    /** Records the node had to drop since its last batch: counted here, so that nothing is missing silently. */
    dropped: Type.Optional(Count),
  },
  { additionalProperties: false },
);
export type RecordBatch = Static<typeof RecordBatch>;
