// Findings of API abuse over HTTP: list, and what people make of one.
import { Type } from '@sinclair/typebox';
import {
  ApiError,
  closed,
  decodeTimeCursor,
  Nullable,
  OneOf,
  SomeOf,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
} from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { confidences, severities, threatKinds, type Evidence, type ThreatKind } from './engine/finding.js';
import { countThreats, listThreats, threatStatuses, type ThreatRow } from './store.js';

export type ThreatRouteParts = Pick<Parts, 'database' | 'audit' | 'now'>;

const kinds = Object.keys(threatKinds) as ThreatKind[];
const described = kinds.map((kind) => `${kind}: ${threatKinds[kind].meaning}`).join('; ');

const EvidenceView = Type.Object({
  request_id: Type.String({ description: 'of the client that the finding is about' }),
  at: Time,
  because: Nullable(OneOf(['created', 'shown', 'denied'], 'what the other request did')),
  other_request_id: Nullable(Type.String({ description: 'of whom the object belongs to, or of the refusal' })),
  other_principal: Nullable(Type.String()),
  noun: Type.String({ description: 'what the object is called; `*`: nothing in particular' }),
});
const ThreatView = Type.Object({
  id: Type.String(),
  kind: OneOf(kinds, described),
  owasp: Type.String({ description: 'OWASP API Security Top 10, 2023' }),
  site: Type.String(),
  method: Type.String(),
  template: Type.String(),
  principal: Type.String({ description: 'keyed hash of JWT subject, API key, session or address; empty: many' }),
  credential: Type.String(),
  client_ips: Type.Array(Type.String()),
  severity: OneOf(severities),
  confidence: OneOf(confidences),
  reason: Type.String(),
  count: Type.Integer({ description: 'objects, requests, accounts or failures' }),
  evidence: Type.Array(EvidenceView),
  first_at: Time,
  last_at: Time,
  found_at: Time,
  status: OneOf(threatStatuses),
  status_by: Nullable(Type.String()),
  status_at: Nullable(Time),
  status_note: Nullable(Type.String()),
  blocked_until: Nullable(Time),
  block_note: Nullable(Type.String({ description: 'who was banned or why not, and who else comes from there' })),
});

const listSchema = {
  tags: ['inventory'],
  summary: 'Findings of API abuse: objects of others, functions of administrators, attacks on logins',
  querystring: Type.Object(
    {
      ...PageQuery,
      status: Type.Optional(SomeOf(threatStatuses)),
      kind: Type.Optional(SomeOf(kinds)),
      site: Type.Optional(Type.String({ maxLength: 200 })),
      severity: Type.Optional(SomeOf(severities)),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      ...Page(ThreatView).properties,
      total: Type.Integer({ minimum: 0, description: 'of this filter, on all pages' }),
    }),
    ...refusals,
  },
};
const statusSchema = {
  tags: ['inventory'],
  summary: 'Acknowledge a finding, dismiss it (the same is not reported again), or open it again',
  params: Type.Object({ id: Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }) }),
  body: Type.Object(
    {
      status: OneOf(threatStatuses),
      note: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    },
    closed,
  ),
  response: { 200: ThreatView, ...refusals },
};

const placeOf = (cursor: string): readonly [Date, string] => {
  const [ms, id] = decodeTimeCursor(cursor, 'string');
  return [new Date(ms), id];
};
const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null;

const view = (row: ThreatRow) => ({
  ...row,
  kind: row.kind as ThreatKind,
  severity: row.severity as (typeof severities)[number],
  confidence: row.confidence as (typeof confidences)[number],
  client_ips: JSON.parse(row.client_ips) as string[],
  evidence: JSON.parse(row.evidence) as Evidence[],
  first_at: row.first_at.toISOString(),
  last_at: row.last_at.toISOString(),
  found_at: row.found_at.toISOString(),
  status_at: timeOf(row.status_at),
  blocked_until: timeOf(row.blocked_until),
});

export function registerThreatRoutes(app: App, { database: { sql }, audit, now }: ThreatRouteParts): void {
  app.get('/api/api-threats', { schema: listSchema }, async ({ query }) => {
    const { cursor, limit = 50, ...filter } = query;
    const after = cursor === undefined ? null : placeOf(cursor);
    const rows = await listThreats(sql, filter, after, limit + 1);
    const page = toPage(rows, limit, ({ last_at: at, id }) => [at.getTime(), id], view);
    return { ...page, total: await countThreats(sql, filter) };
  });
  app.patch('/api/api-threats/:id', { schema: statusSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { id } = request.params;
    const { status, note = null } = request.body;
    return sql.begin(async (tx) => {
      const [row] = await tx<ThreatRow[]>`
        update api_threats set status = ${status}, status_by = ${actor.name}, status_at = ${new Date(now())},
          status_note = ${note} where id = ${id} returning *`;
      if (row === undefined)
        throw new ApiError('not_found', `There is no finding ${id}; GET /api/api-threats lists them.`);
      const summary = `finding ${row.kind} at ${row.method} ${row.template} is ${status}`;
      await audit.record(tx, { actor, action: 'api-threat.status', summary, details: { id, status, note } });
      return view(row);
    });
  });
}
