// Records of gateways: the shapes of their documentation, read tolerantly. Kong's http-log plugin, access logs of AWS
// API Gateway ($context), nginx with a JSON log_format, Apigee's analytics, and the generic record.
import { UnusableRecord, type Connector, type ForeignExchange } from '../exchange.js';
import { addressOf, methodOf, momentOf, RecordReader, statusOf, targetOf } from './reader.js';

const nothing = {
  host: '',
  headers: [],
  responseHeaders: [],
  requestBytes: 0,
  responseBytes: 0,
  latencyUs: 0,
  id: '',
  body: null,
  responseBody: null,
  caller: null,
  knowsCredentials: false,
  hop: null,
} as const satisfies Partial<ForeignExchange>;

const named = (kind: 'jwt' | 'api_key' | 'other', name: string): ForeignExchange['caller'] =>
  name === '' ? null : { kind, name };

const withAgent = (agent: string): string[] => (agent === '' ? [] : ['User-Agent', agent]);

/** {method, uri, status, ip, user_agent}, and whatever else is called as others call it. */
export const generic: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const { uri, host } = targetOf(reader.text('uri', 'url', 'path', 'request_uri', 'request.uri', 'request.url'));
  const headers = reader.headers('headers', 'request_headers', 'request.headers');
  return {
    ...nothing,
    host: host || reader.text('host', 'http_host', 'authority', 'server_name'),
    method: methodOf(reader.text('method', 'http_method', 'request_method', 'request.method', 'verb')),
    uri,
    status: statusOf(reader.number(0, 'status', 'status_code', 'response.status', 'response_code', 'code')),
    clientIp: addressOf(reader.text('ip', 'client_ip', 'remote_addr', 'client', 'source_ip', 'x_forwarded_for')),
    headers: [...headers, ...withAgent(reader.text('user_agent', 'http_user_agent', 'useragent'))],
    responseHeaders: reader.headers('response_headers', 'response.headers'),
    requestBytes: reader.size('request_bytes', 'request_length', 'request_size', 'bytes_received'),
    responseBytes: reader.size('response_bytes', 'body_bytes_sent', 'bytes_sent', 'response_size', 'bytes'),
    latencyUs: reader.number(0, 'latency_ms', 'duration_ms', 'duration', 'latency') * 1000,
    atMs: momentOf(reader.raw(['timestamp', 'time', 'at', 'ts', 'start_time', '@timestamp']), nowMs),
    id: reader.text('id', 'request_id', 'x_request_id', 'trace_id'),
    caller: named('other', reader.text('user', 'principal', 'consumer', 'subject', 'user_id')),
    knowsCredentials: headers.length > 0 || reader.has('user', 'principal', 'consumer', 'subject', 'user_id'),
  };
};

/** One request, as the log plugin's serializer writes it; `authorization` stands there as REDACTED. */
export const kong: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const headers = reader.headers('request.headers');
  const address = targetOf(reader.text('request.url', 'request.uri'));
  const { uri } = targetOf(reader.text('request.uri', 'request.url'));
  const hostAt = headers.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  const consumer = reader.text('consumer.id', 'consumer.username', 'authenticated_entity.consumer_id');
  return {
    ...nothing,
    host: hostAt >= 0 ? (headers[hostAt + 1] as string) : address.host,
    method: methodOf(reader.text('request.method')),
    uri,
    status: statusOf(reader.number(0, 'response.status')),
    clientIp: addressOf(reader.text('client_ip')),
    headers: withoutRedacted(headers),
    responseHeaders: reader.headers('response.headers'),
    requestBytes: reader.size('request.size'),
    responseBytes: reader.size('response.size'),
    latencyUs: reader.number(0, 'latencies.request') * 1000,
    atMs: momentOf(reader.raw(['started_at']), nowMs),
    id: reader.text('request.id'),
    knowsCredentials: true,
    // That there was a credential shows; whose it was only where Kong knows its consumer.
    caller: named('api_key', consumer) ?? (isRedacted(headers) ? { kind: 'other', name: '' } : null),
  };
};

const isRedacted = (headers: readonly string[]): boolean =>
  headers.some((name, at) => at % 2 === 0 && /^authorization$/i.test(name) && headers[at + 1] === 'REDACTED');

function withoutRedacted(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (headers[at + 1] !== 'REDACTED') kept.push(headers[at] as string, headers[at + 1] as string);
  return kept;
}

/** Keys are chosen by whoever wrote the template; values are all text. `resourcePath` is a template already. */
export const aws: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const route = /^([A-Z]+|\$default) ?(\/.*)?$/.exec(reader.text('routeKey'));
  const stage = reader.text('stage');
  const path = withoutStage(reader.text('path', 'rawPath', 'uri', 'requestPath'), stage);
  const template = reader.text('resourcePath', 'resource') || (route?.[2] ?? '');
  const fallback = template.replace(/\{[^}]*\}/g, '1');
  const principal = reader.text('authorizer.principalId', 'principalId', 'authorizer.claims.sub', 'claims.sub', 'user');
  const key = reader.text('identity.apiKeyId', 'apiKeyId', 'identity.apiKey');
  return {
    ...nothing,
    host: reader.text('domainName', 'host'),
    method: methodOf(reader.text('httpMethod', 'method', 'requestContext.http.method') || (route?.[1] ?? '')),
    uri: targetOf(path === '' ? fallback : path).uri,
    status: statusOf(reader.number(0, 'status', 'statusCode')),
    clientIp: addressOf(reader.text('identity.sourceIp', 'ip', 'sourceIp', 'clientIp')),
    headers: withAgent(reader.text('identity.userAgent', 'userAgent')),
    requestBytes: reader.size('requestLength'),
    responseBytes: reader.size('responseLength'),
    latencyUs: reader.number(0, 'responseLatency', 'latency') * 1000,
    atMs: momentOf(reader.raw(['requestTimeEpoch', 'requestTime', 'timestamp']), nowMs),
    id: reader.text('requestId', 'extendedRequestId'),
    caller: named('jwt', principal) ?? named('api_key', key),
    knowsCredentials: reader.has('authorizer.principalId', 'principalId', 'identity.apiKeyId', 'apiKeyId', 'user'),
  };
};

const withoutStage = (path: string, stage: string): string =>
  stage !== '' && (path === `/${stage}` || path.startsWith(`/${stage}/`)) ? path.slice(stage.length + 1) || '/' : path;

/** Whatever names the log_format gave; the whole request line where it has nothing else. */
export const nginx: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const line = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(reader.text('request'));
  const path = reader.text('request_uri', 'uri', 'path') || (line?.[2] ?? '');
  const query = reader.text('args', 'query_string');
  const user = reader.text('remote_user');
  return {
    ...nothing,
    host: reader.text('host', 'http_host', 'server_name'),
    method: methodOf(reader.text('request_method', 'method') || (line?.[1] ?? '')),
    uri: targetOf(path.includes('?') || query === '' ? path : `${path}?${query}`).uri,
    status: statusOf(reader.number(0, 'status')),
    clientIp:
      addressOf(reader.text('http_x_forwarded_for')) || addressOf(reader.text('remote_addr', 'client_ip', 'clientip')),
    headers: [
      ...withAgent(reader.text('http_user_agent', 'user_agent')),
      ...headerOf('Authorization', reader.text('http_authorization')),
      ...headerOf('X-Api-Key', reader.text('http_x_api_key')),
      ...headerOf('Cookie', reader.text('http_cookie')),
      ...headerOf('Content-Type', reader.text('content_type', 'http_content_type')),
    ],
    responseHeaders: headerOf('Content-Type', reader.text('sent_http_content_type')),
    requestBytes: reader.size('request_length'),
    responseBytes: reader.size('body_bytes_sent', 'bytes_sent'),
    latencyUs: reader.number(0, 'request_time') * 1_000_000,
    atMs: momentOf(reader.raw(['msec', 'time_iso8601', 'time_local', 'timestamp']), nowMs),
    id: reader.text('request_id', 'http_x_request_id'),
    caller: named('other', user),
    knowsCredentials: reader.has('http_authorization', 'http_cookie', 'http_x_api_key', 'remote_user'),
  };
};

const headerOf = (name: string, value: string): string[] => (value === '' ? [] : [name, value]);

export const apigee: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const base = reader.text('proxy_basepath');
  const suffix = reader.text('proxy_pathsuffix');
  const given = reader.text('request_uri', 'request_path');
  const began = momentOf(reader.raw(['client_received_start_timestamp']), nowMs);
  const status = reader.number(0, 'response_status_code', 'target_response_code');
  return {
    ...nothing,
    host: reader.text('virtual_host', 'host'),
    method: methodOf(reader.text('request_verb')),
    uri: targetOf(given === '' ? `${base}${suffix}` : given).uri,
    status: statusOf(status),
    clientIp: addressOf(reader.text('ax_resolved_client_ip', 'client_ip', 'x_forwarded_for_ip')),
    headers: withAgent(reader.text('useragent')),
    requestBytes: reader.size('request_size'),
    responseBytes: reader.size('response_size'),
    latencyUs: reader.number(0, 'total_response_time') * 1000,
    atMs: began,
    id: reader.text('gateway_flow_id'),
    caller: named('api_key', reader.text('client_id', 'developer_app')),
    knowsCredentials: reader.has('client_id', 'developer_app'),
  };
};

export const gatewayTypes = ['generic', 'kong', 'aws', 'nginx', 'apigee', 'auto'] as const;
export type GatewayType = (typeof gatewayTypes)[number];

const has = (record: Readonly<Record<string, unknown>>, ...names: string[]): boolean =>
  names.some((name) => Object.hasOwn(record, name));

/** Which gateway wrote it, told by members that only that one has. */
export function sniff(record: Readonly<Record<string, unknown>>): Connector {
  if (has(record, 'latencies', 'upstream_uri', 'started_at') && has(record, 'request')) return kong;
  if (has(record, 'request_verb', 'proxy_basepath', 'gateway_flow_id', 'apiproxy')) return apigee;
  if (has(record, 'httpMethod', 'routeKey', 'resourcePath', 'extendedRequestId', 'domainName')) return aws;
  if (has(record, 'remote_addr', 'request_method', 'body_bytes_sent', 'http_user_agent', 'time_iso8601')) return nginx;
  if (typeof record['request'] === 'string') return nginx;
  return generic;
}

const byType: Readonly<Record<Exclude<GatewayType, 'auto'>, Connector>> = { generic, kong, aws, nginx, apigee };

/** Throws UnusableRecord for what is no object. */
export function readGatewayRecord(type: GatewayType, record: unknown, nowMs: number): ForeignExchange {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) throw new UnusableRecord('is no object');
  const members = record as Readonly<Record<string, unknown>>;
  return (type === 'auto' ? sniff(members) : byType[type])(members, nowMs);
}
