// Threats of a model: how each stands, and what people decide.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../assets/resources.js';
import { allOf, json, type Queryable } from '../database.js';
import { severityNames, severityNumbers } from '../findings/words.js';
import { hasOneOf, listOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { findMove, type Machine } from '../kit/machine.js';
import { checkVersion, requireRow } from '../kit/resource.js';
import { ruleById } from './rules/index.js';
import { strides } from './rules/rule.js';
import { findingsFor, firewallOf, isProven, standingOf, standings, type Linked } from './standing.js';
import { threatStates, type ThreatRow, type ThreatState } from './store.js';
import type { FirewallAnswers } from '../host.js';

const closed = { additionalProperties: false } as const;

/** What is decided is open again before something else is decided of it. */
const machine: Machine<ThreatState> = {
  noun: 'threat',
  moves: [
    { from: ['open'], to: 'mitigated', by: ['person'], permission: 'edit_threat_models' },
    { from: ['open'], to: 'accepted', by: ['person'], permission: 'edit_threat_models', needs: ['reason'] },
    { from: ['open'], to: 'not_applicable', by: ['person'], permission: 'edit_threat_models', needs: ['reason'] },
    { from: ['mitigated', 'accepted', 'not_applicable'], to: 'open', by: ['person'] },
  ],
};

const ThreatView = Type.Object({
  id: Type.String(),
  model_id: Type.String(),
  key: Type.String({ description: 'the same in every round' }),
  rule: Type.String(),
  stride: OneOf(strides),
  title: Type.String(),
  about: Type.String(),
  fix: Type.String(),
  cwes: Type.Array(Type.Integer()),
  subject: Type.Object({ kind: OneOf(['element', 'flow']), id: Type.String(), name: Type.String() }),
  severity: OneOf(severityNames),
  status: OneOf(threatStates),
  reason: Type.String(),
  control: Type.String(),
  current: Type.Boolean({ description: 'false: the model no longer has it' }),
  standing: OneOf(
    standings,
    'exposed: an open finding of its weaknesses; covered: a measure of the firewall holds; possible: neither is known',
  ),
  measures: Type.Array(Type.Object({ name: Type.String(), holds: Type.Boolean(), reason: Type.String() })),
  open_findings: Type.Integer(),
  findings: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String(),
      severity: OneOf(severityNames),
      status: Type.String(),
      proven: Type.Boolean(),
      virtually_patched: Type.Boolean(),
      linked_by_hand: Type.Boolean(),
    }),
    { description: 'the first ten that you may see' },
  ),
  decided_by: Nullable(Type.String()),
  decided_at: Nullable(Time),
  version: Type.Integer(),
  created_at: Time,
  updated_at: Time,
});

interface About {
  readonly site: string | null;
  readonly answers: FirewallAnswers | null;
  readonly findings: readonly Linked[];
}

function view(row: ThreatRow, { site, answers, findings }: About) {
  const rule = ruleById.get(row.rule);
  return {
    ...{ id: String(row.id), model_id: String(row.model_id), key: row.key, rule: row.rule, stride: row.stride },
    ...{ title: row.title, about: rule?.about ?? '', fix: rule?.fix ?? '', cwes: rule?.cwes ?? [] },
    subject: { kind: row.subject_kind, id: row.subject_id, name: row.subject_name },
    severity: severityNames[row.severity] ?? 'info',
    ...{ status: row.status, reason: row.reason, control: row.control, current: row.is_current },
    ...standingOf(row, site, answers, findings),
    ...{ decided_by: row.decided_by, decided_at: row.decided_at?.toISOString() ?? null, version: row.version },
    ...{ created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() },
  };
}

const models = {
  table: 'vm_threat_models',
  noun: 'threat model',
  visible: visibleByApplication('vm_threat_models'),
} as const;

async function applicationOf(sql: Queryable, call: Call, lock = false) {
  const model = await requireRow(sql, models, call.reach, call.params['id'] ?? '', lock);
  const [row] = await sql<{ id: number; site: string | null }[]>`
    select id, site from vm_applications where id = ${model['application_id'] as number}`;
  return { model: model.id, application: row?.id ?? 0, site: row?.site ?? null };
}

const findingsReach = ({ caller }: Pick<Call, 'caller'>) => caller.reach('view_findings', false);

async function aboutOf(
  sql: Queryable,
  call: Call,
  of: { readonly application: number; readonly site: string | null },
  rows: readonly ThreatRow[],
  answers: FirewallAnswers | null,
): Promise<About> {
  const rules = new Set(rows.map(({ rule }) => rule));
  const linked = rows.flatMap(({ finding_ids: ids }) => ids);
  const findings = await findingsFor(sql, of.application, findingsReach(call), rules, linked);
  return { site: of.site, answers, findings };
}

const sorts = {
  severity: { column: 'severity', type: 'number' },
  title: { column: 'title', type: 'text' },
  updated_at: { column: 'updated_at', type: 'time' },
} as const;

const list = endpoint({
  method: 'GET',
  path: '/threat-models/:id/threats',
  permission: 'view_threat_models',
  kind: 'C',
  summary: 'Threats of a model, the worst first: open findings and measures of the firewall at each',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      stride: Type.Optional(SomeOf(strides)),
      status: Type.Optional(SomeOf(threatStates)),
      severity: Type.Optional(SomeOf(severityNames)),
      subject_id: Type.Optional(Type.String({ maxLength: 120 })),
      current: Type.Optional(Type.Boolean({ default: true, description: 'false: those that the model no longer has' })),
    },
    closed,
  ),
  answer: List(ThreatView),
  handle: async (call) => {
    const { sql, query } = call;
    const of = await applicationOf(sql, call);
    const { stride, status, severity, subject_id: subject, current = true } = query;
    const numbers = severity === undefined ? [] : listOf(severity).map((name) => severityNumbers[name] ?? 0);
    const where = allOf(sql, [
      sql`model_id = ${of.model} and is_current = ${current}`,
      ...(stride === undefined ? [] : [hasOneOf(sql, 'stride', stride)]),
      ...(status === undefined ? [] : [hasOneOf(sql, 'status', status)]),
      ...(severity === undefined ? [] : [sql`severity in ${sql(numbers)}`]),
      ...(subject === undefined ? [] : [sql`subject_id = ${subject}`]),
    ]);
    const page = await readPage<ThreatRow>(sql, { table: 'vm_threats', where, sorts, sort: '-severity' }, query);
    const about = await aboutOf(sql, call, of, page.items, await firewallOf(call));
    return { ...page, items: page.items.map((row) => view(row, about)) };
  },
});

const Change = Type.Object(
  {
    status: Type.Optional(OneOf(threatStates)),
    reason: Type.Optional(Type.String({ maxLength: 2000 })),
    control: Type.Optional(Type.String({ maxLength: 2000, description: 'what stands against it' })),
    vuln_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 20 }), {
        maxItems: 100,
        description: 'findings of the application that show it; replaces those that are linked',
      }),
    ),
  },
  { ...closed, minProperties: 1, examples: [{ status: 'accepted', reason: 'Only staff reach it, for a month.' }] },
);

/** Ids of findings of the application that the caller sees. Throws 422 for any other. */
async function linkedOf(tx: Queryable, call: Call, application: number, given: readonly string[]): Promise<number[]> {
  const ids = [...new Set(given)].map((id) => Number(toId(id, 'finding')));
  const found = await findingsFor(tx, application, findingsReach(call), [], ids);
  const missing = ids.find((id) => !found.some((one) => one.id === id));
  if (missing !== undefined) throw unfit('/vuln_ids', `has ${missing}, which is no finding of this application`);
  return ids;
}

/** Throws 409 and 422 for what may not be decided. */
function checkMove(row: ThreatRow, to: ThreatState, given: { reason: string; control: string }, about: About): void {
  const move = findMove(machine, row.status, to, 'person');
  if (move.needs?.includes('reason') === true && given.reason.trim() === '')
    throw unfit('/reason', 'is missing', `say why the threat is ${to.replace('_', ' ')}`);
  if (to !== 'mitigated') return;
  const { measures } = standingOf(row, about.site, about.answers, about.findings);
  if (given.control.trim() === '' && !measures.some(({ holds }) => holds))
    throw unfit('/control', 'is missing', 'say what stands against it; no measure of the firewall holds');
  if (isProven(row, about.findings))
    throw new ApiError('conflict', 'An open finding is proven at run time or by an exploit: close or patch it first.');
}

const change = endpoint({
  method: 'PATCH',
  path: '/threat-models/:id/threats/:tid',
  permission: 'edit_threat_models',
  kind: 'S',
  summary: 'Decide of a threat, or link findings and a control to it (If-Match with its version is heeded)',
  body: Change,
  answer: ThreatView,
  handle: async (call) => {
    const answers = await firewallOf(call);
    const { status: to, reason, control, vuln_ids: given } = call.body;
    const made = await call.audited(
      'vm.transition',
      (one: { row: ThreatRow }) => `${to === undefined ? 'changed' : `set to ${to}`} the threat ${one.row.id}`,
      async (tx) => {
        const of = await applicationOf(tx, call, true);
        const id = call.params['tid'] ?? '';
        const [row] = await tx<ThreatRow[]>`
          select * from vm_threats where model_id = ${of.model} and id = ${toId(id, 'threat')} for update`;
        if (row === undefined) throw notFound('threat', id);
        checkVersion(call.request.headers['if-match'], row.version);
        const ids = given === undefined ? row.finding_ids : await linkedOf(tx, call, of.application, given);
        const next = { ...row, finding_ids: ids, reason: reason ?? row.reason, control: control ?? row.control };
        const about = await aboutOf(tx, call, of, [next], answers);
        if (to !== undefined && to !== row.status)
          checkMove(next, to, { reason: reason ?? '', control: next.control }, about);
        const isDecided = to !== undefined && to !== row.status;
        const values = {
          ...{ finding_ids: json(tx, ids), reason: next.reason, control: next.control, status: to ?? row.status },
          ...(isDecided ? { decided_by: call.caller.actor.name, decided_at: call.now } : {}),
          updated_at: call.now,
        };
        const [changed] = await tx<ThreatRow[]>`
          update vm_threats set ${tx(values as never)}, version = version + 1 where id = ${row.id} returning *`;
        if (changed === undefined) throw notFound('threat', id);
        return { row: changed, about };
      },
      ({ row }) => ({ key: row.key, status: row.status, reason: row.reason, finding_ids: row.finding_ids }),
    );
    call.reply.header('etag', `"${made.row.version}"`);
    return view(made.row, made.about);
  },
});

export const threatEndpoints: readonly Endpoint[] = [list, change];
