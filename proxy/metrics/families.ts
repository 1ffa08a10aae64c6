// Every metric of the data plane, one row each: how it is called, what it says, which labels it has and what they may
// be. A call names a row, never a metric. Labels are sites, stages, outcomes and codes only: never addresses, paths or
// user agents, so that no client can make the table grow.
import { errorCodes } from '../contract/errors.js';

/** What became of a request, in one word. */
export const actions = ['served', 'blocked', 'flagged', 'refused', 'aborted', 'failed'] as const;
export type Action = (typeof actions)[number];

/** Why a request was refused, by whom but rules. */
export const refusalReasons = [
  'unreadable', // the listener's parser: bytes that are no request
  'head', // syntax, framing or size of the head
  'no_site',
  'misdirected', // a host that another certificate is for than that of the connection
  'loop', // it was at this site before (road/limits/loop-guard.ts)
  'body_too_large',
  'body_too_slow',
  'body_coding', // compressed, and not to be decoded within the limits
  'client_share', // what one client may have of the memory for bodies
  'memory', // all buffered bodies together
  'streams', // all WebSockets and event streams together, or those of one client
  'gate', // the answer of a gate (admit/): denied, throttled, challenged
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Why a connection was closed before it carried a request. */
export const connectionRefusals = [
  'descriptors', // the process has no more than it keeps for upstreams and logs (listeners/descriptors.ts)
  'proxy_header', // a trusted proxy has to send one, and it was not there, wrong or late
  'http2_excess', // many connections of its address were ended for an excess: their rate is limited
  'not_tls', // on the port for TLS
  'hello', // a ClientHello that is too long, or none by the letters of its standard
  'handshake', // the client and this program did not agree, or it ended half-way
  'slow', // the handshake took too long
] as const;
export type ConnectionRefusal = (typeof connectionRefusals)[number];

/** Why a connection of HTTP/2 was ended that did nothing forbidden, but too much of it. */
export const http2Excesses = [
  'resets', // requests that their client took back
  'settings',
  'pings',
  'streams', // more at a time than it was told that it may have
  'idle_bytes', // bytes that belong to no request
] as const;
export type Http2Excess = (typeof http2Excesses)[number];

/** Label → the values it may have; `any` = made from configuration or from a number. */
type Labels = Readonly<Record<string, readonly string[] | 'any'>>;

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Labels;
  /**
   * How releases before the prefix `gatehouse_` called it; still exposed, with the same values, until dashboards have
   * followed. Where it had fewer labels, values are added up over the others.
   */
  readonly alias?: { readonly name: string; readonly labels?: readonly string[] };
}

const before = (name: string, labels?: readonly string[]): Pick<Family, 'alias'> => ({
  alias: labels === undefined ? { name } : { name, labels },
});

const counter = <const L extends Labels>(name: string, help: string, labels: L, alias: Pick<Family, 'alias'> = {}) =>
  ({ name: `gatehouse_${name}`, type: 'counter', help, labels, ...alias }) as const;
const gauge = (name: string, help: string) =>
  ({ name: `gatehouse_${name}`, type: 'gauge', help, labels: {}, ...before(`waap_${name}`) }) as const;
const histogram = <const L extends Labels>(name: string, help: string, labels: L) =>
  ({ name: `gatehouse_${name}`, type: 'histogram', help, labels, ...before(`waap_${name}`) }) as const;

/** Added up over all workers, those that are gone included. */
export const counters = {
  requests: counter(
    'requests_total',
    'Requests by site and what became of them.',
    { site: 'any', action: actions },
    before('waap_requests_total'),
  ),
  refused: counter(
    'refused_total',
    'Requests refused by a parser, a limit or a gate, by the status of the answer and the reason.',
    { status: 'any', reason: refusalReasons },
    before('waap_refused_total', ['status']),
  ),
  connectionsRefused: counter(
    'connections_refused_total',
    'Connections closed before they carried a request, by the port and the reason.',
    { port: ['plain', 'tls'], reason: connectionRefusals },
  ),
  tlsHandshakes: counter('tls_handshakes_total', 'TLS handshakes that were completed, by version and protocol.', {
    version: ['TLSv1.2', 'TLSv1.3'],
    alpn: ['h2', 'http/1.1', 'none'],
  }),
  http2Ended: counter('http2_connections_ended_total', 'Connections of HTTP/2 ended for an excess, by which.', {
    excess: http2Excesses,
  }),
  secondOpinions: counter(
    'second_opinions_total',
    'What the second opinion says of requests that are blocked, or would be by it: enforced, or only noted (monitor).',
    { site: 'any', decision: ['agree', 'overrule', 'raise'], mode: ['monitor', 'enforce'] },
  ),
  gateDecisions: counter(
    'gate_decisions_total',
    'What gates decided: enforced, or only recorded (DetectionOnly, or a decision that only flags).',
    { gate: 'any', decision: ['deny', 'throttle', 'challenge', 'flag'], outcome: ['enforced', 'recorded'] },
  ),
  rateLimited: counter(
    'rate_limited_total',
    'Requests beyond a limit, by the limit: refused with 429 (enforced), or only recorded (DetectionOnly, dry run).',
    { site: 'any', zone: 'any', outcome: ['enforced', 'recorded'] },
  ),
  gateErrors: counter(
    'gate_errors_total',
    'Gates that failed, by whether the request went on without them (open) or was answered 503 (closed).',
    { gate: 'any', outcome: ['open', 'closed'] },
  ),
  connectionsCapped: counter(
    'connections_capped_total',
    'Connections beyond what one client may have: cut (enforced), or only counted (dry run).',
    { outcome: ['enforced', 'recorded'] },
  ),
  websocketMessages: counter(
    'websocket_messages_total',
    'Text messages of clients on WebSockets that rules have seen (ws_inspect), by what became of them.',
    { outcome: ['passed', 'flagged', 'blocked'] },
  ),
  threatsMatched: counter(
    'threats_matched_total',
    'Requests of clients on the deny list.',
    {},
    before('waap_threats_matched_total'),
  ),
  observations: counter(
    'api_observations_total',
    'Answered requests that discovery took into account (counted), or had no room for (dropped).',
    { outcome: ['counted', 'dropped'] },
  ),
  clientFeatures: counter(
    'client_features_total',
    'Requests that the sums of clients for the detection engine hold (counted), or had no room for (dropped).',
    { outcome: ['counted', 'dropped'] },
  ),
  principalFeatures: counter(
    'principal_features_total',
    'Requests that sums of principals hold (counted), or that only their address has for want of room (dropped).',
    { outcome: ['counted', 'dropped'] },
  ),
  engineErrors: counter(
    'engine_errors_total',
    'Inspections that failed, by whether the request went on without them (open), was answered 503 (closed), ' +
      'or was through already (logging).',
    { outcome: ['open', 'closed', 'logging'] },
    before('waap_engine_errors_total'),
  ),
  inspectionsOffloaded: counter(
    'inspections_offloaded_total',
    'Request bodies inspected on a thread of the pool.',
    {},
    before('waap_inspections_offloaded_total'),
  ),
  inspectionTruncated: counter(
    'inspection_truncated_total',
    'Inspections that saw a part only, because a limit was reached.',
    {},
    before('waap_inspection_truncated_total'),
  ),
  responseUninspected: counter(
    'response_uninspected_total',
    'Response bodies that rules asked for and could not be shown.',
    { reason: ['coding'] },
    before('waap_response_uninspected_total'),
  ),
  slowClients: counter(
    'slow_clients_total',
    'Responses cut and uploads refused because the client was slower than the minimum, held more than its share, or ' +
      'gave way to others.',
    { side: ['response', 'request'], reason: ['minimum', 'share', 'pressure'] },
  ),
  upstreamChecks: counter('upstream_checks_total', 'Health checks of upstreams, by how they ended.', {
    site: 'any',
    outcome: ['good', 'bad'],
  }),
  upstreamEjections: counter(
    'upstream_ejections_total',
    'Times that an upstream was left out for a while, because it failed so many requests in a row.',
    { site: 'any' },
  ),
  upstreamFailovers: counter(
    'upstream_failovers_total',
    'Requests that another upstream of the site got, because the first did not take them.',
    { site: 'any' },
  ),
  upstreamErrors: counter(
    'upstream_errors_total',
    'Requests that failed at the upstream, by error code.',
    { code: errorCodes },
    before('waap_upstream_errors_total'),
  ),
  memoLookups: counter('memo_lookups_total', 'Values looked up in the memo of the engine.', { worker: 'any' }),
  memoFound: counter('memo_found_total', 'Values that the memo knew.', { worker: 'any' }),
  scans: counter('scans_total', 'Scans of the automata.', { worker: 'any' }),
  scannedBytes: counter('scanned_bytes_total', 'Bytes that the automata scanned.', { worker: 'any' }),
} as const satisfies Readonly<Record<string, Family>>;

export const histograms = {
  upstreamDuration: histogram('upstream_duration_seconds', 'From sending a request to the head of its response.', {
    site: 'any',
  }),
  stageDuration: histogram('stage_duration_seconds', 'Time spent in a stage of the road.', {
    stage: ['request', 'inspection'],
  }),
} as const satisfies Readonly<Record<string, Family>>;

/** Of the main thread, read when somebody asks. */
export const gauges = {
  configVersion: gauge('config_version', 'Id of the generation that serves.'),
  configLastApplySuccess: gauge('config_last_apply_success', '0 when the last change was refused, else 1.'),
  workersReady: gauge('workers_ready', 'Workers that serve.'),
  workerRestarts: gauge('worker_restarts', 'Workers that were replaced since the start.'),
  eventLoopLagSeconds: gauge('eventloop_lag_seconds', "99th percentile of the busiest worker's event loop delay."),
  upstreamsDown: gauge('upstreams_down', 'Upstreams that are down or left out, in the eyes of some worker.'),
  eventsDropped: gauge('events_dropped', 'Security events that workers had no room for.'),
  auditWritten: gauge('audit_written', 'Lines of the audit log that were written.'),
  auditDropped: gauge('audit_dropped', 'Lines of the audit log that the disk did not take in time.'),
  threatNetworks: gauge('threat_networks', 'Networks on the deny list.'),
  rateKeysEvicted: gauge('rate_keys_evicted', 'Keys of rate limits that gave way before their time.'),
  rateSharingDegraded: gauge(
    'rate_sharing_degraded',
    '1 while rl_distributed is on and this node limits alone, because the store does not answer or was not named.',
  ),
  rateSharingLost: gauge('rate_sharing_lost', 'Places that were taken and not told to the other nodes.'),
  bansActive: gauge('bans_active', 'Clients that this node has banned at the moment.'),
  attackModeActive: gauge('attack_mode_active', '1 while attack mode is in force on this node, else 0.'),
  requestsPerMinute: gauge('requests_per_minute', 'Requests of the last sixty seconds.'),
  baselineRequestsPerMinute: gauge('baseline_requests_per_minute', 'Requests per minute that are usual, as learned.'),
  recordsShipped: gauge('records_shipped', 'Records that the control plane stored.'),
  recordsDropped: gauge('records_dropped', 'Records dropped because the control plane was slow or away.'),
  recordsRefused: gauge('records_refused', 'Records that the control plane refused for good.'),
  recordsSampledOut: gauge('records_sampled_out', 'Records that the control plane left out because too many came.'),
  recordsRetries: gauge('records_retries', 'Attempts to send records that failed.'),
  recordsWaiting: gauge('records_waiting', 'Records on their way to the control plane.'),
} as const satisfies Readonly<Record<string, Family>>;

export type CounterName = keyof typeof counters;
export type GaugeName = keyof typeof gauges;
export type Stage = (typeof histograms)['stageDuration']['labels']['stage'][number];

type CounterLabels<Name extends CounterName> = (typeof counters)[Name]['labels'];

/** The labels that a counter has to be given, with their values. */
export type LabelsOf<Name extends CounterName> = {
  readonly [L in keyof CounterLabels<Name>]: CounterLabels<Name>[L] extends readonly (infer Value)[] ? Value : string;
};

/** None for a counter without labels. */
export type LabelArguments<Name extends CounterName> = keyof LabelsOf<Name> extends never
  ? readonly []
  : readonly [labels: LabelsOf<Name>];
