// Archives and traces: HAR 1.2, OpenTelemetry spans of HTTP (OTLP/HTTP, JSON), and records of a mesh.
import { certificateSubject } from '#proxy/contract';
import { UnusableRecord, type ForeignExchange } from '../exchange.js';
import { addressOf, fieldNames, flatHeaders, methodOf, momentOf, RecordReader, statusOf, targetOf } from './reader.js';

type Members = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown): Members | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The entries of an archive; null: it is none. */
export function harEntries(value: unknown): readonly unknown[] | null {
  const log = objectOf(objectOf(value)?.['log']);
  return log !== null && Array.isArray(log['entries']) ? (log['entries'] as unknown[]) : null;
}

const bodyCharsMax = 64 * 1024;

const harNames = {
  responseStatus: fieldNames('response.status'),
  requestBodySize: fieldNames('request.bodySize'),
  responseContentSize: fieldNames('response.content.size', 'response.bodySize'),
  time: fieldNames('time'),
};

export function readHarEntry(entry: unknown, nowMs: number): ForeignExchange {
  const record = objectOf(entry);
  const request = objectOf(record?.['request']);
  const response = objectOf(record?.['response']);
  if (record === null || request === null || response === null)
    throw new UnusableRecord('is no entry of an archive: request or response is missing');
  const { uri, host } = targetOf(textOf(request['url']));
  const reader = new RecordReader(record);
  const content = objectOf(response['content']);
  const text = textOf(content?.['text']);
  const isBase64 = content?.['encoding'] === 'base64';
  const posted = textOf(objectOf(request['postData'])?.['text']);
  const headers = flatHeaders(request['headers']);
  const mimeType = textOf(content?.['mimeType']);
  return {
    host,
    uri,
    method: methodOf(textOf(request['method'])),
    status: statusOf(reader.number(0, harNames.responseStatus)),
    clientIp: '',
    headers,
    responseHeaders: mimeType === '' ? flatHeaders(response['headers']) : ['Content-Type', mimeType],
    requestBytes: reader.size(harNames.requestBodySize),
    responseBytes: reader.size(harNames.responseContentSize),
    latencyUs: Math.max(0, reader.number(0, harNames.time)) * 1000,
    atMs: momentOf(record['startedDateTime'], nowMs),
    id: '',
    body: posted === '' || posted.length > bodyCharsMax ? null : posted,
    responseBody: text === '' || text.length > bodyCharsMax || isBase64 ? null : text,
    caller: null,
    knowsCredentials: true,
    hop: null,
  };
}

export interface Span {
  readonly span: Members;
  /** `service.name` of its resource. */
  readonly service: string;
}

/** Spans of an ExportTraceServiceRequest; null: it is none. */
export function otlpSpans(value: unknown): readonly Span[] | null {
  const resources = objectOf(value)?.['resourceSpans'];
  if (!Array.isArray(resources)) return null;
  const spans: Span[] = [];
  for (const one of resources as unknown[]) {
    const resource = objectOf(one);
    const service = attributesOf(objectOf(resource?.['resource'])?.['attributes']).get('service.name') ?? '';
    for (const scope of listOf(resource?.['scopeSpans'] ?? resource?.['instrumentationLibrarySpans']))
      for (const span of listOf(objectOf(scope)?.['spans'])) spans.push({ span: objectOf(span) ?? {}, service });
  }
  return spans;
}

function attributesOf(value: unknown): Map<string, string> {
  const found = new Map<string, string>();
  for (const one of listOf(value).slice(0, 200)) {
    const attribute = objectOf(one);
    const key = textOf(attribute?.['key']);
    const given = objectOf(attribute?.['value']);
    const plain = given?.['stringValue'] ?? given?.['intValue'] ?? given?.['boolValue'] ?? given?.['doubleValue'];
    if (key !== '' && (typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean'))
      found.set(key, String(plain));
  }
  return found;
}

const isServer = (kind: unknown): boolean => kind === 2 || kind === 'SPAN_KIND_SERVER';
const isClient = (kind: unknown): boolean => kind === 3 || kind === 'SPAN_KIND_CLIENT';

/**
 * A span of an HTTP server (a request that came) or client (one that was made: caller and callee), by the old and the
 * stable names of OpenTelemetry's semantic conventions. null: it is about something else.
 */
export function readSpan({ span, service }: Span, nowMs: number): ForeignExchange | null {
  const attributes = attributesOf(span['attributes']);
  const of = (...names: string[]): string =>
    names.map((name) => attributes.get(name) ?? '').find((one) => one !== '') ?? '';
  const method = of('http.request.method', 'http.method');
  const isCall = isClient(span['kind']);
  if (method === '' || (!isServer(span['kind']) && !isCall)) return null;
  const path = of('url.path');
  const query = of('url.query');
  const route = of('http.route').replace(/\{[^}]*\}|:[A-Za-z_]\w*/g, '1');
  const whole = path === '' ? of('url.full', 'http.target', 'http.url') || route : path;
  const { uri, host } = targetOf(query === '' || whole.includes('?') ? whole : `${whole}?${query}`);
  const callee = of('peer.service', 'server.address', 'net.peer.name') || host;
  const from = nanosOf(span['startTimeUnixNano']);
  const to = nanosOf(span['endTimeUnixNano']);
  return {
    host: isCall ? callee : of('server.address', 'net.host.name', 'http.host') || host || service,
    uri,
    method: methodOf(method),
    status: statusOf(Number(of('http.response.status_code', 'http.status_code') || 0)),
    clientIp: addressOf(of('client.address', 'http.client_ip', 'net.sock.peer.addr')),
    headers: [],
    responseHeaders: [],
    requestBytes: Number(of('http.request.body.size', 'http.request_content_length')) || 0,
    responseBytes: Number(of('http.response.body.size', 'http.response_content_length')) || 0,
    latencyUs: from === null || to === null ? 0 : Math.max(0, (to - from) / 1000),
    atMs: momentOf(from === null ? undefined : from / 1e6, nowMs),
    id: textOf(span['spanId']) === '' ? '' : `${textOf(span['traceId'])}/${textOf(span['spanId'])}`.slice(0, 128),
    body: null,
    responseBody: null,
    caller: null,
    knowsCredentials: false,
    hop: isCall && service !== '' ? { from: service, to: callee, isIdentified: false } : null,
  };
}

const nanosOf = (value: unknown): number | null => {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number > 0 ? number : null;
};

const meshNames = {
  headers: fieldNames('headers', 'request_headers', 'request.request_headers'),
  xForwardedClientCert: fieldNames('x_forwarded_client_cert', 'xfcc', 'forwarded_client_cert'),
  sourcePrincipal: fieldNames(
    'source_principal',
    'downstream_peer_uri_san',
    'commonProperties.tlsProperties.peerCertificateProperties.subject',
    'downstream_peer_subject',
  ),
  source: fieldNames('source', 'caller', 'source_workload', 'source_app', 'from'),
  upstreamCluster: fieldNames('upstream_cluster'),
  authority: fieldNames('authority', 'request.authority', 'host'),
  destination: fieldNames('destination', 'callee', 'destination_workload', 'destination_service', 'to'),
  mtls: fieldNames('mtls', 'connection_security_policy'),
  path: fieldNames('path', 'uri', 'request.path', 'original_path'),
  method: fieldNames('method', 'request.request_method', 'request.method'),
  status: fieldNames('status', 'response_code', 'response.response_code', 'response.status'),
  sourceIp: fieldNames('source_ip', 'downstream_remote_address', 'client_ip'),
  bytesReceived: fieldNames('bytes_received', 'request_bytes'),
  bytesSent: fieldNames('bytes_sent', 'response_bytes'),
  duration: fieldNames('duration', 'duration_ms', 'latency_ms'),
  startTime: fieldNames('start_time', 'timestamp', 'commonProperties.startTime'),
  requestId: fieldNames('request_id', 'request.request_id', 'id'),
};

/**
 * A record of a sidecar: Istio's default JSON log, Envoy's access log service, or {source, destination, method, path,
 * status}. The caller is who its certificate says it is (XFCC), else the workload that the record names.
 */
export function readMeshRecord(record: unknown, nowMs: number): ForeignExchange {
  const members = objectOf(record);
  if (members === null) throw new UnusableRecord('is no object');
  const reader = new RecordReader(members);
  const headers = reader.headers(meshNames.headers);
  const xfcc =
    reader.text(meshNames.xForwardedClientCert) ||
    headers.find((_, at) => at % 2 === 1 && /^x-forwarded-client-cert$/i.test(headers[at - 1] ?? '')) ||
    '';
  const peer = reader.text(meshNames.sourcePrincipal);
  const identity = xfcc === '' ? peer : certificateSubject(xfcc);
  const sourceIp = addressOf(said(reader.text(meshNames.sourceIp)));
  // a sidecar's log without a certificate names its caller by address: such requests are what east-west is for
  const from = workloadOf(said(identity)) || said(reader.text(meshNames.source)) || sourceIp;
  const cluster = /^(?:out|in)bound\|\d*\|[^|]*\|(.*)$/.exec(reader.text(meshNames.upstreamCluster))?.[1] ?? '';
  const authority = reader.text(meshNames.authority);
  const to = reader.text(meshNames.destination) || cluster || authority;
  if (from === '')
    throw new UnusableRecord('source is missing: name the caller, its address, or its certificate (XFCC)');
  if (to === '') throw new UnusableRecord('destination is missing');
  const mtls = reader.raw(meshNames.mtls);
  const hasToken = headers.some((name, at) => at % 2 === 0 && /^authorization$|^x-api-key$/i.test(name));
  const isIdentified = said(identity) !== '' || mtls === true || mtls === 'mutual_tls' || mtls === 'true' || hasToken;
  const { uri } = targetOf(reader.text(meshNames.path));
  return {
    host: to,
    uri,
    method: methodOf(reader.text(meshNames.method)),
    status: statusOf(reader.number(0, meshNames.status)),
    clientIp: sourceIp,
    headers: said(identity) === '' ? headers : [...headers, 'X-Forwarded-Client-Cert', xfcc || `URI=${identity}`],
    responseHeaders: [],
    requestBytes: reader.size(meshNames.bytesReceived),
    responseBytes: reader.size(meshNames.bytesSent),
    latencyUs: reader.number(0, meshNames.duration) * 1000,
    atMs: momentOf(reader.raw(meshNames.startTime), nowMs),
    id: reader.text(meshNames.requestId),
    body: null,
    responseBody: null,
    caller: null,
    knowsCredentials: headers.length > 0 || isIdentified,
    hop: { from, to: shortName(to), isIdentified },
  };
}

/** Access logs write `-` for what is not there. */
const said = (text: string): string => (text === '-' ? '' : text);

/** Of a SPIFFE id `spiffe://domain/ns/shop/sa/orders` the namespace and the account: `shop/orders`. */
function workloadOf(identity: string): string {
  const found = /\/ns\/([^/]+)\/sa\/([^/;,]+)/.exec(identity);
  return found === null ? identity : `${found[1]}/${found[2]}`;
}

/** `orders.shop.svc.cluster.local:8080` as `shop/orders`, so that callers and callees have the same names. */
function shortName(name: string): string {
  const found = /^([^.:]+)\.([^.:]+)\.svc(?:\.[^:]*)?(?::\d+)?$/.exec(name);
  return found === null ? name.replace(/:\d+$/, '') : `${found[2]}/${found[1]}`;
}
