// What is due is begun, with the rights of its owner, once for each time: the next time is written before anything is
// started. A schedule whose run still goes on leaves this time out; times that were missed while nothing worked are
// made up for by one run, or left out, as it says.
import { ApiError } from '#http-kit';
import type { Host } from '../host.js';
import { emit } from '../kit/events.js';
import { actingAs } from '../kit/runs/acting.js';
import type { Acting } from '../kit/endpoint.js';
import type { Run } from '../kit/runs.js';
import { checkPayload, kinds, type ScheduleKind } from './kinds.js';
import { nextTime, type Planned } from './times.js';

/** Later than that it was missed; the job looks four times a minute. */
const lateMs = 10 * 60_000;
const atOnceMax = 50;
const reasonMax = 500;
const high = 3;

export interface ScheduleRow extends Planned {
  readonly name: string;
  readonly kind: ScheduleKind;
  readonly application_id: number | null;
  readonly payload: Readonly<Record<string, string>>;
  readonly missed: 'run_once' | 'skip';
  readonly enabled: boolean;
  readonly owner_id: string;
  readonly next_run_at: Date | null;
  readonly last_run_id: number | null;
}

export type Outcome = 'started' | 'refused' | 'overlapped' | 'missed';

interface Ended {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly run: Run | null;
  /** As many run as may. */
  readonly isBusy?: boolean;
}

/** The run of this schedule that still goes on; null: none. */
export async function runningOf({ sql }: Pick<Host, 'sql'>, row: ScheduleRow): Promise<number | null> {
  const [open] = await sql<{ id: number }[]>`
    select id from vm_runs where id = ${row.last_run_id} and status in ('queued', 'running')`;
  return open?.id ?? null;
}

/** Throws `conflict`: an archived application may be switched off, or be somebody else's by now. */
async function refuseArchived({ sql }: Acting, application: number | null): Promise<void> {
  if (application === null) return;
  const [row] = await sql`select 1 from vm_applications where id = ${application} and status = 'archived'`;
  if (row !== undefined)
    throw new ApiError('conflict', 'Its application is archived: restore it, or delete this schedule.');
}

/** Begins it as whoever acts; throws ApiError where that is refused. */
export async function start(call: Acting, row: ScheduleRow): Promise<Run> {
  const { permission, ownerOf, start: begin } = kinds[row.kind];
  const reach = call.caller.reach(permission, true);
  if (reach === null) throw new ApiError('role_denied', `This needs the permission ${permission}.`);
  const payload = checkPayload(row.kind, row.payload);
  await refuseArchived(call, await ownerOf(call.sql, reach, payload));
  return begin({ ...call, caller: call.caller, reach }, payload, row);
}

export async function note(host: Host, row: ScheduleRow, dueAt: Date, { outcome, reason, run }: Ended): Promise<void> {
  await host.sql`
    update vm_schedules set last_due_at = ${dueAt}, last_outcome = ${outcome},
      last_reason = ${reason.slice(0, reasonMax)},
      last_run_id = ${run === null ? host.sql`last_run_id` : host.sql`${run.id}::bigint`}
    where id = ${row.id}`;
}

async function attempt(host: Host, row: ScheduleRow, dueAt: Date, now: Date): Promise<Ended> {
  if (row.missed === 'skip' && now.getTime() - dueAt.getTime() > lateMs)
    return { outcome: 'missed', reason: 'Nothing worked at that time.', run: null };
  const open = await runningOf(host, row);
  if (open !== null) return { outcome: 'overlapped', reason: `Its run ${open} still goes on.`, run: null };
  try {
    const call = await actingAs(host, row.owner_id, kinds[row.kind].permission, now);
    return { outcome: 'started', reason: '', run: await start(call, row) };
  } catch (error) {
    const reason = error instanceof ApiError ? error.message : 'It failed; the log of the server says why.';
    return { outcome: 'refused', reason, run: null, isBusy: error instanceof ApiError && error.code === 'busy' };
  }
}

/** Nobody looks at a schedule that has worked for a year: routes of notices can take that it does not any more. */
async function tellOfRefusal({ sql }: Host, row: ScheduleRow, reason: string, now: Date): Promise<void> {
  const { id: entityId, application_id: applicationId, name } = row;
  const payload = { summary: `${name}: ${reason}`.slice(0, reasonMax), severity: high };
  await sql.begin((tx) =>
    emit(tx, [{ type: 'schedule.refused', entity: 'schedule', entityId, applicationId, payload }], now),
  );
}

/** Tried again, where as many run as may. */
const busyMs = 60_000;

/** Begins everything that is due; returns how many runs were begun. */
export async function runDue(host: Host, now: Date, signal?: AbortSignal): Promise<number> {
  const due = await host.sql<ScheduleRow[]>`
    select * from vm_schedules where enabled and next_run_at <= ${now} order by next_run_at, id limit ${atOnceMax}`;
  let begun = 0;
  for (const row of due) {
    if (signal?.aborted === true) break;
    const dueAt = row.next_run_at ?? now;
    const claimed = await host.sql`
      update vm_schedules set next_run_at = ${nextTime(row, now)}
      where id = ${row.id} and enabled and next_run_at = ${dueAt}`;
    if (claimed.count === 0) continue;
    const ended = await attempt(host, row, dueAt, now);
    await note(host, row, dueAt, ended);
    if (ended.outcome === 'refused' && ended.isBusy !== true) await tellOfRefusal(host, row, ended.reason, now);
    if (ended.outcome === 'started') begun++;
    // no place for it now: of ten that are due at three, six would else wait for the next night, every night
    if (ended.isBusy === true)
      await host.sql`
        update vm_schedules set next_run_at = least(next_run_at, ${new Date(now.getTime() + busyMs)})
        where id = ${row.id} and enabled and next_run_at is not null`;
  }
  return begun;
}
