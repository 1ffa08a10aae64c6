// What follows from policies that stop no pipeline: a record of each finding that one holds for, with since when, and
// of `notify` a notice beside it. A round looks at the findings of applications of which something changed, and each
// half hour at all: time alone makes a predicate hold, and last sights are no change.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { ofActive } from '../assets/archived.js';
import { Id, visibleByApplication } from '../assets/resources.js';
import { allOf, type Fragment, type Sql, type Tx } from '../database.js';
import { findingFields } from '../findings/fields.js';
import { severityNames } from '../findings/words.js';
import { endpoint, notFound, toId, When, type Endpoint } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import { List, ListQuery, readPage, SortQuery, type SortColumn } from '../kit/list.js';
import { toSql, type Predicate } from '../kit/predicate.js';
import { checkEnd } from './mutes.js';

/** Shorter than changes are kept (graph/live-engine.ts). */
const wholeEveryMs = 1_800_000;
/** Of one policy in one round, the most urgent first; whoever writes one that holds for a million waits for some. */
const perRoundMax = 5000;

interface Policy {
  readonly id: number;
  readonly name: string;
  readonly predicate: Predicate;
  readonly action: 'violation' | 'notify';
  readonly severity: string;
  readonly version: number;
  readonly looked_version: number | null;
  readonly looked_snapshot: string | null;
  readonly looked_whole_at: Date | null;
}

interface Counts {
  begun: number;
  ended: number;
  told: number;
}

/** One round over all policies, each in a transaction of its own; one that somebody is changing waits a round. */
export async function recordViolations(sql: Sql, now: Date, signal?: AbortSignal): Promise<Counts> {
  const counts = { begun: 0, ended: await endOthers(sql, now), told: 0 };
  const policies = await sql<{ id: number }[]>`
    select id from vm_policies where enabled and action in ('violation', 'notify') order by id`;
  for (const { id } of policies) {
    if (signal?.aborted === true) break;
    const made = await sql.begin((tx) => look(tx, id, now));
    counts.begun += made.begun;
    counts.ended += made.ended;
    counts.told += made.told;
  }
  return counts;
}

/** Of policies that were looked at and are no longer in force, or have another action. */
const endOthers = (sql: Sql, now: Date): Promise<number> =>
  sql.begin(async (tx) => {
    const over = await tx<{ id: number }[]>`
      update vm_policies set looked_version = null where looked_version is not null
        and not (enabled and action in ('violation', 'notify')) returning id`;
    if (over.length === 0) return 0;
    const { count } = await tx`
      update vm_violations set ended_at = ${now}
      where ended_at is null and policy_id in ${tx(over.map(({ id }) => id))}`;
    return count;
  });

async function look(tx: Tx, id: number, now: Date): Promise<Counts> {
  const [policy] = await tx<Policy[]>`
    select * from vm_policies where id = ${id} and enabled and action in ('violation', 'notify')
    for update skip locked`;
  if (policy === undefined) return { begun: 0, ended: 0, told: 0 };
  const [here] = await tx<{ snapshot: string }[]>`select pg_current_snapshot()::text as snapshot`;
  const { looked_snapshot: before, looked_whole_at: wholeAt } = policy;
  const isWhole =
    before === null ||
    policy.looked_version !== policy.version ||
    wholeAt === null ||
    now.getTime() - wholeAt.getTime() >= wholeEveryMs;
  const within = isWhole
    ? tx`true`
    : tx`application_id in (select c.application_id from vm_chain_changes c
        where c.changed_in >= pg_snapshot_xmin(${before}::pg_snapshot)
          and not pg_visible_in_snapshot(c.changed_in, ${before}::pg_snapshot))`;
  const meant = tx`is_open and ${ofActive(tx)} and ${toSql(tx, policy.predicate, findingFields, now)}`;
  const ended = await tx`
    update vm_violations v set ended_at = ${now} where policy_id = ${id} and ended_at is null and ${within}
      and not exists (select 1 from vm_findings where vm_findings.id = v.finding_id and ${meant})`;
  const begun = await tx`
    insert into vm_violations as v (policy_id, finding_id, application_id, since)
    select ${id}::bigint, id, application_id, ${now}::timestamptz from vm_findings
    where ${meant} and ${within} and not exists (select 1 from vm_violations k
      where k.policy_id = ${id} and k.finding_id = vm_findings.id and k.ended_at is null)
    order by priority_score desc, id limit ${perRoundMax}
    on conflict (policy_id, finding_id) do update set since = excluded.since, ended_at = null`;
  const told = policy.action === 'notify' ? await tell(tx, policy, now) : 0;
  const isAll = begun.count < perRoundMax;
  await tx`
    update vm_policies set looked_version = ${isAll ? policy.version : 0},
      looked_snapshot = ${here?.snapshot ?? null}, looked_whole_at = ${isWhole && isAll ? now : wholeAt}
    where id = ${id}`;
  return { begun: begun.count, ended: ended.count, told };
}

/** Once for a policy and a finding: what was told stands in the row, and the row stays. */
async function tell(tx: Tx, { id, name, severity }: Policy, now: Date): Promise<number> {
  const rows = await tx<{ finding_id: number; application_id: number; since: Date }[]>`
    with due as (
      select id from vm_violations where policy_id = ${id} and told_at is null and ended_at is null
        and (waived_until is null or waived_until <= ${now})
      order by id limit ${perRoundMax})
    update vm_violations v set told_at = ${now} from due where v.id = due.id
    returning v.finding_id, v.application_id, v.since`;
  await emit(
    tx,
    rows.map((row) => ({
      type: 'policy.notice',
      entity: 'finding',
      entityId: row.finding_id,
      applicationId: row.application_id,
      payload: { policy_id: String(id), policy: name, severity, since: row.since.toISOString() },
    })),
    now,
  );
  return rows.length;
}

const ViolationView = Type.Object({
  id: Type.String(),
  policy_id: Type.String(),
  policy: Type.String(),
  policy_severity: Type.String({ description: 'how severe the policy says that it is' }),
  finding_id: Type.String(),
  title: Type.String(),
  severity: OneOf(severityNames),
  application_id: Type.String(),
  since: Time,
  ended_at: Nullable(Time),
  waived: Nullable(Type.Object({ until: Time, by: Type.String(), at: Time, reason: Type.String() })),
  told_at: Nullable(Type.String({ format: 'date-time', description: 'when its notice was written; null: none was' })),
});

interface Violation {
  readonly id: number;
  readonly policy_id: number;
  readonly finding_id: number;
  readonly application_id: number;
  readonly since: Date;
  readonly ended_at: Date | null;
  readonly told_at: Date | null;
  readonly waived_until: Date | null;
  readonly waived_by: string | null;
  readonly waived_at: Date | null;
  readonly waive_reason: string | null;
}

const sorts: Readonly<Record<string, SortColumn>> = {
  since: { column: 'since', type: 'time' },
  id: { column: 'id', type: 'number' },
};
const isId = (text: string): boolean => /^\d{1,18}$/.test(text);

const list = endpoint({
  method: 'GET',
  path: '/policies/violations',
  permission: 'view_policies',
  kind: 'A',
  fromReplica: true,
  summary: 'Findings that policies hold for, and since when: of policies that note violations or give notice',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      policy_id: Type.Optional(Id),
      finding_id: Type.Optional(Id),
      application_id: Type.Optional(Id),
      state: Type.Optional(OneOf(['current', 'waived', 'ended', 'all'], 'current: neither ended nor waived')),
    },
    { additionalProperties: false },
  ),
  answer: List(ViolationView),
  handle: async ({ sql, reach, query, now }) => {
    const { state = 'current' } = query;
    const of = (['policy_id', 'finding_id', 'application_id'] as const).flatMap((name) => {
      const id = query[name];
      return id === undefined ? [] : [isId(id) ? sql`${sql(name)} = ${id}` : sql`false`];
    });
    const where = allOf(sql, [visibleByApplication('vm_violations')(sql, reach), stateIs(sql, state, now), ...of]);
    const page = await readPage<Violation>(sql, { table: 'vm_violations', where, sorts, sort: '-since' }, query);
    return { ...page, items: await view(sql, page.items) };
  },
});

async function view(sql: Sql, rows: readonly Violation[]): Promise<object[]> {
  if (rows.length === 0) return [];
  const named = await sql<{ id: number; title: string; severity: number; policy: string; policy_severity: string }[]>`
    select v.id, f.title, f.severity, p.name as policy, p.severity as policy_severity from vm_violations v
      join vm_findings f on f.id = v.finding_id join vm_policies p on p.id = v.policy_id
    where v.id in ${sql(rows.map(({ id }) => id))}`;
  const byId = new Map(named.map((one) => [one.id, one]));
  return rows.flatMap((row) => {
    const known = byId.get(row.id); // absent: removed since the page was read
    if (known === undefined) return [];
    return [
      {
        id: String(row.id),
        policy_id: String(row.policy_id),
        policy: known.policy,
        policy_severity: known.policy_severity,
        finding_id: String(row.finding_id),
        title: known.title,
        severity: severityNames[known.severity] ?? 'info',
        application_id: String(row.application_id),
        since: row.since.toISOString(),
        ended_at: row.ended_at?.toISOString() ?? null,
        waived: viewWaiver(row),
        told_at: row.told_at?.toISOString() ?? null,
      },
    ];
  });
}

const viewWaiver = ({ waived_until: until, waived_at: at, ...row }: Violation) =>
  until === null || at === null
    ? null
    : {
        until: until.toISOString(),
        by: row.waived_by ?? '',
        at: at.toISOString(),
        reason: row.waive_reason ?? '',
      };

function stateIs(sql: Sql, state: 'current' | 'waived' | 'ended' | 'all', now: Date): Fragment {
  if (state === 'all') return sql`true`;
  if (state === 'ended') return sql`ended_at is not null`;
  const isWaived = sql`waived_until is not null and waived_until > ${now}`;
  return state === 'waived' ? sql`ended_at is null and ${isWaived}` : sql`ended_at is null and not (${isWaived})`;
}

const waive = endpoint({
  method: 'POST',
  path: '/policies/violations/:id/waive',
  permission: 'approve_acceptance',
  kind: 'S',
  summary:
    'Let a violation be until a moment: it is no current one, and no notice of it is given; then it counts again',
  body: Type.Object(
    {
      reason: Type.String({ minLength: 1, maxLength: 5000, pattern: '\\S', description: 'text that is not blank' }),
      expires_at: When,
    },
    { additionalProperties: false },
  ),
  answer: ViolationView,
  handle: async (call) => {
    const { body, now, reach, sql, caller } = call;
    const end = checkEnd(body.expires_at, now);
    const id = toId(call.params['id'] ?? '', 'violation');
    const row = await call.audited(
      'vm.transition',
      `waived the violation ${id} until ${end.toISOString()}`,
      async (tx) => {
        const [before] = await tx<Violation[]>`
          select * from vm_violations where id = ${id} and ${visibleByApplication('vm_violations')(tx, reach)}
          for update`;
        if (before === undefined) throw notFound('violation', id);
        if (before.ended_at !== null) throw new ApiError('conflict', 'It has ended: there is nothing to waive.');
        const [made] = await tx<Violation[]>`
          update vm_violations set waived_until = ${end}, waived_by = ${caller.actor.name}, waived_at = ${now},
            waive_reason = ${body.reason.trim()} where id = ${id} returning *`;
        return made ?? before;
      },
      () => body,
    );
    return (await view(sql, [row]))[0];
  },
});

export const violationEndpoints: readonly Endpoint[] = [list, waive];
