// Elastic Common Schema 8: field names and the words of `event.kind`, `category`, `type` and `outcome` are its own.
// What has no field of its own stands below `gatehouse`.
import { isIP } from 'node:net';
import type { EventAction, SecurityEvent } from '../event.js';

const types: Readonly<Record<EventAction, readonly string[]>> = {
  allowed: ['allowed'],
  observed: ['info'],
  blocked: ['denied'],
  challenged: ['denied'],
  throttled: ['denied'],
  failed: ['error'],
};

/** A document for an index or a data stream. */
export function toEcs(event: SecurityEvent): object {
  const { request, rules, client_ip: client } = event;
  const [rule] = rules;
  const address = client !== null && isIP(client) !== 0 ? { ip: client } : {};
  const source =
    client === null ? {} : { source: { address: client, ...address }, client: { address: client, ...address } };
  const techniques = [...new Set(rules.flatMap(({ tags }) => tags.filter((tag) => tag.startsWith('attack-'))))];
  return {
    '@timestamp': event.at,
    ecs: { version: '8.11.0' },
    message: event.name,
    event: {
      id: event.id,
      kind: event.action === 'allowed' ? 'event' : 'alert',
      category: request === null ? ['intrusion_detection'] : ['web', 'intrusion_detection'],
      type: types[event.action],
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
      ...(request?.host ? { hosts: [request.host] } : {}),
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
  return {
    http: {
      request: { method: request.method, ...(request.id === null ? {} : { id: request.id }) },
      response: { status_code: request.status },
    },
    url: {
      original: request.query === null ? request.path : `${request.path}?${request.query}`,
      path: request.path,
      ...(request.query === null ? {} : { query: request.query }),
      ...(request.host === null ? {} : { domain: request.host }),
    },
    ...(request.user_agent === null ? {} : { user_agent: { original: request.user_agent } }),
    ...(request.id === null ? {} : { trace: { id: request.id } }),
  };
}
