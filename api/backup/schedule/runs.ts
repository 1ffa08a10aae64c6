// What is known of the backups that the control plane made.
import type { Queryable, Tx } from '../../db/client.js';

/** What `gatehouse backup --json` says. */
export interface BackupReport {
  readonly place: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly tables: number;
  readonly rows: number;
  readonly release: string;
  readonly secrets: string;
  readonly checked: 'complete' | 'bytes' | null;
  readonly removed: readonly string[];
}

export interface BackupAsked {
  readonly isSealedWhole: boolean;
  readonly keep: number;
  readonly signal: AbortSignal;
}

/** Makes one backup in a process of its own; rejects with words for a person. */
export type RunBackup = (asked: BackupAsked) => Promise<BackupReport>;

export interface BackupRun {
  readonly id: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly actor: string | null;
  readonly report: BackupReport | null;
  readonly error: string | null;
}

/** A run that has not ended for this long was ended with its process. */
export const runMsMax = 3 * 3600_000;
const runsKept = 100;
/** After a failure the schedule tries again this soon. */
const retryMs = 3600_000;

export const listRuns = (sql: Queryable, count: number): Promise<readonly BackupRun[]> =>
  sql<BackupRun[]>`
    select id::text as id, started_at, ended_at, actor, report, error from backup_runs order by id desc limit ${count}`;

export async function lastGood(sql: Queryable): Promise<BackupRun | null> {
  const [row] = await sql<BackupRun[]>`
    select id::text as id, started_at, ended_at, actor, report, error from backup_runs
    where report is not null order by id desc limit 1`;
  return row ?? null;
}

export const isRunning = (run: BackupRun | undefined, nowMs: number): boolean =>
  run !== undefined && run.ended_at === null && nowMs - run.started_at.getTime() < runMsMax;

/** When the schedule makes the next one, in milliseconds since 1970; null: it is off (`everyHours` 0). */
export function nextAt(everyHours: number, last: BackupRun | undefined, nowMs: number): number | null {
  if (everyHours === 0) return null;
  if (last === undefined) return nowMs;
  const pauseMs = last.report === null ? Math.min(retryMs, everyHours * 3600_000) : everyHours * 3600_000;
  const startedMs = last.started_at.getTime();
  // a start in the future was before the clock was set back
  return startedMs > nowMs ? nowMs : startedMs + pauseMs;
}

/**
 * Writes down that one begins; null: another is being made. People and the schedule both ask here, so that two never
 * run at once. Lock and row are of one short transaction: the embedded database has one connection.
 */
export async function beginRun(tx: Tx, actor: string | null, nowMs: number): Promise<string | null> {
  await tx`lock table backup_runs in share row exclusive mode`;
  const [last] = await listRuns(tx, 1);
  if (isRunning(last, nowMs)) return null;
  const [row] = await tx<{ id: string }[]>`
    insert into backup_runs (started_at, actor) values (${new Date(nowMs)}, ${actor}) returning id::text as id`;
  return row?.id ?? null;
}

/** Makes the one that `beginRun` named and writes down what became of it; rejects where it failed. */
export async function makeRun(
  sql: Queryable,
  id: string,
  make: () => Promise<BackupReport>,
  now: () => number,
): Promise<BackupReport> {
  try {
    const report = await make();
    await sql`
      update backup_runs set ended_at = ${new Date(now())}, report = ${JSON.stringify(report)}::text::jsonb
      where id = ${id}::bigint`;
    return report;
  } catch (error) {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, 2000);
    await sql`update backup_runs set ended_at = ${new Date(now())}, error = ${text} where id = ${id}::bigint`;
    throw error;
  } finally {
    await sql`
      delete from backup_runs where id <= (select max(id) from backup_runs) - ${runsKept}
        and id <> (select coalesce(max(id), 0) from backup_runs where report is not null)`;
  }
}
