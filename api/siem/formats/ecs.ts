// Elastic Common Schema 8: field names and the words of `event.kind`, `category`, `type` and `outcome` are its own.
// What has no field of its own stands below `gatehouse`.
import { isIP } from 'node:net';
import type { EventAction, SecurityEvent } from '../event.js';
import { hostOf } from './texts.js';

/** Of what is about a request; without one an error is no type of its category. */
const types: Readonly<Record<EventAction, readonly string[]>> = {
  allowed: ['allowed'],
  observed: ['info'],
  blocked: ['denied'],
  challenged: ['denied'],
  throttled: ['denied'],
  failed: ['error'],
};

/** What is no detection: what people did, and what is known of weaknesses. */
const records: Readonly<Partial<Record<string, { readonly category: string; readonly type: string }>>> = {
  audit: { category: 'configuration', type: 'change' },
  vm: { category: 'vulnerability', type: 'info' },
};

function categoryOf({ kind, action, request }: SecurityEvent): object {
  const record = records[kind];
  if (record !== undefined) return { kind: 'event', category: [record.category], type: [record.type] };
  const told = { kind: action === 'allowed' ? 'event' : 'alert' };
  if (request !== null) return { ...told, category: ['web', 'intrusion_detection'], type: types[action] };
  return { ...told, category: ['intrusion_detection'], type: action === 'failed' ? ['info'] : types[action] };
}

/** A document for an index or a data stream. */
export function toEcs(event: SecurityEvent): object {
  const { request, rules, client_ip: client } = event;
  const [rule] = rules;
  const address = client !== null && isIP(client) !== 0 ? { ip: client } : {};
  const source =
    client === null ? {} : { source: { address: client, ...address }, client: { address: client, ...address } };
  const { name: host } = hostOf(request?.host ?? null);
  const techniques = [...new Set(rules.flatMap(({ tags }) => tags.filter((tag) => tag.startsWith('attack-'))))];
  return {
    '@timestamp': event.at,
    ecs: { version: '8.11.0' },
    message: event.name,
    event: {
      id: event.id,
      ...categoryOf(event),
      action: `${event.kind}-${event.action}`,
      outcome: event.action === 'failed' ? 'failure' : 'success',
      severity: event.severity,
      dataset: 'gatehouse.events',
      module: 'gatehouse',
      ...(event.score === null ? {} : { risk_score: event.score }),
      ...(event.reason === null ? {} : { reason: event.reason }),
    },
    observer: {
      vendor: 'Gatehouse',
      product: 'Gatehouse',
      type: 'waf',
      ...(event.node === null ? {} : { hostname: event.node }),
    },
    ...source,
    ...(rule === undefined
      ? {}
      : { rule: { id: String(rule.id), name: rule.message, category: techniques[0] ?? 'waf' } }),
    ...(request === null ? {} : ofRequest(request)),
    related: {
      ...(client !== null && isIP(client) !== 0 ? { ip: [client] } : {}),
      ...(host === null ? {} : { hosts: [host] }),
    },
    ...(techniques.length === 0 ? {} : { tags: techniques }),
    gatehouse: {
      kind: event.kind,
      site: event.site,
      rules: rules.map(({ id, message, data }) => ({ id, message, data })),
      // one text, because members of other types under one name would make an index refuse the document
      details: JSON.stringify(event.details),
    },
  };
}

function ofRequest(request: NonNullable<SecurityEvent['request']>): object {
  const { name: host, port } = hostOf(request.host);
  return {
    http: {
      request: { method: request.method, ...(request.id === null ? {} : { id: request.id }) },
      response: { status_code: request.status },
    },
    url: {
      original: request.query === null ? request.path : `${request.path}?${request.query}`,
      path: request.path,
      ...(request.query === null ? {} : { query: request.query }),
      ...(host === null ? {} : { domain: host }),
      ...(port === null ? {} : { port }),
    },
    ...(request.user_agent === null ? {} : { user_agent: { original: request.user_agent } }),
    ...(request.id === null ? {} : { trace: { id: request.id } }),
  };
}
