// The body of a request → exchanges, with what became of each record: what every way in has in common. Pure, so that
// it can run in a process of its own (digest-process.ts).
import type { ObservationSource } from '#proxy/contract';
import { ApiError } from '../http-kit/problem.js';
import { parseRecords, type ParsedBody, type RecordText } from './body.js';
import { harEntries, otlpSpans, readHarEntry, readMeshRecord, readSpan, type Span } from './connectors/archives.js';
import { readGatewayRecord, type GatewayType } from './connectors/gateways.js';
import { UnusableRecord, type ForeignExchange, type Rejected } from './exchange.js';

/** What the sender says that it sends. */
export type RecordKind =
  | { readonly kind: 'gateway'; readonly type: GatewayType }
  | { readonly kind: 'events' | 'mesh' | 'traces' };

export interface ReadRecords {
  readonly source: ObservationSource;
  readonly exchanges: readonly ForeignExchange[];
  /** By index; the first of them. */
  readonly rejected: readonly Rejected[];
  readonly rejectedTotal: number;
  /** What is missing in the records, so that discovery knows less than it could. */
  readonly warnings: readonly string[];
}

export const rejectedShown = 1000;

type ReadRecord = (record: unknown, nowMs: number) => ForeignExchange | null;

/** Reads a body as its route does. Throws ApiError for what is no body of records. */
export function readRecords(text: RecordText, kind: RecordKind, nowMs: number): ReadRecords {
  const body = parseRecords(text);
  switch (kind.kind) {
    case 'gateway':
      return readAll('gateway', body, (record, at) => readGatewayRecord(kind.type, record, at), nowMs);
    case 'mesh':
      return readAll('mesh', body, readMeshRecord, nowMs);
    case 'traces':
      return readTraces(body, nowMs);
    case 'events': {
      const entries = harEntries(body.whole);
      if (entries !== null) return readAll('har', withRecords(body, entries), readHarEntry, nowMs);
      if (otlpSpans(body.whole) !== null) return readTraces(body, nowMs);
      return readAll('events', body, (record, at) => readGatewayRecord('auto', record, at), nowMs);
    }
  }
}

const withRecords = (body: ParsedBody, list: readonly unknown[]): ParsedBody => ({
  ...body,
  records: list.map((record, index) => [index, record] as const),
});

function readTraces(body: ParsedBody, nowMs: number): ReadRecords {
  const spans = otlpSpans(body.whole);
  if (spans === null)
    throw new ApiError('validation_failed', 'There is no list resourceSpans: this is no OTLP export of traces.', {
      errors: [{ path: '/resourceSpans', reason: 'is missing', fix: 'send OTLP/HTTP with JSON encoding' }],
    });
  return readAll('otlp', withRecords(body, spans), (span, at) => readSpan(span as Span, at), nowMs);
}

function readAll(
  source: ObservationSource,
  { records, rejected: unread }: ParsedBody,
  read: ReadRecord,
  nowMs: number,
): ReadRecords {
  const exchanges: ForeignExchange[] = [];
  const rejected: Rejected[] = [...unread];
  let passedOver = 0;
  for (const [index, record] of records) {
    try {
      const exchange = read(record, nowMs);
      if (exchange === null) passedOver += 1;
      else exchanges.push(exchange);
    } catch (error) {
      if (!(error instanceof UnusableRecord)) throw error;
      rejected.push({ index, reason: error.message });
    }
  }
  rejected.sort((one, other) => one.index - other.index);
  return {
    ...{ source, exchanges, rejected: rejected.slice(0, rejectedShown), rejectedTotal: rejected.length },
    warnings: warningsOf(exchanges, passedOver),
  };
}

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
