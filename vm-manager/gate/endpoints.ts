// /gate: what a commit has to satisfy, and whether it does.
import { ApiError, OneOf } from '#http-kit';
import { brandNameOf } from '../branding/current.js';
import { Type } from '@sinclair/typebox';
import { Name, requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, json } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, toMoment, unfit, When, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { checkPredicate, PredicateSchema } from '../kit/predicate.js';
import { resourceEndpoints, type Resource } from '../kit/resource.js';
import { applicationFields, checkConditions, ConditionSchema, metricNames, type Condition } from './conditions.js';
import { keep, look, type EvaluationRow } from './evaluate.js';
import { EvaluationView, toJunit, toSarif, viewEvaluation } from './view.js';

const closed = { additionalProperties: false } as const;
/** A name of a commit: what version control systems use, and nothing that a log would not show. */
export const Commit = Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' });

const gates: Resource = {
  path: '/gate/definitions',
  noun: 'gate',
  table: 'vm_gates',
  ofOrganisation: 'Gates',
  view: 'view_gates',
  edit: 'manage_gates',
  defaultSort: 'position',
  visible: (sql, reach) => (reach.all ? sql`true` : sql`false`),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    position: { schema: Type.Integer({ minimum: 0, maximum: 1000 }), as: 'plain', write: 'always', sort: 'number' },
    selector: { schema: Type.Union([PredicateSchema, Type.Null()]), as: 'json', write: 'always' },
    conditions: {
      schema: Type.Array(ConditionSchema, { minItems: 1, maxItems: 50 }),
      as: 'json',
      write: 'always',
      required: true,
    },
    mode: { schema: OneOf(['enforce', 'warn']), as: 'plain', write: 'always', filter: 'equal' },
    incomplete_reports: {
      schema: OneOf(['fail', 'allow']),
      as: 'plain',
      write: 'always',
      filter: 'equal',
    },
    baseline_branch: { schema: Type.String({ maxLength: 200 }), as: 'plain', write: 'always' },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
  },
  check: async (_tx, _call, values) => {
    const { selector, conditions } = values;
    if (selector !== undefined && selector !== null) checkPredicate(selector, applicationFields, '/selector');
    if (conditions !== undefined) checkConditions(conditions as Condition[]);
  },
};

const visible = visibleByApplication('vm_gate_evaluations');

async function requireEvaluation(call: Call, id = call.params['id'] ?? ''): Promise<EvaluationRow> {
  const [row] = await call.sql<EvaluationRow[]>`
    select * from vm_gate_evaluations
    where id = ${toId(id, 'evaluation')} and ${visible(call.sql, call.reach)}`;
  if (row === undefined) throw notFound('evaluation', id);
  return row;
}

const formats = { json: 'application/json', junit: 'application/xml', sarif: 'application/sarif+json' } as const;
const FormatQuery = Type.Object({ format: Type.Optional(OneOf(['json', 'junit', 'sarif'])) }, closed);

/** The evaluation in the form that was asked for. */
async function answer(call: Call, row: EvaluationRow, format: keyof typeof formats = 'json') {
  const { sql, reach, now, reply } = call;
  const shown = await viewEvaluation(sql, reach, row, now);
  reply.header('x-gate-verdict', shown.verdict).header('x-gate-exit-code', String(shown.exit_code));
  if (format === 'json') return shown;
  const ids = shown.blocking_vuln_ids;
  const rows =
    ids.length === 0
      ? []
      : await sql<FindingRow[]>`
    select * from vm_findings where id in ${sql(ids)} and ${visibleFindings(sql, reach)}`;
  const titles = new Map(rows.map((one) => [String(one.id), one]));
  reply.type(`${formats[format]}; charset=utf-8`);
  const brand = await brandNameOf(call.host);
  return format === 'junit' ? toJunit(shown, titles, brand) : toSarif(shown, titles, brand);
}

const evaluations: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/gate/evaluate',
    permission: 'run_ci',
    kind: 'B',
    summary: 'Whether a commit may go on: its findings and chains against the gate of its application',
    query: FormatQuery,
    body: Type.Object(
      {
        application_id: Type.String({ maxLength: 20 }),
        commit: Commit,
        baseline: Type.Optional(Commit),
      },
      closed,
    ),
    answer: EvaluationView,
    handle: async (call) => {
      const { application_id: id, commit, baseline = null } = call.body;
      const application = await requireApplication(call.sql, call.reach, id);
      if (baseline === commit) throw unfit('/baseline', 'is the commit itself');
      const looked = await look(call.host, application, commit, baseline, call.now);
      const row = await call.audited(
        'vm.gate',
        (made: EvaluationRow) => `asked the gate about ${commit} of ${application.name}: ${made.verdict}`,
        (tx) => keep(tx, looked, call.caller.actor.name, call.now),
        (made) => ({ evaluation_id: String(made.id), verdict: made.verdict, reason: made.snapshot.reason }),
      );
      return answer(call, row, call.query.format);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/gate/evaluations',
    permission: 'view_gates',
    kind: 'A',
    summary: 'Answers of the gate, newest first',
    query: Type.Object(
      {
        ...ListQuery,
        application_id: Type.Optional(Type.String({ maxLength: 20 })),
        commit: Type.Optional(Commit),
        verdict: Type.Optional(SomeOf(['pass', 'fail', 'warn'])),
      },
      closed,
    ),
    answer: List(EvaluationView),
    handle: async ({ sql, reach, query, now }) => {
      const { application_id: id, commit, verdict } = query;
      const where = allOf(sql, [
        visible(sql, reach),
        id === undefined ? sql`true` : /^\d{1,18}$/.test(id) ? sql`application_id = ${id}` : sql`false`,
        commit === undefined ? sql`true` : sql`commit = ${commit}`,
        verdict === undefined ? sql`true` : hasOneOf(sql, 'verdict', verdict),
      ]);
      const sorts = { id: { column: 'id', type: 'number' } } as const;
      const page = await readPage<EvaluationRow>(
        sql,
        { table: 'vm_gate_evaluations', where, sorts, sort: '-id' },
        query,
      );
      const items = [];
      for (const row of page.items) items.push(await viewEvaluation(sql, reach, row, now));
      return { ...page, items };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/gate/evaluations/:id',
    permission: 'view_gates',
    kind: 'A',
    summary: 'One answer as it was given, also as JUnit or SARIF',
    query: FormatQuery,
    answer: EvaluationView,
    handle: async (call) => answer(call, await requireEvaluation(call), call.query.format),
  }),
  endpoint({
    method: 'POST',
    path: '/gate/evaluations/:id/override',
    permission: 'override_gate',
    kind: 'S',
    summary: 'Let a commit through that the gate refused, with a reason, until a moment',
    body: Type.Object({ reason: Type.String({ minLength: 3, maxLength: 2000 }), expires_at: When }, closed),
    answer: EvaluationView,
    handle: async (call) => {
      const until = toMoment(call.body.expires_at, '/expires_at');
      if (!(until > call.now)) throw unfit('/expires_at', 'has to lie ahead');
      if (until.getTime() - call.now.getTime() > 90 * 86_400_000) throw unfit('/expires_at', 'is over 90 days ahead');
      const found = await requireEvaluation(call);
      const override = { by: call.caller.actor.name, reason: call.body.reason, at: call.now.toISOString() };
      const row = await call.audited(
        'vm.gate',
        `overrode the gate for ${found.commit}`,
        async (tx) => {
          const [made] = await tx<EvaluationRow[]>`
            update vm_gate_evaluations set override = ${json(tx, override)}, override_until = ${until}
            where id = ${found.id} and verdict = 'fail' returning *`;
          if (made === undefined) throw new ApiError('conflict', 'The gate did not refuse this commit.');
          return made;
        },
        () => ({ evaluation_id: String(found.id), ...override, until: call.body.expires_at }),
      );
      return answer(call, row);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/gate/metrics',
    permission: 'view_gates',
    kind: 'A',
    summary: 'What conditions can ask for',
    answer: Type.Object({ items: Type.Array(Type.String()) }),
    handle: async () => ({ items: metricNames }),
  }),
];

export const gateEndpoints: readonly Endpoint[] = [...resourceEndpoints(gates), ...evaluations];
