// SLA policies and clocks, policies, assessments, the audit log and runs.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { allOf } from '../database.js';
import { ofActive } from '../assets/archived.js';
import { Id, inApplication, Name, requireApplication, visibleByApplication } from '../assets/resources.js';
import { findingFields, FindingView, viewFinding, type FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { refreshWhere } from '../findings/refresh.js';
import { severityNames } from '../findings/words.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { checkPredicate, PredicateSchema, toSql } from '../kit/predicate.js';
import { resourceEndpoints, type Resource } from '../kit/resource.js';
import { runStatuses, RunView, viewRun, type Run } from '../kit/runs.js';
import { textOf } from '../kit/values/text.js';
import { ChecklistItem, settle, type Item } from './assessments/checklist.js';
import { assessmentMoves, requireMove } from './assessments/moves.js';
import { auditEndpoints } from './audit-endpoints.js';
import { eventEndpoints } from './event-endpoints.js';

const closed = { additionalProperties: false } as const;

const slaPolicies: Resource = {
  path: '/sla/policies',
  noun: 'SLA policy',
  table: 'vm_sla_policies',
  ofOrganisation: 'SLA policies',
  view: 'view_sla',
  edit: 'manage_sla',
  defaultSort: 'position',
  visible: (sql, reach) => (reach.all ? sql`true` : sql`false`),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, sort: 'text' },
    position: { schema: Type.Integer({ minimum: 0, maximum: 1000 }), as: 'plain', write: 'always', sort: 'number' },
    selector: { schema: PredicateSchema, as: 'json', write: 'always', required: true },
    matrix: {
      schema: Type.Object(
        Object.fromEntries(
          severityNames.map((name) => [name, Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 3650 })))]),
        ),
        closed,
      ),
      as: 'json',
      write: 'always',
      required: true,
    },
    business_days: { schema: Type.Boolean(), as: 'plain', write: 'always' },
    patched_days: {
      schema: Type.Integer({
        minimum: 0,
        maximum: 365,
        description: 'days that a proven virtual patch adds to terms of more than three days; 14 where it is not given',
      }),
      as: 'plain',
      write: 'always',
    },
  },
  check: async (_tx, _call, values) => {
    if (values['selector'] !== undefined) checkPredicate(values['selector'], findingFields, '/selector');
  },
  after: async (tx, call) => void (await refreshWhere(tx, tx`f.is_open`, call.now)),
  beforeDelete: async (tx, call, row) => {
    await tx`delete from vm_sla_policies where id = ${row.id}`;
    await refreshWhere(tx, tx`f.is_open`, call.now);
  },
};

const policies: Resource = {
  path: '/policies',
  noun: 'policy',
  table: 'vm_policies',
  ofOrganisation: 'Policies',
  view: 'view_policies',
  edit: 'manage_policies',
  defaultSort: 'name',
  visible: (sql, reach) => (reach.all ? sql`true` : sql`false`),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    predicate: { schema: PredicateSchema, as: 'json', write: 'always', required: true },
    action: {
      schema: OneOf(['violation', 'gate', 'notify']),
      as: 'plain',
      write: 'always',
      required: true,
      filter: 'equal',
    },
    severity: { schema: OneOf(severityNames), as: 'plain', write: 'always' },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
  },
  check: async (_tx, _call, values) => {
    if (values['predicate'] !== undefined) checkPredicate(values['predicate'], findingFields);
  },
};

const assessments: Resource = {
  path: '/assessments',
  noun: 'assessment',
  table: 'vm_assessments',
  view: 'view_findings',
  edit: 'edit_findings',
  visible: visibleByApplication('vm_assessments'),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    application_id: { schema: Id, as: 'id', write: 'create', required: true, filter: 'equal' },
    kind: {
      schema: OneOf(['pentest', 'review', 'threat-model', 'audit']),
      as: 'plain',
      write: 'always',
      filter: 'equal',
    },
    scope: { schema: Type.String({ maxLength: 5000 }), as: 'plain', write: 'always' },
    lead: { schema: Type.String({ maxLength: 200 }), as: 'plain', write: 'always' },
    status: { schema: OneOf(['planned', 'active', 'review', 'closed']), as: 'plain', write: 'always', filter: 'equal' },
    checklist: { schema: Type.Array(ChecklistItem, { maxItems: 500 }), as: 'json', write: 'always' },
  },
  check: async (tx, call, values, before) => {
    await inApplication.check?.(tx, call, values, before);
    const status = textOf(values['status'] ?? before?.['status'] ?? 'planned');
    requireMove(textOf(before?.['status'] ?? 'planned'), status);
    const kept = (before?.['checklist'] ?? []) as readonly Item[];
    const given = values['checklist'] as readonly Item[] | undefined;
    if (given !== undefined && before?.['status'] === 'closed' && status === 'closed')
      throw new ApiError('conflict', 'The assessment is closed. Move it to active first.');
    const isAsked = values['status'] !== undefined || given !== undefined;
    if (isAsked && status === 'closed' && (given ?? kept).some(({ result }) => result === 'open'))
      throw new ApiError('conflict', 'The assessment has items of its checklist that nobody has answered.');
    if (given === undefined) return;
    const owner = await requireApplication(
      tx,
      call.reach,
      textOf(values['application_id'] ?? before?.['application_id']),
    );
    values['checklist'] = await settle(tx, call, owner, given, kept);
  },
};

const clocks: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/sla/clocks',
    permission: 'view_sla',
    kind: 'A',
    fromReplica: true,
    summary: 'Open findings with a deadline, the next one first',
    query: Type.Object({ ...ListQuery, breached: Type.Optional(Type.Boolean()) }, closed),
    answer: List(FindingView),
    handle: async ({ sql, reach, query, now }) => {
      const where = allOf(sql, [
        visibleFindings(sql, reach),
        sql`is_open and due_at is not null and ${ofActive(sql)}`,
        query.breached === undefined ? sql`true` : sql`(due_at < ${now}) = ${query.breached}`,
      ]);
      const sorts = { due_at: { column: 'due_at', type: 'time' } } as const;
      const page = await readPage<FindingRow>(sql, { table: 'vm_findings', where, sorts, sort: 'due_at' }, query);
      return { ...page, items: page.items.map((row) => viewFinding(row, now)) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/policies/:id/evaluate',
    permission: 'view_policies',
    kind: 'B',
    reads: true,
    summary: 'Which open findings a policy holds for',
    answer: Type.Object({ count: Type.Integer(), sample: Type.Array(FindingView) }),
    handle: async ({ sql, reach, params, now }) => {
      const id = toId(params['id'] ?? '', 'policy');
      const [policy] = await sql<{ predicate: never }[]>`select predicate from vm_policies where id = ${id}`;
      if (policy === undefined || !reach.all) throw notFound('policy', id);
      const where = allOf(sql, [
        visibleFindings(sql, reach),
        sql`is_open and ${ofActive(sql)}`,
        toSql(sql, policy.predicate, findingFields, now),
      ]);
      const [count] = await sql<{ n: number }[]>`select count(*) as n from vm_findings where ${where}`;
      const rows = await sql<FindingRow[]>`
        select * from vm_findings where ${where} order by priority_score desc, id limit 20`;
      return { count: count?.n ?? 0, sample: rows.map((row) => viewFinding(row, now)) };
    },
  }),
];

const work: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/runs',
    permission: 'view_scans',
    kind: 'R',
    summary: 'Jobs of all kinds, newest first',
    query: Type.Object(
      { ...ListQuery, kind: Type.Optional(Type.String({ maxLength: 40 })), status: Type.Optional(SomeOf(runStatuses)) },
      closed,
    ),
    answer: List(RunView),
    handle: async ({ sql, reach, query }) => {
      const where = allOf(sql, [
        visibleByApplication('vm_runs')(sql, reach),
        query.kind === undefined ? sql`true` : sql`kind = ${query.kind}`,
        query.status === undefined ? sql`true` : hasOneOf(sql, 'status', query.status),
      ]);
      const sorts = { id: { column: 'id', type: 'number' } } as const;
      const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts, sort: '-id' }, query);
      return { ...page, items: page.items.map(viewRun) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/runs/:id',
    permission: 'view_scans',
    kind: 'R',
    summary: 'One job',
    answer: RunView,
    handle: async ({ sql, reach, params }) => {
      const id = toId(params['id'] ?? '', 'run');
      const [row] = await sql<Run[]>`
        select * from vm_runs where id = ${id} and ${visibleByApplication('vm_runs')(sql, reach)}`;
      if (row === undefined) throw notFound('run', id);
      return viewRun(row);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/runs/:id/cancel',
    permission: 'run_scans',
    kind: 'S',
    summary: 'Ask a job to stop',
    answer: RunView,
    handle: async (call) => {
      const id = toId(call.params['id'] ?? '', 'run');
      const row = await call.audited('vm.transition', `canceled the run ${id}`, async (tx) => {
        const [found] = await tx<Run[]>`
          select * from vm_runs where id = ${id} and ${visibleByApplication('vm_runs')(tx, call.reach)} for update`;
        if (found === undefined) throw notFound('run', id);
        if (found.status !== 'queued' && found.status !== 'running')
          throw new ApiError('conflict', `The run is over: it ${found.status}.`);
        const [made] = await tx<Run[]>`
          update vm_runs set cancel_asked = true,
            status = case when status = 'queued' then 'canceled' else status end,
            finished_at = case when status = 'queued' then ${call.now}::timestamptz else null end
          where id = ${id} returning *`;
        return made ?? found;
      });
      return viewRun(row);
    },
  }),
];

export const governanceEndpoints: readonly Endpoint[] = [
  ...resourceEndpoints(slaPolicies),
  ...clocks,
  ...resourceEndpoints(policies),
  ...resourceEndpoints(assessments),
  ...assessmentMoves(assessments, ChecklistItem),
  ...auditEndpoints,
  ...work,
  ...eventEndpoints,
];
