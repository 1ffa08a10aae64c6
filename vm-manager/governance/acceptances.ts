// Accepted risks: asked for by one person, decided by another, always with an end. While an acceptance holds, its
// findings are `risk_accepted` and their clocks stand still.
import { ApiError, Nullable, OneOf, systemActor, Time, type Actor } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { json, type Queryable, type Tx } from '../database.js';
import type { Reach } from '../kit/caller.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, unfit, When, type Call, type Endpoint } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import { findMove, type Machine } from '../kit/machine.js';
import { List, ListQuery, readPage, type SortColumn } from '../kit/list.js';
import { checkEnd } from './mutes.js';
import type { FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { requireFinding } from '../findings/store.js';
import { transition } from '../findings/transition.js';
import { isOpen } from '../findings/words.js';
import { namesOf } from '../vex/names.js';

const closed = { additionalProperties: false } as const;
const states = ['pending', 'approved', 'rejected', 'revoked', 'expired'] as const;
type State = (typeof states)[number];
const findingsMax = 1000;

const machine: Machine<State> = {
  noun: 'acceptance',
  moves: [
    { from: ['pending'], to: 'approved', by: ['person'], permission: 'approve_acceptance' },
    { from: ['pending'], to: 'rejected', by: ['person'], permission: 'approve_acceptance' },
    { from: ['approved', 'pending'], to: 'revoked', by: ['person'], permission: 'approve_acceptance' },
    { from: ['approved', 'pending'], to: 'expired', by: ['clock'] },
  ],
};

export interface Row {
  readonly id: number;
  readonly title: string;
  readonly decision: string;
  readonly status: State;
  readonly justification: string;
  readonly compensating_controls: string;
  readonly expires_at: Date;
  readonly on_expiry: 'resume' | 'restart';
  readonly requested_by: string;
  readonly requested_by_name: string;
  readonly decided_by_name: string | null;
  readonly decided_at: Date | null;
  readonly decision_reason: string;
  readonly version: number;
  readonly created_at: Date;
}

export const AcceptanceView = Type.Object({
  id: Type.String(),
  title: Type.String(),
  decision: Type.String(),
  status: OneOf(states),
  vuln_ids: Type.Array(Type.String()),
  justification: Type.String(),
  compensating_controls: Type.String(),
  expires_at: Time,
  on_expiry: Type.String(),
  requested_by: Type.String(),
  decided_by: Nullable(Type.String()),
  decided_at: Nullable(Time),
  decision_reason: Type.String(),
  extensions: Type.Array(Type.Object({ from: Time, to: Time, reason: Type.String(), by: Type.String(), at: Time }), {
    description: 'later ends that it was given, the first one first',
  }),
  version: Type.Integer(),
  created_at: Time,
});

export async function view(sql: Queryable, row: Row) {
  const rows = await sql<{ finding_id: number }[]>`
    select finding_id from vm_acceptance_findings where acceptance_id = ${row.id} order by finding_id`;
  const longer = await sql<{ from_at: Date; to_at: Date; reason: string; by_name: string; at: Date }[]>`
    select * from vm_acceptance_extensions where acceptance_id = ${row.id} order by id limit 200`;
  return {
    id: String(row.id),
    title: row.title,
    decision: row.decision,
    status: row.status,
    vuln_ids: rows.map(({ finding_id }) => String(finding_id)),
    justification: row.justification,
    compensating_controls: row.compensating_controls,
    expires_at: row.expires_at.toISOString(),
    on_expiry: row.on_expiry,
    requested_by: row.requested_by_name,
    decided_by: row.decided_by_name,
    decided_at: row.decided_at?.toISOString() ?? null,
    decision_reason: row.decision_reason,
    extensions: longer.map((one) => ({
      from: one.from_at.toISOString(),
      to: one.to_at.toISOString(),
      reason: one.reason,
      by: one.by_name,
      at: one.at.toISOString(),
    })),
    version: row.version,
    created_at: row.created_at.toISOString(),
  };
}

/** Acceptances all of whose findings somebody reaches: part of one would tell of the rest. */
const visible = (sql: Queryable, reach: Reach) => sql`not exists (
  select 1 from vm_acceptance_findings l where l.acceptance_id = vm_acceptances.id
    and l.finding_id not in (select id from vm_findings where id = l.finding_id and ${visibleFindings(sql, reach)}))`;

export async function requireAcceptance(tx: Tx, reach: Reach, id: string): Promise<Row> {
  const [row] = await tx<Row[]>`
    select * from vm_acceptances where id = ${toId(id, 'acceptance')} and ${visible(tx, reach)} for update`;
  if (row === undefined) throw notFound('acceptance', id);
  return row;
}

const findingsOf = (tx: Tx, id: number) => tx<FindingRow[]>`
  select f.* from vm_findings f join vm_acceptance_findings l on l.finding_id = f.id
  where l.acceptance_id = ${id} order by f.id for update of f`;

async function decide(tx: Tx, row: Row, to: State, by: 'person' | 'clock', actor: Actor, reason: string, now: Date) {
  findMove(machine, row.status, to, by);
  const [made] = await tx<Row[]>`
    update vm_acceptances set status = ${to}, version = version + 1, updated_at = ${now}, decision_reason = ${reason},
      decided_by = ${actor.id}, decided_by_name = ${actor.name}, decided_at = ${now}
    where id = ${row.id} returning *`;
  const type = to === 'expired' ? 'acceptance.expired' : 'acceptance.decided';
  await emit(tx, [{ type, entity: 'acceptance', entityId: row.id, applicationId: null, payload: { status: to } }], now);
  return made ?? row;
}

/** Gives findings of an acceptance that has ended their state back, unless another one still holds for them. */
async function release(tx: Tx, row: Row, by: 'policy' | 'clock', actor: Actor, now: Date): Promise<void> {
  for (const finding of await findingsOf(tx, row.id)) {
    if (finding.status !== 'risk_accepted') continue;
    const [other] = await tx`
      select 1 from vm_acceptance_findings l join vm_acceptances a on a.id = l.acceptance_id
      where l.finding_id = ${finding.id} and a.id <> ${row.id} and a.status = 'approved' limit 1`;
    if (other !== undefined) continue;
    const reason = by === 'clock' ? `the acceptance ${row.id} has expired` : `the acceptance ${row.id} was revoked`;
    await transition(tx, finding, { to: finding.previous_status ?? 'new', by, reason }, actor, now);
    if (by === 'clock' && row.on_expiry === 'restart')
      await tx`update vm_findings set sla_start = ${now}, sla_paused_ms = 0,
        sla_paused_at = case when sla_held then ${now}::timestamptz end,
        due_at = case when sla_days is null then null else ${now}::timestamptz + sla_days * interval '1 day' end
        where id = ${finding.id}`;
  }
}

/** For the background: ends acceptances whose time is over. Returns how many. */
export async function expireAcceptances(tx: Tx, now: Date): Promise<number> {
  const rows = await tx<Row[]>`
    select * from vm_acceptances where status in ('approved', 'pending') and expires_at <= ${now}
    order by id for update`;
  for (const row of rows) {
    await decide(tx, row, 'expired', 'clock', systemActor, 'its time is over', now);
    if (row.status === 'approved') await release(tx, row, 'clock', systemActor, now);
  }
  return rows.length;
}

/** For the background: says once of an acceptance that it ends soon, early enough to ask for another one. */
export async function tellOfEnds(tx: Tx, now: Date): Promise<void> {
  const rows = await tx<{ id: number; expires_at: Date }[]>`
    update vm_acceptances set end_told_at = ${now}
    where status = 'approved' and expires_at > ${now} and end_told_at is null
      and expires_at - least(interval '7 days', (expires_at - coalesce(decided_at, created_at)) / 5) <= ${now}
    returning id, expires_at`;
  const events = [...rows]
    .sort((left, right) => left.id - right.id)
    .map(({ id, expires_at: end }) => ({
      type: 'acceptance.expiring' as const,
      entity: 'acceptance' as const,
      entityId: id,
      applicationId: null,
      payload: { expires_at: end.toISOString() },
    }));
  await emit(tx, events, now);
}

const sorts: Readonly<Record<string, SortColumn>> = {
  id: { column: 'id', type: 'number' },
  expires_at: { column: 'expires_at', type: 'time' },
};

const Reason = Type.Object({ reason: Type.Optional(Type.String({ maxLength: 5000 })) }, closed);

function decision(path: string, to: 'approved' | 'rejected' | 'revoked', summary: string): Endpoint {
  return endpoint({
    method: 'POST',
    path: `/acceptances/:id/${path}`,
    permission: 'approve_acceptance',
    kind: 'S',
    summary,
    body: Reason,
    answer: AcceptanceView,
    handle: async (call) => {
      const { caller, now } = call;
      const row = await call.audited(
        'vm.transition',
        (made: Row) => `made the acceptance ${made.id} ${to}`,
        async (tx) => {
          const before = await requireAcceptance(tx, call.reach, call.params['id'] ?? '');
          if (to === 'approved' && before.requested_by === caller.person.userId)
            throw new ApiError('role_denied', 'Somebody else has to decide what you have asked for.');
          if (to === 'approved' && before.expires_at <= now)
            throw new ApiError('conflict', 'Its time is over already; ask for another one.');
          const made = await decide(tx, before, to, 'person', caller.actor, call.body.reason ?? '', now);
          if (to === 'approved') await acceptAll(tx, made, caller.actor, now);
          if (to === 'revoked' && before.status === 'approved') await release(tx, made, 'policy', caller.actor, now);
          return made;
        },
      );
      return view(call.sql, row);
    },
  });
}

async function acceptAll(tx: Tx, row: Row, actor: Actor, now: Date): Promise<void> {
  for (const finding of await findingsOf(tx, row.id))
    if (isOpen(finding.status))
      await transition(tx, finding, { to: 'risk_accepted', by: 'policy', reason: row.justification }, actor, now);
}

const leftOutShown = 200;

interface Meant {
  readonly findings: readonly { readonly id: number }[];
  readonly leftOut: readonly { readonly vuln_id: string; readonly reason: string }[];
}

/**
 * Open findings of a vulnerability, by any of its names, in every application within reach. What the caller sees and
 * may ask for nothing of is left out, and said. Throws 422 for none and for more than one acceptance has.
 */
async function meantBy(tx: Tx, call: Call, cve: string, project: string | undefined): Promise<Meant> {
  const names = [...((await namesOf(tx, [cve.toUpperCase()])).get(cve.toUpperCase()) ?? [])];
  const seen = call.caller.reach('view_findings', false);
  const of = project === undefined ? tx`true` : tx`project_id = ${toId(project, 'project')}`;
  const rows =
    seen === null
      ? []
      : await tx<{ id: number; mine: boolean }[]>`
          select id, ${visibleFindings(tx, call.reach)} as mine from vm_findings
          where is_open and ${of} and ${visibleFindings(tx, seen)}
            and id in (select f.id from vm_findings f join jsonb_array_elements_text(${json(tx, names)}) n(name)
              on f.vuln_ids @> jsonb_build_array(n.name))
          order by id limit ${findingsMax + 1}`;
  if (rows.length > findingsMax)
    throw unfit(
      '/cve',
      `is of more than ${findingsMax} open findings`,
      'ask for one project after the other (project_id)',
    );
  const findings = rows.filter(({ mine }) => mine);
  if (findings.length === 0) throw unfit('/cve', 'is of no open finding that you may ask this for');
  const leftOut = rows.filter(({ mine }) => !mine);
  const reason = 'you may see it, and ask for no acceptance there';
  return { findings, leftOut: leftOut.map(({ id }) => ({ vuln_id: String(id), reason })) };
}

const request = endpoint({
  method: 'POST',
  path: '/acceptances',
  permission: 'request_acceptance',
  kind: 'C',
  summary:
    'Ask for the risk of findings to be accepted, or of one vulnerability everywhere (cve); another user decides',
  body: Type.Object(
    {
      title: Type.String({ minLength: 1, maxLength: 200 }),
      decision: OneOf(['accept', 'reduce', 'avoid', 'transfer']),
      vuln_ids: Type.Optional(
        Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: findingsMax, uniqueItems: true }),
      ),
      cve: Type.Optional(
        Type.String({
          minLength: 3,
          maxLength: 60,
          pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]+$',
          description: 'in the place of vuln_ids: its open findings in every application that you may ask this for',
        }),
      ),
      project_id: Type.Optional(Type.String({ maxLength: 20, description: 'of cve: in this project alone' })),
      justification: Type.String({ minLength: 1, maxLength: 10_000 }),
      compensating_controls: Type.Optional(Type.String({ maxLength: 10_000 })),
      expires_at: When,
      on_expiry: Type.Optional(OneOf(['resume', 'restart'])),
    },
    closed,
  ),
  status: 201,
  answer: Type.Object({
    ...AcceptanceView.properties,
    left_out: Type.Array(Type.Object({ vuln_id: Type.String(), reason: Type.String() }), {
      description: `of cve: findings that you see, and may not ask this for; ${leftOutShown} at most`,
    }),
    left_out_total: Type.Integer(),
  }),
  handle: async (call) => {
    const { body, now, caller } = call;
    const { vuln_ids: ids, cve } = body;
    const end = checkEnd(body.expires_at, now);
    if ((ids === undefined) === (cve === undefined)) throw unfit('/vuln_ids', 'or /cve is needed, and not both');
    let leftOut: Meant['leftOut'] = [];
    const row = await call.audited(
      'vm.create',
      (made: Row) => `asked for the acceptance ${made.id}`,
      async (tx) => {
        const meant =
          cve === undefined
            ? { findings: await Promise.all((ids ?? []).map((id) => requireFinding(tx, call.reach, id))), leftOut: [] }
            : await meantBy(tx, call, cve, body.project_id);
        const { findings } = meant;
        leftOut = meant.leftOut;
        const [made] = await tx<Row[]>`
        insert into vm_acceptances ${tx({
          title: body.title,
          decision: body.decision,
          justification: body.justification,
          compensating_controls: body.compensating_controls ?? '',
          expires_at: end,
          on_expiry: body.on_expiry ?? 'resume',
          requested_by: caller.person.userId,
          requested_by_name: caller.actor.name,
          created_at: now,
          updated_at: now,
        })} returning *`;
        if (made === undefined) throw new Error('the acceptance was not stored');
        const links = findings.map(({ id }) => ({ acceptance_id: made.id, finding_id: id }));
        await tx`insert into vm_acceptance_findings ${tx(links)}`;
        await emit(
          tx,
          [{ type: 'acceptance.requested', entity: 'acceptance', entityId: made.id, applicationId: null }],
          now,
        );
        return made;
      },
      () => body,
    );
    const told = { left_out: leftOut.slice(0, leftOutShown), left_out_total: leftOut.length };
    return { ...(await view(call.sql, row)), ...told };
  },
});

export const acceptanceEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/acceptances',
    permission: 'view_findings',
    kind: 'C',
    summary: 'Accepted risks, and those that are asked for',
    query: Type.Object({ ...ListQuery, status: Type.Optional(SomeOf(states)) }, closed),
    answer: List(AcceptanceView),
    handle: async ({ sql, reach, query }) => {
      const status = query.status === undefined ? sql`true` : hasOneOf(sql, 'status', query.status);
      const where = sql`${visible(sql, reach)} and ${status}`;
      const page = await readPage<Row>(sql, { table: 'vm_acceptances', where, sorts, sort: '-id' }, query);
      return { ...page, items: await Promise.all(page.items.map((row) => view(sql, row))) };
    },
  }),
  request,
  endpoint({
    method: 'GET',
    path: '/acceptances/:id',
    permission: 'view_findings',
    kind: 'C',
    summary: 'One acceptance',
    answer: AcceptanceView,
    handle: async ({ sql, reach, params }) => {
      const id = toId(params['id'] ?? '', 'acceptance');
      const [row] = await sql<Row[]>`select * from vm_acceptances where id = ${id} and ${visible(sql, reach)}`;
      if (row === undefined) throw notFound('acceptance', id);
      return view(sql, row);
    },
  }),
  decision('approve', 'approved', 'Accept the risk; not by who asked for it'),
  decision('reject', 'rejected', 'Do not accept the risk'),
  decision('revoke', 'revoked', 'End an acceptance; its findings are open again'),
];
