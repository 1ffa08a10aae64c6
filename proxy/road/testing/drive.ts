// A request driven down the road without sockets: the listener's exchange, the upstream and the worker are stand-ins
// that remember what they were told.
import type { RequestHead } from '#engine';
import { openGates } from '../../admit/index.js';
import type { GateRow } from '../../admit/gate.js';
import { resolveProxyConfig } from '../../contract/proxy-config.js';
import type { SecurityEvent } from '../../contract/index.js';
import { createStore, doubleArtifact, loadInspection } from '../../e2e/inspection-double.js';
import type { Framing } from '../../http/framing.js';
import type { Exchange } from '../../listeners/listener.js';
import { Metrics } from '../../metrics/metrics.js';
import { toRequestLine, type RequestFacts, type RequestRing } from '../../records/request-records.js';
import { ActiveList } from '../../worker/active-list.js';
import { FlightTable, flightTableBytes } from '../../worker/flight-table.js';
import { createGeneration } from '../../worker/generation.js';
import type { RoadContext } from '../context.js';
import { ClientShares } from '../limits/client-shares.js';
import { LoopGuard } from '../limits/loop-guard.js';
import { handleRequest } from '../proxied-request.js';

export interface Driven {
  /** What the client got; null = nothing, or what the upstream is to answer. */
  readonly answer: { readonly status: number; readonly headers: readonly string[]; readonly body: string } | null;
  readonly isClosed: boolean;
  readonly isForwarded: boolean;
  readonly events: readonly SecurityEvent[];
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly metrics: Metrics;
  readonly logged: readonly string[];
}

export interface Drive {
  readonly gates: readonly GateRow[];
  readonly site?: object;
  readonly uri?: string;
  readonly headers?: readonly string[];
  readonly framing?: Framing;
}

export function drive({ gates, site, uri = '/', headers = [], framing = { kind: 'none' } }: Drive): Driven {
  const settings = { sites: [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1', protected: true, ...site }] };
  const { config, problems } = resolveProxyConfig(settings, { customer: '', payment: '' });
  if (config === null) throw new Error(JSON.stringify(problems));
  const clock = { wallMs: () => 0, monotonicMs: () => 0 };
  const admission = openGates({ clock, tables: { denyList: { contains: () => false } } }, gates)(config);
  const inspection = loadInspection(doubleArtifact({ needles: ['EVIL'], version: 1 }));
  const generation = createGeneration({ id: 1, sha256: '', artifact: null, config }, inspection, admission);
  const metrics = new Metrics();
  const events: SecurityEvent[] = [];
  const lines: Readonly<Record<string, unknown>>[] = [];
  const logged: string[] = [];
  const seen = { answer: null as Driven['answer'], isClosed: false, isForwarded: false };
  const head: RequestHead = {
    method: 'GET',
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop.example', ...headers],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
  const exchange = {
    head,
    framing,
    refusal: null,
    isTls: false,
    isUpgrade: false,
    tunnelsRawBytes: false,
    relaysTrailers: false,
    onAbort: null,
    onDrain: null,
    respond: (status: number, fields: readonly string[], body: string) => {
      seen.answer = { status, headers: fields, body };
    },
    close: () => (seen.isClosed = true),
    readBody: () => {},
  } as unknown as Exchange;
  const pool = {
    dispatch: () => {
      seen.isForwarded = true;
      return { write: () => true, end: () => {}, abort: () => {}, pause: () => {}, resume: () => {}, unsentBytes: 0 };
    },
  };
  const context: RoadContext = {
    current: () => generation,
    now: () => 0,
    makeRequestId: () => 'ID',
    poolFor: () => pool,
    flights: new FlightTable(new SharedArrayBuffer(flightTableBytes)),
    loops: new LoopGuard('test'),
    store: createStore(),
    metrics,
    record: (event) => void events.push(event),
    requests: {
      hasRoom: () => true,
      record: (facts: RequestFacts) => lines.push(JSON.parse(toRequestLine(facts)) as never),
    } as unknown as RequestRing,
    readingBody: new ActiveList(),
    bodies: new ClientShares(),
    relaying: new ActiveList(),
    relayed: new ClientShares(),
    waitedFor: new ClientShares(),
    foreignInspector: null,
    log: (_level, _fields, message) => void logged.push(message),
  };
  handleRequest(context, exchange);
  return { ...seen, events, lines, metrics, logged };
}
