// One operation with what is kept of its requests. Records and events are read from the newest on, and so many of them
// at most: an operation that nobody asked lately has no samples.
import type { OperationDetail } from '#vm-manager';
import { matchesTemplate } from './template.js';
import { selectPlaces, type Endpoint } from '../../inventory/store.js';
import { threatsAt } from '../../threats/store.js';
import type { ApisParts } from './parts.js';

const looked = { days: 7, records: 20_000, matches: 2000 } as const;
const shown = { samples: 20, callers: 50, hits: 50, threats: 50 } as const;

export const toOperation = (one: Endpoint) => ({
  ...{ site: one.site, method: one.method, template: one.template, access: one.access, auth: one.auth },
  ...{ authTypes: one.authTypes, classification: one.classification, categories: one.categories },
  ...{ regulations: one.regulations, risk: one.risk, band: one.band, hits: one.hits, shadow: one.shadow },
  ...{ firstSeen: one.firstSeen, lastSeen: one.lastSeen },
});

interface Place {
  readonly site: string;
  readonly method: string;
  readonly template: string;
}

interface RecordRow {
  readonly at: Date;
  readonly request_id: string;
  readonly uri: string;
  readonly status: number;
  readonly client_ip: string;
  readonly user_agent: string;
}

interface EventRow extends Omit<RecordRow, 'status' | 'user_agent'> {
  readonly kind: string;
  readonly verdict: string;
  readonly rule_id: number | null;
}

async function recordsOf({ database: { sql }, now }: ApisParts, { site, method, template }: Place) {
  const since = new Date(now() - looked.days * 86_400_000);
  const rows = await sql<RecordRow[]>`
    select at, request_id, uri, status, client_ip, user_agent from (
      select * from request_records where at > ${since} order by at desc limit ${looked.records}) newest
    where site = ${site} and method = ${method} order by at desc limit ${looked.matches}`;
  return rows.filter(({ uri }) => matchesTemplate(template, uri));
}

async function hitsOf({ database: { sql }, now }: ApisParts, { site, method, template }: Place) {
  const since = new Date(now() - looked.days * 86_400_000);
  const rows = await sql<EventRow[]>`
    select at, request_id, uri, client_ip, kind, verdict, rule_id from (
      select * from security_events where at > ${since} order by at desc limit ${looked.records}) newest
    where site = ${site} and method = ${method} order by at desc limit ${looked.matches}`;
  return rows.filter(({ uri }) => matchesTemplate(template, uri)).slice(0, shown.hits);
}

function callersOf(records: readonly RecordRow[]) {
  const callers = new Map<string, { client: string; requests: number; lastAt: Date }>();
  for (const { client_ip: client, at } of records) {
    const known = callers.get(client);
    if (known === undefined) callers.set(client, { client, requests: 1, lastAt: at });
    else known.requests++;
  }
  return [...callers.values()].sort((one, other) => other.requests - one.requests).slice(0, shown.callers);
}

/** null: it is not in the inventory any more. */
export async function readDetail(parts: ApisParts, place: Place): Promise<OperationDetail | null> {
  const { sql } = parts.database;
  const [endpoint] = await selectPlaces(sql, [place]);
  if (endpoint === undefined) return null;
  const records = await recordsOf(parts, place);
  const hits = await hitsOf(parts, place);
  const threats = await threatsAt(sql, place, shown.threats);
  const { stats } = endpoint;
  return {
    ...toOperation(endpoint),
    statuses: stats.statuses,
    parameters: stats.parameters,
    personalData: stats.pii,
    riskParts: endpoint.parts.map(({ factor, points, why }) => ({ factor, points, why })),
    credentials: stats.credentials,
    clients: stats.clients,
    samples: records.slice(0, shown.samples).map(({ at, request_id: requestId, uri, status, ...one }) => ({
      ...{ at, requestId, uri, status, client: one.client_ip, userAgent: one.user_agent },
    })),
    callers: callersOf(records),
    wafHits: hits.map(({ at, request_id: requestId, kind, verdict, rule_id: rule, uri, client_ip: client }) => ({
      ...{ at, requestId, kind, verdict, uri, client },
      ruleId: rule === null ? null : Number(rule),
    })),
    threats: threats.map((one) => ({
      ...{ id: one.id, kind: one.kind, owasp: one.owasp, severity: one.severity, reason: one.reason },
      ...{ count: Number(one.count), lastAt: one.last_at, status: one.status },
    })),
  };
}
