// The audit log of the vulnerability manager: read, one entry, as a file, and whether its chain holds.
import { Nullable, OneOf, Time, toCsvLine } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import type { AuditPort } from '../host.js';
import { endpoint, notFound, toId, type Endpoint } from '../kit/endpoint.js';
import { ListQuery } from '../kit/list.js';

const closed = { additionalProperties: false } as const;

const AuditEntry = Type.Object({
  id: Type.Integer(),
  at: Time,
  actor: Type.String(),
  actor_id: Nullable(Type.String()),
  role: Type.String(),
  source_ip: Type.String(),
  action: Type.String(),
  summary: Type.String(),
  details: Type.Unknown(),
  prev_hash: Type.String({ description: 'of the entry before; with it anybody can recompute the chain' }),
  hash: Type.String(),
});

/** What is passed over is read, too; `before` goes on from any place. */
const auditOffsetMax = 10_000;

const Filters = {
  actor: Type.Optional(Type.String({ maxLength: 254 })),
  action: Type.Optional(Type.String({ maxLength: 100 })),
  q: Type.Optional(Type.String({ maxLength: 200 })),
};
type Filters = Static<ReturnType<typeof Type.Object<typeof Filters>>>;
type Entry = Awaited<ReturnType<AuditPort['list']>>[number];

const entriesPerRead = 1000;
const fileColumns = ['id', 'at', 'actor', 'role', 'source_ip', 'action', 'summary', 'details', 'hash'] as const;

/** Every entry under the filters, newest first, so many at a time: the log may be of any length. */
async function* entriesOf(audit: AuditPort, { actor, action, q }: Filters): AsyncGenerator<readonly Entry[]> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const found = await audit.list({ limit: entriesPerRead, before, actor, action, q });
    if (found.length > 0) yield found;
    const last = found.at(-1);
    if (last === undefined || found.length < entriesPerRead) return;
    before = last.id;
  }
}

type Batches = AsyncIterable<readonly Entry[]>;

async function* toCsv(batches: Batches): AsyncGenerator<string> {
  yield toCsvLine(fileColumns);
  for await (const entries of batches)
    yield entries.map((entry) => toCsvLine(fileColumns.map((name) => entry[name]))).join('');
}

async function* toJsonLines(batches: Batches): AsyncGenerator<string> {
  for await (const entries of batches) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

const files = {
  csv: ['text/csv; charset=utf-8', toCsv],
  jsonl: ['application/x-ndjson', toJsonLines],
} as const;

export const auditEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/audit',
    permission: 'view_audit',
    ofOrganisation: 'Audit entries',
    kind: 'A',
    summary: 'The audit log, newest first',
    query: Type.Object(
      {
        limit: ListQuery.limit,
        offset: Type.Optional(Type.Integer({ minimum: 0, maximum: auditOffsetMax, default: 0 })),
        before: Type.Optional(
          Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'id of the last entry seen' }),
        ),
        ...Filters,
      },
      closed,
    ),
    answer: Type.Object({ items: Type.Array(AuditEntry), next_before: Nullable(Type.Integer()) }),
    handle: async ({ host, query }) => {
      const { limit = 50, offset = 0, before = Number.MAX_SAFE_INTEGER, actor, action, q } = query;
      const found = await host.audit.list({ limit: limit + offset, before, actor, action, q });
      const items = found.slice(offset);
      return { items, next_before: items.length < limit ? null : (items.at(-1)?.id ?? null) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/audit/verify',
    permission: 'view_audit',
    ofOrganisation: 'Audit entries',
    kind: 'B',
    summary: 'Whether the chain of hashes holds, and where not',
    answer: Type.Object({ ok: Type.Boolean(), checked: Type.Integer(), first_broken: Type.Unknown() }),
    handle: async ({ host }) => host.audit.verify(),
  }),
  endpoint({
    method: 'GET',
    path: '/audit/export',
    permission: 'view_audit',
    ofOrganisation: 'Audit entries',
    kind: 'X',
    summary: 'Audit entries under the same filters as a file, newest first, however many there are',
    query: Type.Object({ format: Type.Optional(OneOf(['csv', 'jsonl'])), ...Filters }, closed),
    mediaType: 'application/octet-stream',
    handle: async ({ host, query, now, reply }) => {
      const { format = 'csv', ...filters } = query;
      const [mediaType, write] = files[format];
      reply
        .type(mediaType)
        .header('content-disposition', `attachment; filename="audit-${now.toISOString().slice(0, 10)}.${format}"`)
        .header('content-security-policy', "default-src 'none'; sandbox");
      return Readable.from(write(entriesOf(host.audit, filters)));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/audit/:id',
    permission: 'view_audit',
    ofOrganisation: 'Audit entries',
    kind: 'A',
    summary: 'One entry; `details` has what was before and after where the change has both',
    answer: AuditEntry,
    handle: async ({ host, params }) => {
      const id = Number(toId(params['id'] ?? '', 'audit entry'));
      const [entry] = Number.isSafeInteger(id)
        ? await host.audit.list({ id, limit: 1, before: Number.MAX_SAFE_INTEGER })
        : [];
      if (entry?.id !== id) throw notFound('audit entry', String(params['id']));
      return entry;
    },
  }),
];
