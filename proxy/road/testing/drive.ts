// A request driven down the road without sockets: the listener's exchange, the upstream and the worker are stand-ins
// that remember what they were told.
import type { GivenValues, RequestHead } from '#engine';
import { openGates } from '../../admit/index.js';
import type { GateRow, GateWorker } from '../../admit/gate.js';
import { testGateWorker } from '../../admit/testing/gate-worker.js';
import { resolveProxyConfig } from '../../contract/proxy-config.js';
import type { SecurityEvent } from '../../contract/index.js';
import { createStore, doubleArtifact, loadInspection } from '../../e2e/inspection-double.js';
import type { Framing } from '../../http/framing.js';
import type { ClientTls } from '../../listeners/front/connection-facts.js';
import type { Exchange } from '../../listeners/listener.js';
import { Metrics } from '../../metrics/metrics.js';
import { toRequestLine, type RequestFacts, type RequestRing } from '../../records/request-records.js';
import { ActiveList } from '../../worker/active-list.js';
import { FlightTable, flightTableBytes } from '../../worker/flight-table.js';
import { createGeneration, type Generation } from '../../worker/generation.js';
import type { RoadContext } from '../context.js';
import { ClientShares } from '../limits/client-shares.js';
import { StreamPlaces } from '../limits/stream-places.js';
import { HttpsAnswers } from '../https/https-answers.js';
import { LoopGuard } from '../limits/loop-guard.js';
import { SimulatedClients, simulationKeyOf } from '../../simulation/mark.js';
import { ProxiedRequest } from '../proxied-request.js';

export interface Driven {
  /** What the client got; null = nothing, or what the upstream is to answer. */
  readonly answer: { readonly status: number; readonly headers: readonly string[]; readonly body: string } | null;
  readonly isClosed: boolean;
  readonly isForwarded: boolean;
  readonly events: readonly SecurityEvent[];
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly metrics: Metrics;
  readonly logged: readonly string[];
  /** TX variables that gates gave to rules. */
  readonly given: GivenValues;
  /** What the answer would tell of limits, flat. */
  readonly told: readonly string[];
}

export interface Drive {
  readonly gates: readonly GateRow[];
  /** Of the request's worker; one of its own where none is given. */
  readonly worker?: GateWorker;
  /** Besides the sites. */
  readonly settings?: object;
  readonly method?: string;
  readonly clientIp?: string;
  /** The client goes away while the upstream works, so that a request that was let through has its records, too. */
  readonly hangsUp?: boolean;
  readonly site?: object;
  readonly uri?: string;
  readonly headers?: readonly string[];
  readonly framing?: Framing;
  readonly tls?: ClientTls | null;
}

function generationOf({ gates, site, settings, worker = testGateWorker().worker }: Drive): Generation {
  const sites = [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1', protected: true, ...site }];
  const { config, problems } = resolveProxyConfig({ sites, ...settings }, { customer: '', payment: '' });
  if (config === null) throw new Error(JSON.stringify(problems));
  const admission = openGates(worker, gates)(config);
  const inspection = loadInspection(doubleArtifact({ needles: ['EVIL'], version: 1 }));
  return createGeneration({ id: 1, sha256: '', artifact: null, config }, inspection, admission);
}

function headOf({ method = 'GET', uri = '/', headers = [], clientIp = '192.0.2.1' }: Drive): RequestHead {
  return {
    method,
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop.example', ...headers],
    clientIp,
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
}

/** An upstream that takes a request and never answers. */
const poolThat = (isAsked: () => void) => ({
  dispatch: () => {
    isAsked();
    return {
      write: () => true,
      end: () => {},
      abort: () => {},
      pause: () => {},
      resume: () => {},
      outlast: () => {},
      unsentBytes: 0,
    };
  },
});

export function drive(request: Drive): Driven {
  const generation = generationOf(request);
  const metrics = new Metrics();
  const events: SecurityEvent[] = [];
  const lines: Readonly<Record<string, unknown>>[] = [];
  const logged: string[] = [];
  const seen = { answer: null as Driven['answer'], isClosed: false, isForwarded: false };
  const head = headOf(request);
  const exchange = {
    head,
    framing: request.framing ?? { kind: 'none' },
    refusal: null,
    isTls: request.tls != null,
    tls: request.tls ?? null,
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
  const context: RoadContext = {
    current: () => generation,
    now: () => 0,
    makeRequestId: () => 'ID',
    poolFor: () => poolThat(() => (seen.isForwarded = true)),
    flights: new FlightTable(new SharedArrayBuffer(flightTableBytes)),
    loops: new LoopGuard('test'),
    https: new HttpsAnswers(),
    simulations: new SimulatedClients(simulationKeyOf('test')),
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
    streams: new StreamPlaces(),
    observer: null,
    clients: null,
    foreignInspector: null,
    log: (_level, _fields, message) => void logged.push(message),
  };
  const proxied = new ProxiedRequest(context, exchange);
  proxied.take();
  if (request.hangsUp === true) exchange.onAbort?.();
  return { ...seen, events, lines, metrics, logged, given: proxied.given, told: proxied.toldLimits?.headers ?? [] };
}
