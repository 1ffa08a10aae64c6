import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import {
  closed,
  decodeCursor,
  Nullable,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
} from '../http-kit/index.js';
import type { HttpParts, Parts } from '../parts.js';
import { auditActions, type AuditCause } from './actions.js';
import { toAuditEntry } from './chain.js';
import { auditFilters, exportLines, readFilters, selectEntries, type AuditFilters } from './entries.js';

export type AuditParts = Pick<Parts, 'database' | 'audit'> & Pick<HttpParts, 'seesVmAudit'>;

const EntryView = Type.Object({
  id: Type.Integer(),
  at: Time,
  actor: Type.String(),
  actor_id: Nullable(Type.String()),
  role: Type.String(),
  source_ip: Type.String(),
  action: Type.String(),
  summary: Type.String(),
  details: Type.Unknown(),
  prev_hash: Type.String(),
  hash: Type.String(),
});
const Verification = Type.Object({
  ok: Type.Boolean(),
  checked: Type.Integer(),
  first_broken: Nullable(Type.Object({ id: Type.Integer(), reason: Type.String() })),
});

const causes: Readonly<Record<AuditCause, string>> = {
  people: 'people',
  system: 'the program itself',
  operator: 'the command line of the server',
};
const actionList = Object.entries(auditActions).map(
  ([action, { by, meaning }]) => `- \`${action}\` (${by.map((cause) => causes[cause]).join(', ')}): ${meaning}`,
);

const listSchema = {
  tags: ['audit'],
  summary: 'Audit log, newest first; what it says of the vulnerability manager only for who may read that (view_audit)',
  description: ['Actions, and who causes them:', '', ...actionList].join('\n'),
  querystring: Type.Object({ ...PageQuery, ...auditFilters }, closed),
  response: { 200: Page(EntryView), ...refusals },
};
const exportSchema = {
  tags: ['audit'],
  summary: 'Audit log as CSV',
  querystring: Type.Object(auditFilters, closed),
  response: { 200: Type.String(), ...refusals },
};
const verifySchema = {
  tags: ['audit'],
  summary: 'Check the hash chain; names the first broken entry',
  response: { 200: Verification, ...refusals },
};

export function registerAuditRoutes(app: App, { database: { sql }, audit, seesVmAudit }: AuditParts): void {
  const filtersOf = async (
    request: FastifyRequest,
    given: Parameters<typeof readFilters>[0],
  ): Promise<AuditFilters> => ({
    ...readFilters(given),
    withoutVm: !(await seesVmAudit(requirePrincipal(request))),
  });
  app.get('/api/audit', { schema: listSchema }, async (request) => {
    const { cursor, limit = 50 } = request.query;
    const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : decodeCursor(cursor, ['number'] as const);
    const rows = await selectEntries(sql, await filtersOf(request, request.query), before, limit + 1);
    return toPage(rows, limit, (row) => [row.id], toAuditEntry);
  });
  app.get('/api/audit/export', { schema: exportSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const wanted = await filtersOf(request, request.query);
    await sql.begin((tx) =>
      audit.record(tx, {
        actor,
        action: 'audit.export',
        summary: 'exported the audit log',
        details: request.query,
      }),
    );
    reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="audit.csv"');
    return reply.send(Readable.from(exportLines(sql, wanted)) as unknown as string);
  });
  app.get('/api/audit/verify', { schema: verifySchema }, async () => audit.verify(sql));
}
