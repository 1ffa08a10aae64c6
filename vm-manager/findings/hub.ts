// /findings: all findings together: lists, questions, numbers, saved filters, many at once.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { allOf, json, type Tx } from '../database.js';
import { requireWhole } from '../kit/caller.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { checkPredicate, PredicateSchema, toSql } from '../kit/predicate.js';
import { findingsQuery, listFindings } from './endpoints.js';
import { findingFields, findingSorts, FindingView, viewFinding, type FindingRow } from './fields.js';
import { FindingFilters, visibleFindings, whereOf } from './query.js';
import { requireFinding } from './store.js';
import { transition } from './transition.js';
import { justifications, severityNames, statuses, type Status } from './words.js';

const closed = { additionalProperties: false } as const;
const facetMax = 50;

const openBySeverity = severityNames
  .map((name, index) => `count(*) filter (where is_open and severity = ${index}) as ${name}`)
  .join(', ');
const Counts = Type.Record(Type.String(), Type.Integer());

const reading: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/findings',
    permission: 'view_findings',
    kind: 'A',
    fromReplica: true,
    summary: 'Findings of all sources, the most urgent first',
    query: findingsQuery,
    answer: List(FindingView),
    handle: (call) => listFindings(call as never),
  }),
  endpoint({
    method: 'POST',
    path: '/findings/query',
    permission: 'view_findings',
    kind: 'A',
    fromReplica: true,
    reads: true,
    summary: 'Findings for which a predicate holds',
    body: Type.Object({ predicate: PredicateSchema, ...ListQuery, sort: SortQuery(findingSorts) }, closed),
    answer: List(FindingView),
    handle: async ({ sql, reach, body, now }) => {
      const predicate = checkPredicate(body.predicate, findingFields);
      const where = allOf(sql, [visibleFindings(sql, reach), toSql(sql, predicate, findingFields, now)]);
      const source = { table: 'vm_findings', where, sorts: findingSorts, sort: '-priority' };
      const page = await readPage<FindingRow>(sql, source, body);
      return { ...page, items: page.items.map((row) => viewFinding(row, now)) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/findings/facets',
    permission: 'view_findings',
    kind: 'A',
    fromReplica: true,
    summary: `How many by severity, source, status, application and CWE (${facetMax} of each) under the same filters`,
    query: Type.Object(FindingFilters, closed),
    answer: Type.Object({ severity: Counts, source: Counts, status: Counts, application_id: Counts, cwe: Counts }),
    handle: async ({ sql, reach, query, now }) => {
      const where = whereOf(sql, reach, query, now);
      const rows = await sql<{ facet: string; value: string; n: number }[]>`
        with found as materialized (
          select severity, source, status, application_id, cwes from vm_findings where ${where})
        (select 'severity' as facet, severity::text as value, count(*) as n from found group by 2)
        union all (select 'source', source, count(*) from found group by 2)
        union all (select 'status', status, count(*) from found group by 2)
        union all (select 'application_id', application_id::text, count(*) from found group by 2
          order by 3 desc, 2 limit ${facetMax})
        union all (select 'cwe', 'CWE-' || one, count(*) from found, jsonb_array_elements_text(cwes) as one group by 2
          order by 3 desc, 2 limit ${facetMax})`;
      const facets: Record<string, Record<string, number>> = {
        severity: {},
        source: {},
        status: {},
        application_id: {},
        cwe: {},
      };
      for (const { facet, value, n } of rows) {
        const name = facet === 'severity' ? (severityNames[Number(value)] ?? value) : value;
        (facets[facet] ??= {})[name] = n;
      }
      return facets;
    },
  }),
  endpoint({
    method: 'GET',
    path: '/findings/stats',
    permission: 'view_findings',
    kind: 'A',
    fromReplica: true,
    summary: 'Open findings by severity, the overdue ones, and the flow of the last days',
    query: Type.Object(
      { days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })), ...FindingFilters },
      closed,
    ),
    answer: Type.Object({
      open: Counts,
      open_total: Type.Integer(),
      closed_total: Type.Integer(),
      overdue: Type.Integer(),
      new: Type.Integer(),
      fixed: Type.Integer(),
      reopened: Type.Integer(),
      mean_days_to_fix: Nullable(Type.Number()),
      age_days: Counts,
    }),
    handle: async ({ sql, reach, query, now }) => {
      const { days = 30, ...filters } = query;
      const since = new Date(now.getTime() - days * 86_400_000);
      const where = whereOf(sql, reach, filters, now);
      const [row] = await sql<Record<string, number | null>[]>`
        select ${sql.unsafe(openBySeverity)},
          count(*) filter (where is_open) as open_total, count(*) filter (where not is_open) as closed_total,
          count(*) filter (where is_open and due_at < ${now}) as overdue,
          count(*) filter (where first_seen >= ${since}) as created,
          count(*) filter (where status = 'resolved' and closed_at >= ${since}) as fixed,
          avg(extract(epoch from closed_at - first_seen) / 86400)
            filter (where status = 'resolved' and closed_at >= ${since})::float8 as mean_days,
          count(*) filter (where is_open and first_seen >= ${new Date(now.getTime() - 7 * 86_400_000)}) as week,
          count(*) filter (where is_open and first_seen >= ${new Date(now.getTime() - 30 * 86_400_000)}) as month,
          count(*) filter (where is_open and first_seen >= ${new Date(now.getTime() - 90 * 86_400_000)}) as quarter
        from vm_findings where ${where}`;
      const [again] = await sql<{ n: number }[]>`
        select count(distinct finding_id) as n from vm_transitions
        where to_status = 'reopened' and at >= ${since} and finding_id in (select id from vm_findings where ${where})`;
      const n = (name: string): number => row?.[name] ?? 0;
      return {
        open: Object.fromEntries(severityNames.map((name) => [name, n(name)])),
        open_total: n('open_total'),
        closed_total: n('closed_total'),
        overdue: n('overdue'),
        new: n('created'),
        fixed: n('fixed'),
        reopened: again?.n ?? 0,
        mean_days_to_fix: row?.['mean_days'] == null ? null : Math.round(row['mean_days'] * 10) / 10,
        age_days: {
          '0-7': n('week'),
          '8-30': n('month') - n('week'),
          '31-90': n('quarter') - n('month'),
          '90+': n('open_total') - n('quarter'),
        },
      };
    },
  }),
];

const View = Type.Object({
  id: Type.String(),
  name: Type.String(),
  query: Type.Unknown(),
  columns: Type.Array(Type.String()),
  shared: Type.Boolean(),
  owner_id: Type.String(),
  created_at: Time,
});
interface ViewRow {
  readonly id: number;
  readonly name: string;
  readonly query: unknown;
  readonly columns: readonly string[];
  readonly shared: boolean;
  readonly owner_id: string;
  readonly created_at: Date;
}
const viewView = (row: ViewRow) => ({ ...row, id: String(row.id), created_at: row.created_at.toISOString() });

const saved: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/findings/views',
    permission: 'view_findings',
    kind: 'C',
    summary: 'Saved filters: my own, and those that are shared',
    answer: Type.Object({ items: Type.Array(View) }),
    handle: async ({ sql, caller }) => {
      const rows = await sql<ViewRow[]>`
        select * from vm_views where shared or owner_id = ${caller.person.userId} order by name, id limit 500`;
      return { items: rows.map(viewView) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/findings/views',
    permission: 'self',
    kind: 'C',
    summary: 'Save a filter: a predicate under a name',
    body: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 100 }),
        query: PredicateSchema,
        columns: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 50 })),
        shared: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    status: 201,
    answer: View,
    handle: async (call) => {
      const { body, caller, now } = call;
      const query = checkPredicate(body.query, findingFields, '/query');
      if (body.shared === true) requireWhole(caller.reach('view_findings', true), 'Shared filters');
      const row = await call.audited('vm.create', `saved the filter ${body.name}`, async (tx) => {
        const [made] = await tx<ViewRow[]>`
          insert into vm_views (name, owner_id, query, columns, shared, created_at)
          values (${body.name}, ${caller.person.userId}, ${json(tx, query)}, ${json(tx, body.columns ?? [])},
            ${body.shared ?? false}, ${now}) on conflict (owner_id, name) do nothing returning *`;
        if (made === undefined) throw new ApiError('conflict', `You have a filter ${body.name} already.`);
        return made;
      });
      return viewView(row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/findings/views/:id',
    permission: 'self',
    kind: 'C',
    summary: 'Delete one of my saved filters',
    status: 204,
    handle: async (call) => {
      const id = toId(call.params['id'] ?? '', 'saved filter');
      await call.audited('vm.delete', `deleted the saved filter ${id}`, async (tx) => {
        const [gone] = await tx<Pick<ViewRow, 'shared'>[]>`
          delete from vm_views where id = ${id} and owner_id = ${call.caller.person.userId} returning shared`;
        if (gone === undefined) throw notFound('saved filter', id);
        // a person takes back what they have shared, whatever they reach by now
        if (gone.shared && call.caller.token !== null)
          requireWhole(call.caller.reach('view_findings', true), 'Shared filters');
      });
    },
  }),
];

const bulkMax = 1000;
const BulkBody = Type.Object(
  {
    ids: Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: bulkMax, uniqueItems: true }),
    atomic: Type.Optional(Type.Boolean({ description: 'all of them, or none' })),
    action: OneOf(['transition', 'assign', 'tag']),
    to: Type.Optional(OneOf(statuses)),
    reason: Type.Optional(Type.String({ maxLength: 5000 })),
    justification: Type.Optional(OneOf(justifications)),
    user_id: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
    add: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { maxItems: 20 })),
    remove: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { maxItems: 20 })),
  },
  closed,
);
type Bulk = typeof BulkBody.static;

const bulk = endpoint({
  method: 'POST',
  path: '/vulnerabilities/bulk',
  permission: 'triage_findings',
  kind: 'B',
  summary: `Move, assign or tag up to ${bulkMax} findings; an answer for each`,
  body: BulkBody,
  answer: Type.Object({
    changed: Type.Integer(),
    failed: Type.Integer(),
    items: Type.Array(Type.Object({ id: Type.String(), ok: Type.Boolean(), detail: Nullable(Type.String()) })),
  }),
  handle: async (call) => {
    const { body, host } = call;
    if (body.action === 'transition' && body.to === undefined) throw unfit('/to', 'is missing');
    if (body.action === 'assign' && body.user_id === undefined) throw unfit('/user_id', 'is missing');
    if (typeof body.user_id === 'string' && (await host.identity.owner(body.user_id)) === null)
      throw unfit('/user_id', 'is no active user');
    const items = await call.audited(
      'vm.transition',
      (made: readonly { ok: boolean }[]) =>
        `changed ${made.filter(({ ok }) => ok).length} findings at once (${body.action})`,
      async (tx) => {
        const done: { id: string; ok: boolean; detail: string | null }[] = [];
        // always in the order of ids, so that two such requests never wait for each other in a circle
        for (const id of [...body.ids].sort((left, right) => Number(left) - Number(right)))
          done.push({ id, ...(await tryOne(tx, call, id, body)) });
        return done;
      },
      () => body,
    );
    const failed = items.filter(({ ok }) => !ok).length;
    return { changed: items.length - failed, failed, items };
  },
});

async function tryOne(tx: Tx, call: Call, id: string, body: Bulk): Promise<{ ok: boolean; detail: string | null }> {
  try {
    await tx.savepoint((inner) => changeOne(inner, call, id, body));
    return { ok: true, detail: null };
  } catch (error) {
    if (!(error instanceof ApiError) || body.atomic === true) throw error;
    return { ok: false, detail: error.message };
  }
}

async function changeOne(tx: Tx, call: Call, id: string, body: Bulk): Promise<void> {
  const row = await requireFinding(tx, call.reach, id, true);
  if (body.action === 'transition') {
    const { reason, justification } = body;
    const wanted = {
      to: body.to as Status,
      by: 'person' as const,
      ...(reason === undefined ? {} : { reason }),
      ...(justification === undefined ? {} : { justification }),
    };
    await transition(tx, row, wanted, call.caller.actor, call.now);
    return;
  }
  if (body.action === 'assign') {
    await tx`
      update vm_findings set assignee_id = ${body.user_id ?? null}, updated_at = ${call.now}, version = version + 1
      where id = ${row.id}`;
    return;
  }
  const tags = [...new Set([...row.tags.filter((tag) => !(body.remove ?? []).includes(tag)), ...(body.add ?? [])])];
  if (tags.length > 50) throw new ApiError('conflict', 'A finding has 50 tags at most.');
  await tx`update vm_findings set tags = ${json(tx, tags)}, updated_at = ${call.now}, version = version + 1
    where id = ${row.id}`;
}

/** `bulk` stands before the routes with an id in the document; the router does not mind. */
export const hubEndpoints: readonly Endpoint[] = [...reading, ...saved, bulk];
