// Records of gateways: the shapes of their documentation, read tolerantly. Kong's http-log plugin, access logs of AWS
// API Gateway ($context), nginx with a JSON log_format, Apigee's analytics, and the generic record.
import { UnusableRecord, type Connector, type ForeignExchange } from '../exchange.js';
import { addressOf, fieldNames, methodOf, momentOf, RecordReader, statusOf, targetOf } from './reader.js';

const none: readonly string[] = [];

const named = (kind: 'jwt' | 'api_key' | 'other', name: string): ForeignExchange['caller'] =>
  name === '' ? null : { kind, name };

/** AWS writes `-` for what is not there. */
const said = (text: string): string => (text === '-' ? '' : text);

const withAgent = (agent: string): string[] => (agent === '' ? [] : ['User-Agent', agent]);

const genericNames = {
  uri: fieldNames('uri', 'url', 'path', 'request_uri', 'request.uri', 'request.url'),
  headers: fieldNames('headers', 'request_headers', 'request.headers'),
  host: fieldNames('host', 'http_host', 'authority', 'server_name'),
  method: fieldNames('method', 'http_method', 'request_method', 'request.method', 'verb'),
  status: fieldNames('status', 'status_code', 'response.status', 'response_code', 'code'),
  ip: fieldNames('ip', 'client_ip', 'remote_addr', 'client', 'source_ip', 'x_forwarded_for'),
  userAgent: fieldNames('user_agent', 'http_user_agent', 'useragent'),
  responseHeaders: fieldNames('response_headers', 'response.headers'),
  requestBytes: fieldNames('request_bytes', 'request_length', 'request_size', 'bytes_received'),
  responseBytes: fieldNames('response_bytes', 'body_bytes_sent', 'bytes_sent', 'response_size', 'bytes'),
  latencyMs: fieldNames('latency_ms', 'duration_ms', 'duration', 'latency'),
  timestamp: fieldNames('timestamp', 'time', 'at', 'ts', 'start_time', '@timestamp'),
  id: fieldNames('id', 'request_id', 'x_request_id', 'trace_id'),
  user: fieldNames('user', 'principal', 'consumer', 'subject', 'user_id'),
};

/** {method, uri, status, ip, user_agent}, and whatever else is called as others call it. */
export const generic: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const { uri, host } = targetOf(reader.text(genericNames.uri));
  const headers = reader.headers(genericNames.headers);
  return {
    host: host || reader.text(genericNames.host),
    method: methodOf(reader.text(genericNames.method)),
    uri,
    status: statusOf(reader.number(0, genericNames.status)),
    clientIp: addressOf(reader.text(genericNames.ip)),
    headers: [...headers, ...withAgent(reader.text(genericNames.userAgent))],
    responseHeaders: reader.headers(genericNames.responseHeaders),
    requestBytes: reader.size(genericNames.requestBytes),
    responseBytes: reader.size(genericNames.responseBytes),
    latencyUs: reader.number(0, genericNames.latencyMs) * 1000,
    atMs: momentOf(reader.raw(genericNames.timestamp), nowMs),
    id: reader.text(genericNames.id),
    caller: named('other', reader.text(genericNames.user)),
    knowsCredentials: headers.length > 0 || reader.has(genericNames.user),
    body: null,
    responseBody: null,
    hop: null,
  };
};

const kongNames = {
  requestHeaders: fieldNames('request.headers'),
  requestUrl: fieldNames('request.url', 'request.uri'),
  requestUri: fieldNames('request.uri', 'request.url'),
  consumerId: fieldNames('consumer.id', 'consumer.username', 'authenticated_entity.consumer_id'),
  requestMethod: fieldNames('request.method'),
  responseStatus: fieldNames('response.status'),
  clientIp: fieldNames('client_ip'),
  responseHeaders: fieldNames('response.headers'),
  requestSize: fieldNames('request.size'),
  responseSize: fieldNames('response.size'),
  latenciesRequest: fieldNames('latencies.request'),
  startedAt: fieldNames('started_at'),
  requestId: fieldNames('request.id'),
};

/** One request, as the log plugin's serializer writes it; `authorization` stands there as REDACTED. */
export const kong: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const headers = reader.headers(kongNames.requestHeaders);
  const address = targetOf(reader.text(kongNames.requestUrl));
  const { uri } = targetOf(reader.text(kongNames.requestUri));
  const hostAt = headers.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  const consumer = reader.text(kongNames.consumerId);
  return {
    host: hostAt >= 0 ? (headers[hostAt + 1] as string) : address.host,
    method: methodOf(reader.text(kongNames.requestMethod)),
    uri,
    status: statusOf(reader.number(0, kongNames.responseStatus)),
    clientIp: addressOf(reader.text(kongNames.clientIp)),
    headers: withoutRedacted(headers),
    responseHeaders: reader.headers(kongNames.responseHeaders),
    requestBytes: reader.size(kongNames.requestSize),
    responseBytes: reader.size(kongNames.responseSize),
    latencyUs: reader.number(0, kongNames.latenciesRequest) * 1000,
    atMs: momentOf(reader.raw(kongNames.startedAt), nowMs),
    id: reader.text(kongNames.requestId),
    knowsCredentials: true,
    // That there was a credential shows; whose it was only where Kong knows its consumer.
    caller: named('api_key', consumer) ?? (isRedacted(headers) ? { kind: 'other', name: '' } : null),
    body: null,
    responseBody: null,
    hop: null,
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

const awsNames = {
  routeKey: fieldNames('routeKey'),
  stage: fieldNames('stage'),
  path: fieldNames('path', 'rawPath', 'uri', 'requestPath'),
  resourcePath: fieldNames('resourcePath', 'resource'),
  authorizerPrincipalId: fieldNames(
    'authorizer.principalId',
    'principalId',
    'authorizer.claims.sub',
    'claims.sub',
    'user',
  ),
  identityApiKeyId: fieldNames('identity.apiKeyId', 'apiKeyId', 'identity.apiKey'),
  domainName: fieldNames('domainName', 'host'),
  httpMethod: fieldNames('httpMethod', 'method', 'requestContext.http.method'),
  status: fieldNames('status', 'statusCode'),
  identitySourceIp: fieldNames('identity.sourceIp', 'ip', 'sourceIp', 'clientIp'),
  identityUserAgent: fieldNames('identity.userAgent', 'userAgent'),
  requestLength: fieldNames('requestLength'),
  responseLength: fieldNames('responseLength'),
  responseLatency: fieldNames('responseLatency', 'latency'),
  requestTimeEpoch: fieldNames('requestTimeEpoch', 'requestTime', 'timestamp'),
  requestId: fieldNames('requestId', 'extendedRequestId'),
  credentials: fieldNames('authorizer.principalId', 'principalId', 'identity.apiKeyId', 'apiKeyId', 'user'),
};

/** Keys are chosen by whoever wrote the template; values are all text. `resourcePath` is a template already. */
export const aws: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const route = /^([A-Z]+|\$default) ?(\/.*)?$/.exec(reader.text(awsNames.routeKey));
  const stage = reader.text(awsNames.stage);
  const path = withoutStage(reader.text(awsNames.path), stage);
  const template = reader.text(awsNames.resourcePath) || (route?.[2] ?? '');
  const fallback = template.replace(/\{[^}]*\}/g, '1');
  const principal = said(reader.text(awsNames.authorizerPrincipalId));
  const key = said(reader.text(awsNames.identityApiKeyId));
  return {
    host: reader.text(awsNames.domainName),
    method: methodOf(reader.text(awsNames.httpMethod) || (route?.[1] ?? '')),
    uri: targetOf(path === '' ? fallback : path).uri,
    status: statusOf(reader.number(0, awsNames.status)),
    clientIp: addressOf(reader.text(awsNames.identitySourceIp)),
    headers: withAgent(reader.text(awsNames.identityUserAgent)),
    requestBytes: reader.size(awsNames.requestLength),
    responseBytes: reader.size(awsNames.responseLength),
    latencyUs: reader.number(0, awsNames.responseLatency) * 1000,
    atMs: momentOf(reader.raw(awsNames.requestTimeEpoch), nowMs),
    id: reader.text(awsNames.requestId),
    caller: named('jwt', principal) ?? named('api_key', key),
    // `-` says that the template has the field and the request none that AWS checked: it may have had one of its own
    knowsCredentials: said(reader.text(awsNames.credentials)) !== '',
    responseHeaders: none,
    body: null,
    responseBody: null,
    hop: null,
  };
};

const withoutStage = (path: string, stage: string): string =>
  stage !== '' && (path === `/${stage}` || path.startsWith(`/${stage}/`)) ? path.slice(stage.length + 1) || '/' : path;

const nginxNames = {
  request: fieldNames('request'),
  requestUri: fieldNames('request_uri', 'uri', 'path'),
  args: fieldNames('args', 'query_string'),
  remoteUser: fieldNames('remote_user'),
  host: fieldNames('host', 'http_host', 'server_name'),
  requestMethod: fieldNames('request_method', 'method'),
  status: fieldNames('status'),
  httpXForwardedFor: fieldNames('http_x_forwarded_for'),
  remoteAddr: fieldNames('remote_addr', 'client_ip', 'clientip'),
  httpUserAgent: fieldNames('http_user_agent', 'user_agent'),
  httpAuthorization: fieldNames('http_authorization'),
  httpXApiKey: fieldNames('http_x_api_key'),
  httpCookie: fieldNames('http_cookie'),
  contentType: fieldNames('content_type', 'http_content_type'),
  sentHttpContentType: fieldNames('sent_http_content_type'),
  requestLength: fieldNames('request_length'),
  bodyBytesSent: fieldNames('body_bytes_sent', 'bytes_sent'),
  requestTime: fieldNames('request_time'),
  msec: fieldNames('msec', 'time_iso8601', 'time_local', 'timestamp'),
  requestId: fieldNames('request_id', 'http_x_request_id'),
  credentials: fieldNames('http_authorization', 'http_cookie', 'http_x_api_key', 'remote_user'),
};

/** Whatever names the log_format gave; the whole request line where it has nothing else. */
export const nginx: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const line = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(reader.text(nginxNames.request));
  const path = reader.text(nginxNames.requestUri) || (line?.[2] ?? '');
  const query = reader.text(nginxNames.args);
  const user = reader.text(nginxNames.remoteUser);
  return {
    host: reader.text(nginxNames.host),
    method: methodOf(reader.text(nginxNames.requestMethod) || (line?.[1] ?? '')),
    uri: targetOf(path.includes('?') || query === '' ? path : `${path}?${query}`).uri,
    status: statusOf(reader.number(0, nginxNames.status)),
    clientIp: addressOf(reader.text(nginxNames.httpXForwardedFor)) || addressOf(reader.text(nginxNames.remoteAddr)),
    headers: [
      ...withAgent(reader.text(nginxNames.httpUserAgent)),
      ...headerOf('Authorization', reader.text(nginxNames.httpAuthorization)),
      ...headerOf('X-Api-Key', reader.text(nginxNames.httpXApiKey)),
      ...headerOf('Cookie', reader.text(nginxNames.httpCookie)),
      ...headerOf('Content-Type', reader.text(nginxNames.contentType)),
    ],
    responseHeaders: headerOf('Content-Type', reader.text(nginxNames.sentHttpContentType)),
    requestBytes: reader.size(nginxNames.requestLength),
    responseBytes: reader.size(nginxNames.bodyBytesSent),
    latencyUs: reader.number(0, nginxNames.requestTime) * 1_000_000,
    atMs: momentOf(reader.raw(nginxNames.msec), nowMs),
    id: reader.text(nginxNames.requestId),
    caller: named('other', user),
    knowsCredentials: reader.has(nginxNames.credentials),
    body: null,
    responseBody: null,
    hop: null,
  };
};

const headerOf = (name: string, value: string): string[] => (value === '' ? [] : [name, value]);

const apigeeNames = {
  proxyBasepath: fieldNames('proxy_basepath'),
  proxyPathsuffix: fieldNames('proxy_pathsuffix'),
  requestUri: fieldNames('request_uri', 'request_path'),
  clientReceivedStartTimestamp: fieldNames('client_received_start_timestamp'),
  responseStatusCode: fieldNames('response_status_code', 'target_response_code'),
  virtualHost: fieldNames('virtual_host', 'host'),
  requestVerb: fieldNames('request_verb'),
  axResolvedClientIp: fieldNames('ax_resolved_client_ip', 'client_ip', 'x_forwarded_for_ip'),
  useragent: fieldNames('useragent'),
  requestSize: fieldNames('request_size'),
  responseSize: fieldNames('response_size'),
  totalResponseTime: fieldNames('total_response_time'),
  gatewayFlowId: fieldNames('gateway_flow_id'),
  clientId: fieldNames('client_id', 'developer_app'),
};

export const apigee: Connector = (record, nowMs) => {
  const reader = new RecordReader(record);
  const base = reader.text(apigeeNames.proxyBasepath);
  const suffix = reader.text(apigeeNames.proxyPathsuffix);
  const given = reader.text(apigeeNames.requestUri);
  const began = momentOf(reader.raw(apigeeNames.clientReceivedStartTimestamp), nowMs);
  const status = reader.number(0, apigeeNames.responseStatusCode);
  return {
    host: reader.text(apigeeNames.virtualHost),
    method: methodOf(reader.text(apigeeNames.requestVerb)),
    uri: targetOf(given === '' ? `${base}${suffix}` : given).uri,
    status: statusOf(status),
    clientIp: addressOf(reader.text(apigeeNames.axResolvedClientIp)),
    headers: withAgent(reader.text(apigeeNames.useragent)),
    requestBytes: reader.size(apigeeNames.requestSize),
    responseBytes: reader.size(apigeeNames.responseSize),
    latencyUs: reader.number(0, apigeeNames.totalResponseTime) * 1000,
    atMs: began,
    id: reader.text(apigeeNames.gatewayFlowId),
    caller: named('api_key', reader.text(apigeeNames.clientId)),
    knowsCredentials: reader.has(apigeeNames.clientId),
    responseHeaders: none,
    body: null,
    responseBody: null,
    hop: null,
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
