// Clocks of findings that people stop and start, and deadlines that were missed. What stood still is added to the
// deadline once, however pauses and acceptances overlap: the clock has one moment since when it stands.
import { ApiError, Nullable, OneOf, systemActor, Time, type Actor } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { ofActive } from '../assets/archived.js';
import { allOf, type Tx } from '../database.js';
import { FindingView, viewFinding, type FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { requireFinding } from '../findings/store.js';
import { isOpen, severityNames, severityNumbers } from '../findings/words.js';
import { listOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, toMoment, unfit, When, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';

const closed = { additionalProperties: false } as const;
const dayMs = 86_400_000;
const pauseDaysMax = 366;
const Reason = Type.String({ minLength: 1, maxLength: 5000, pattern: '\\S', description: 'text that is not blank' });

const Pause = Type.Object({
  reason: Type.String(),
  until: Nullable(Time),
  paused_by: Type.String(),
  paused_at: Time,
  resumed_by: Nullable(Type.String()),
  resume_reason: Type.String(),
  resumed_at: Nullable(Time),
});
const ClockView = Type.Object({
  finding: FindingView,
  paused_ms: Type.Integer({ description: 'added to the deadline by pauses that are over' }),
  pauses: Type.Array(Pause, { description: 'by users, the newest first; 50 at most' }),
});

interface PauseRow {
  readonly id: number;
  readonly finding_id: number;
  readonly reason: string;
  readonly until: Date | null;
  readonly paused_by: string;
  readonly paused_at: Date;
  readonly resumed_by: string | null;
  readonly resume_reason: string;
  readonly resumed_at: Date | null;
}

async function viewClock(tx: Tx, row: FindingRow, now: Date) {
  const pauses = await tx<PauseRow[]>`
    select * from vm_sla_pauses where finding_id = ${row.id} order by id desc limit 50`;
  return {
    finding: viewFinding(row, now),
    paused_ms: Number(row.sla_paused_ms),
    pauses: pauses.map(({ id: _, finding_id: __, ...one }) => ({
      ...one,
      until: one.until?.toISOString() ?? null,
      paused_at: one.paused_at.toISOString(),
      resumed_at: one.resumed_at?.toISOString() ?? null,
    })),
  };
}

const locked = async (tx: Tx, id: number): Promise<FindingRow> => {
  const [row] = await tx<FindingRow[]>`select * from vm_findings where id = ${id} for update`;
  if (row === undefined) throw new ApiError('not_found', `There is no finding ${id}.`);
  return row;
};

/** Ends the pause of a person at `at`; an acceptance or a mute that holds goes on standing. */
async function resume(tx: Tx, row: FindingRow, by: Actor, reason: string, at: Date, now: Date): Promise<FindingRow> {
  await tx`
    update vm_sla_pauses set resumed_at = ${at}, resumed_by = ${by.name}, resume_reason = ${reason}
    where finding_id = ${row.id} and resumed_at is null`;
  const stoodMs = isOpen(row.status) && row.sla_paused_at !== null ? at.getTime() - row.sla_paused_at.getTime() : 0;
  const runs = isOpen(row.status);
  const [made] = await tx<FindingRow[]>`
    update vm_findings set sla_held = false, updated_at = ${now}, version = version + 1,
      sla_paused_at = ${runs ? null : row.sla_paused_at}, sla_paused_ms = ${Number(row.sla_paused_ms) + stoodMs},
      due_at = ${row.due_at === null ? null : new Date(row.due_at.getTime() + stoodMs)}
    where id = ${row.id} returning *`;
  return made ?? row;
}

/** For the background: clocks whose pause is over run again, from the moment that was said. Returns how many. */
export async function endPauses(tx: Tx, now: Date): Promise<number> {
  const over = await tx<PauseRow[]>`
    select * from vm_sla_pauses where resumed_at is null and until <= ${now} order by id limit 1000`;
  for (const { finding_id: id, until } of over)
    await resume(tx, await locked(tx, id), systemActor, 'the pause is over', until ?? now, now);
  return over.length;
}

const pausing = endpoint({
  method: 'POST',
  path: '/sla/clocks/:id/pause',
  permission: 'manage_sla',
  kind: 'S',
  summary:
    'Stop the clock of an open finding, until a moment or until it is resumed; the time is added to its deadline',
  body: Type.Object(
    { reason: Reason, until: Type.Optional(When) },
    { ...closed, examples: [{ reason: 'waits for the supplier' }] },
  ),
  answer: ClockView,
  handle: async (call) => {
    const { body, now, caller } = call;
    const until = body.until === undefined ? null : toMoment(body.until, '/until');
    if (until !== null && until <= now) throw unfit('/until', 'is over already');
    if (until !== null && until.getTime() > now.getTime() + pauseDaysMax * dayMs)
      throw unfit('/until', `is more than ${pauseDaysMax} days ahead`);
    return call.audited(
      'vm.transition',
      `stopped the clock of the finding ${call.params['id']}`,
      async (tx) => {
        const row = await requireFinding(tx, call.reach, call.params['id'] ?? '', true);
        if (row.due_at === null) throw new ApiError('conflict', 'The finding has no deadline.');
        if (row.sla_held) throw new ApiError('conflict', 'Its clock is stopped already: resume it first.');
        if (!isOpen(row.status))
          throw new ApiError('conflict', `It is ${row.status}: only clocks of open findings run.`);
        await tx`
          insert into vm_sla_pauses (finding_id, reason, until, paused_by, paused_at)
          values (${row.id}, ${body.reason.trim()}, ${until}, ${caller.actor.name}, ${now})`;
        const [made] = await tx<FindingRow[]>`
          update vm_findings set sla_held = true, sla_paused_at = ${now}, updated_at = ${now}, version = version + 1
          where id = ${row.id} returning *`;
        return viewClock(tx, made ?? row, now);
      },
      () => body,
    );
  },
});

const resuming = endpoint({
  method: 'POST',
  path: '/sla/clocks/:id/resume',
  permission: 'manage_sla',
  kind: 'S',
  summary: 'Let the clock of a finding run again; the time that it stood is added to its deadline',
  body: Type.Object(
    { reason: Type.Optional(Reason) },
    { ...closed, examples: [{ reason: 'the supplier has answered' }] },
  ),
  answer: ClockView,
  handle: async (call) => {
    const { body, now, caller } = call;
    return call.audited(
      'vm.transition',
      `let the clock of the finding ${call.params['id']} run again`,
      async (tx) => {
        const row = await requireFinding(tx, call.reach, call.params['id'] ?? '', true);
        if (!row.sla_held) throw new ApiError('conflict', 'Nobody has stopped its clock.');
        return viewClock(tx, await resume(tx, row, caller.actor, body.reason?.trim() ?? '', now, now), now);
      },
      () => body,
    );
  },
});

const sorts = { due_at: { column: 'due_at', type: 'time' }, severity: { column: 'severity', type: 'number' } } as const;

const breaches = endpoint({
  method: 'GET',
  path: '/sla/breaches',
  permission: 'view_sla',
  kind: 'A',
  fromReplica: true,
  summary: 'Findings that were not fixed in time: those still open, or those that were closed too late',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      state: Type.Optional(OneOf(['open', 'closed'])),
      application_id: Type.Optional(Type.String({ maxLength: 20 })),
      severity: Type.Optional(SomeOf(severityNames)),
    },
    closed,
  ),
  answer: Type.Object({
    ...List(Type.Intersect([FindingView, Type.Object({ overdue_days: Type.Number() })])).properties,
  }),
  handle: async ({ sql, reach, query, now }) => {
    const { state = 'open', application_id: application, severity, ...wanted } = query;
    const where = allOf(sql, [
      visibleFindings(sql, reach),
      ofActive(sql),
      state === 'open'
        ? sql`is_open and due_at <= ${now} and sla_paused_at is null`
        : sql`status = 'resolved' and closed_at > due_at`,
      ...(application === undefined
        ? []
        : [/^\d{1,18}$/.test(application) ? sql`application_id = ${application}` : sql`false`]),
      ...(severity === undefined
        ? []
        : [sql`severity in ${sql(listOf(severity).map((name) => severityNumbers[name] ?? 0))}`]),
    ]);
    const page = await readPage<FindingRow>(sql, { table: 'vm_findings', where, sorts, sort: 'due_at' }, wanted);
    const overdue = ({ due_at: due, closed_at: end, is_open: opens }: FindingRow): number =>
      due === null ? 0 : Math.round((((opens ? now : (end ?? now)).getTime() - due.getTime()) / dayMs) * 10) / 10;
    return { ...page, items: page.items.map((row) => ({ ...viewFinding(row, now), overdue_days: overdue(row) })) };
  },
});

export const clockEndpoints: readonly Endpoint[] = [breaches, pausing, resuming];
