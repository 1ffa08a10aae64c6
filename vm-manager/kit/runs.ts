// Work that takes a while, as rows: queued → running → succeeded, failed, canceled or timed_out. A worker takes the
// oldest waiting row under a lease and renews it; a run whose lease is over was lost with its worker.
import { Nullable, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { json, type Queryable, type Sql, type Tx } from '../database.js';

export const runStatuses = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'timed_out',
  'rolled_back',
] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface Run {
  readonly id: number;
  readonly kind: string;
  readonly application_id: number | null;
  readonly status: RunStatus;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
  readonly problems: readonly unknown[];
  readonly scope_key: string | null;
  readonly error: string | null;
  readonly progress: number;
  readonly cancel_asked: boolean;
  readonly created_by: string;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** A worker that does not renew its lease for so long is taken for dead. */
export const leaseMs = 60_000;

export interface NewRun {
  readonly kind: string;
  readonly applicationId: string | number | null;
  readonly input: unknown;
  readonly createdBy: string;
  readonly scopeKey?: string | null;
  /** `running`: the caller does it itself, now. */
  readonly status?: 'queued' | 'running';
}

export async function insertRun(sql: Queryable, run: NewRun, now: Date): Promise<Run> {
  const status = run.status ?? 'queued';
  const isRunning = status === 'running';
  const [row] = await sql<Run[]>`
    insert into vm_runs
      (kind, application_id, status, input, scope_key, created_by, created_at, started_at, lease_until)
    values (${run.kind}, ${run.applicationId}, ${status}, ${json(sql, run.input)}, ${run.scopeKey ?? null},
      ${run.createdBy}, ${now}, ${isRunning ? now : null}, ${isRunning ? new Date(now.getTime() + leaseMs) : null})
    returning *`;
  if (row === undefined) throw new Error('the run was not stored');
  return row;
}

/** The oldest waiting run of these kinds, now running under the caller's lease; null when none waits. */
export async function takeRun(sql: Sql, kinds: readonly string[], now: Date): Promise<Run | null> {
  const [row] = await sql<Run[]>`
    update vm_runs set status = 'running', started_at = ${now}, lease_until = ${new Date(now.getTime() + leaseMs)}
    where id = (select id from vm_runs where status = 'queued' and kind in ${sql(kinds)}
      order by id limit 1 for update skip locked)
    returning *`;
  return row ?? null;
}

/** Renews the lease; false once the run was asked to stop, or is not running any more. */
export async function renewRun(sql: Queryable, id: number, progress: number, now: Date): Promise<boolean> {
  const [row] = await sql<{ cancel_asked: boolean }[]>`
    update vm_runs set lease_until = ${new Date(now.getTime() + leaseMs)}, progress = ${progress}
    where id = ${id} and status = 'running' returning cancel_asked`;
  return row !== undefined && !row.cancel_asked;
}

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'queued' | 'running'>;
  readonly result?: unknown;
  readonly problems?: readonly unknown[];
  readonly error?: string | null;
}

export async function finishRun(sql: Queryable, id: number, end: RunEnd, now: Date): Promise<Run> {
  const [row] = await sql<Run[]>`
    update vm_runs set status = ${end.status}, result = ${json(sql, end.result ?? {})},
      problems = ${json(sql, end.problems ?? [])}, error = ${end.error ?? null}, finished_at = ${now},
      progress = ${end.status === 'succeeded' ? 100 : sql`progress`}, lease_until = null
    where id = ${id} returning *`;
  if (row === undefined) throw new Error(`there is no run ${id}`);
  return row;
}

/**
 * Runs whose worker is gone; returns how many were ended. Imports are not among them: they are taken back. A scan of a
 * target has failed: what it covered so far stays in its result.
 */
export async function endLostRuns(sql: Queryable, now: Date): Promise<number> {
  const lost = await sql`
    update vm_runs set status = case when kind = 'dast' then 'failed' else 'timed_out' end,
      finished_at = ${now}, error = 'the worker stopped answering'
    where status in ('queued', 'running') and lease_until < ${now} and kind <> 'import'`;
  return lost.count;
}

/** A line for people. */
export async function writeLine(tx: Tx, id: number, text: string, now: Date): Promise<void> {
  await tx`
    insert into vm_run_lines (run_id, line, at, text)
    select ${id}, coalesce(max(line), 0) + 1, ${now}, ${text.slice(0, 1000)} from vm_run_lines where run_id = ${id}`;
}

export const RunView = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  application_id: Nullable(Type.String()),
  status: Type.String(),
  input: Type.Unknown(),
  result: Type.Unknown(),
  error: Nullable(Type.String()),
  progress: Type.Integer(),
  created_by: Type.String(),
  created_at: Time,
  started_at: Nullable(Time),
  finished_at: Nullable(Time),
});

export const viewRun = (run: Run) => ({
  id: String(run.id),
  kind: run.kind,
  application_id: run.application_id === null ? null : String(run.application_id),
  status: run.status,
  input: run.input,
  result: run.result,
  error: run.error,
  progress: run.progress,
  created_by: run.created_by,
  created_at: run.created_at.toISOString(),
  started_at: run.started_at?.toISOString() ?? null,
  finished_at: run.finished_at?.toISOString() ?? null,
});
