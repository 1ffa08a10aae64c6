import { Type, type Static } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import type { Queryable } from '../db/client.js';
import type { App, House } from '../parts.js';
import { requirePrincipal } from '../auth/guard.js';
import { decodeCursor, Page, PageQuery, toPage } from '../http-kit/page.js';
import { toCsvLine } from '../http-kit/csv.js';
import { closed, Moment, Nullable, parseTime, refusals, Time } from '../http-kit/schema.js';
import { toAuditEntry, type AuditRow } from './chain.js';

const filters = {
  actor: Type.Optional(Type.String({ maxLength: 254 })),
  action: Type.Optional(
    Type.String({ maxLength: 100, description: 'exact, or a prefix that ends with a dot, such as user.' }),
  ),
  role: Type.Optional(Type.String({ maxLength: 20 })),
  source_ip: Type.Optional(Type.String({ maxLength: 64 })),
  from: Type.Optional(Moment('UTC')),
  to: Type.Optional(Moment('UTC, exclusive')),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'words in the summary' })),
};
const Filters = Type.Object(filters);
type AuditFilters = Static<typeof Filters>;

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

type ReadFilters = Omit<AuditFilters, 'from' | 'to'> & {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
};

/**
 * Refuses moments that do not exist before anything is answered: an export that has begun cannot be refused any more.
 */
function readFilters(given: AuditFilters): ReadFilters {
  return {
    ...given,
    from: given.from === undefined ? undefined : parseTime(given.from, '/from'),
    to: given.to === undefined ? undefined : parseTime(given.to, '/to'),
  };
}

/** Newest first, below `beforeId`. */
function selectEntries(sql: Queryable, wanted: ReadFilters, beforeId: number, limit: number) {
  const like = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
  const action =
    wanted.action === undefined
      ? sql``
      : wanted.action.endsWith('.')
        ? sql`and action like ${`${like(wanted.action)}%`}`
        : sql`and action = ${wanted.action}`;
  return sql<AuditRow[]>`
    select * from audit_entries where id < ${beforeId} ${action}
    ${wanted.actor === undefined ? sql`` : sql`and actor = ${wanted.actor}`}
    ${wanted.role === undefined ? sql`` : sql`and role = ${wanted.role}`}
    ${wanted.source_ip === undefined ? sql`` : sql`and source_ip = ${wanted.source_ip}`}
    ${wanted.from === undefined ? sql`` : sql`and at >= ${wanted.from}`}
    ${wanted.to === undefined ? sql`` : sql`and at < ${wanted.to}`}
    ${wanted.q === undefined ? sql`` : sql`and summary ilike ${`%${like(wanted.q)}%`}`}
    order by id desc limit ${limit}`;
}

const columns = ['id', 'at', 'actor', 'role', 'source_ip', 'action', 'summary', 'details', 'hash'] as const;

async function* exportLines(sql: Queryable, wanted: ReadFilters): AsyncGenerator<string> {
  yield toCsvLine(columns);
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await selectEntries(sql, wanted, before, 1000);
    for (const row of rows) yield toCsvLine(columns.map((column) => row[column]));
    const last = rows.at(-1);
    if (last === undefined) return;
    before = last.id;
  }
}

export function registerAuditRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.get(
    '/api/audit',
    {
      schema: {
        tags: ['audit'],
        summary: 'Audit log, newest first',
        querystring: Type.Object({ ...PageQuery, ...filters }, closed),
        response: { 200: Page(EntryView), ...refusals },
      },
    },
    async (request) => {
      const limit = request.query.limit ?? 50;
      const [before] =
        request.query.cursor === undefined
          ? [Number.MAX_SAFE_INTEGER]
          : decodeCursor(request.query.cursor, ['number'] as const);
      return toPage(
        await selectEntries(sql, readFilters(request.query), before, limit + 1),
        limit,
        (row) => [row.id],
        toAuditEntry,
      );
    },
  );
  app.get(
    '/api/audit/export',
    {
      schema: {
        tags: ['audit'],
        summary: 'Audit log as CSV',
        querystring: Type.Object(filters, closed),
        response: { 200: Type.String(), ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      const wanted = readFilters(request.query);
      await sql.begin((tx) =>
        house.audit.record(tx, {
          actor,
          action: 'audit.export',
          summary: `exported the audit log`,
          details: request.query,
        }),
      );
      reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="audit.csv"');
      return reply.send(Readable.from(exportLines(sql, wanted)) as unknown as string);
    },
  );
  app.get(
    '/api/audit/verify',
    {
      schema: {
        tags: ['audit'],
        summary: 'Check the hash chain; names the first broken entry',
        response: {
          200: Type.Object({
            ok: Type.Boolean(),
            checked: Type.Integer(),
            first_broken: Nullable(Type.Object({ id: Type.Integer(), reason: Type.String() })),
          }),
          ...refusals,
        },
      },
    },
    async () => house.audit.verify(sql),
  );
}
