// Spans of stored requests: one of kind SERVER for the request, with a child for each stage. Attributes follow the
// semantic conventions for HTTP; none of them holds what is private: no address, query, header field or body, and of a
// path its shape alone (`/orders/{integer}`).
import { createHash } from 'node:crypto';
import { SpanKind, SpanStatusCode, TraceFlags, type HrTime, type SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  ATTR_HTTP_REQUEST_BODY_SIZE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_BODY_SIZE,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
} from '@opentelemetry/semantic-conventions/incubating';
import { shapeOf } from '#proxy/contract';
import type { RequestRecord } from '../../events/record.js';
import { resourceOf, scope } from './resource.js';

export type Trace = NonNullable<RequestRecord['trace']>;

/** A stored request that was chosen; members are its columns. */
export interface TracedRow {
  readonly id: number;
  readonly at: Date;
  readonly node: string;
  readonly request_id: string;
  readonly site: string;
  readonly method: string;
  readonly uri: string;
  readonly status: number;
  readonly verdict: string;
  readonly inbound_score: number;
  readonly rule_ids: readonly number[];
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly latency_us: number;
  readonly trace: Trace;
}

/** Methods that the conventions know; any other is `_OTHER`, so that clients do not name spans. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']);
const routeCharsMax = 256;

/** Spans of all rows, those of one request together. The same rows give the same spans, ids included. */
export function toSpans(rows: readonly TracedRow[]): ReadableSpan[] {
  const resources = new Map<string, Resource>();
  return rows.flatMap((row) => {
    let resource = resources.get(row.node);
    if (resource === undefined) resources.set(row.node, (resource = resourceOf(row.node)));
    return spansOf(row, resource);
  });
}

function spansOf(row: TracedRow, resource: Resource): ReadableSpan[] {
  const { trace } = row;
  const startedUs = row.at.getTime() * 1000;
  const root = contextOf(trace.trace_id, trace.span_id);
  const make = (own: Pick<ReadableSpan, 'name' | 'kind' | 'attributes' | 'status'>, at: Placed): ReadableSpan => ({
    ...own,
    spanContext: () => at.context,
    ...(at.parent === null ? {} : { parentSpanContext: at.parent }),
    startTime: timeOf(startedUs + at.fromUs),
    endTime: timeOf(startedUs + at.fromUs + at.us),
    duration: timeOf(at.us),
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  });
  const parent =
    trace.parent_id === undefined ? null : { ...contextOf(trace.trace_id, trace.parent_id), isRemote: true };
  const request = make(ofRequest(row), { context: root, parent, fromUs: 0, us: row.latency_us });
  const stages = trace.stages.map(({ name, at_us: fromUs, us }, index) =>
    make(
      {
        name,
        kind: name === 'forward' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        attributes: { 'gatehouse.stage': name },
        status: { code: SpanStatusCode.UNSET },
      },
      { context: contextOf(trace.trace_id, childId(trace.span_id, index)), parent: root, fromUs, us },
    ),
  );
  return [request, ...stages];
}

interface Placed {
  readonly context: SpanContext;
  readonly parent: SpanContext | null;
  /** Microseconds since the request came. */
  readonly fromUs: number;
  readonly us: number;
}

function ofRequest(row: TracedRow): Pick<ReadableSpan, 'name' | 'kind' | 'attributes' | 'status'> {
  const method = knownMethods.has(row.method) ? row.method : '_OTHER';
  const route = shapeOf(row.uri.split('?', 1)[0] ?? '/').slice(0, routeCharsMax);
  return {
    name: `${method === '_OTHER' ? 'HTTP' : method} ${row.site}`,
    kind: SpanKind.SERVER,
    attributes: {
      [ATTR_HTTP_REQUEST_METHOD]: method,
      [ATTR_HTTP_ROUTE]: route,
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: row.status,
      [ATTR_HTTP_REQUEST_BODY_SIZE]: row.request_bytes,
      [ATTR_HTTP_RESPONSE_BODY_SIZE]: row.response_bytes,
      'gatehouse.request_id': row.request_id,
      'gatehouse.site': row.site,
      'gatehouse.verdict': row.verdict,
      'gatehouse.inbound_score': row.inbound_score,
      'gatehouse.rule_ids': row.rule_ids.slice(0, 50).map(String),
    },
    // of a server span, an error is what the server failed at (semantic conventions for HTTP, "Status")
    status: { code: row.status >= 500 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
  };
}

const contextOf = (traceId: string, spanId: string): SpanContext => ({
  traceId,
  spanId,
  traceFlags: TraceFlags.SAMPLED,
});

const childId = (spanId: string, index: number): string =>
  createHash('sha256').update(`${spanId} ${index}`).digest('hex').slice(0, 16);

/** Seconds and nanoseconds of microseconds. */
function timeOf(us: number): HrTime {
  const seconds = Math.floor(us / 1e6);
  return [seconds, Math.round(us - seconds * 1e6) * 1000];
}
