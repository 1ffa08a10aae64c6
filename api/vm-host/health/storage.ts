// Where the installation keeps what it knows: database, disk, Redis, backups.
import { statfs } from 'node:fs/promises';
import type { HealthComponent } from '#vm-manager';
import { isRunning, lastGood, listRuns, nextAt } from '../../backup/schedule/runs.js';
import { ago, dayS, hourS, since, type Look } from './kit.js';

const gigabyte = 1_000_000_000;
const percent = (part: number, whole: number): number => Math.round((100 * part) / Math.max(1, whole));
export const gigabytes = (bytes: number): string =>
  bytes < gigabyte
    ? `${Math.round(bytes / 1e6)} MB`
    : `${(bytes / gigabyte).toFixed(bytes < 10 * gigabyte ? 1 : 0)} GB`;

const slowMs = 500;

/** It answers, or nothing here would be told; slow or full is what it can be. */
export const judgeDatabase: Look = async ({ database, currentSettings }) => {
  const { retention_embedded_gigabytes: max } = await currentSettings();
  const startedMs = performance.now();
  const [row] = await database.sql<{ bytes: number }[]>`select pg_database_size(current_database()) as bytes`;
  const tookMs = Math.round(performance.now() - startedMs);
  const bytes = row?.bytes ?? 0;
  const isEmbedded = database.kind === 'embedded';
  const isFull = isEmbedded && max > 0 && bytes > 0.9 * max * gigabyte;
  const what = isEmbedded ? 'Embedded' : 'PostgreSQL';
  return {
    id: 'database',
    state: isFull || tookMs > slowMs ? 'warning' : 'ok',
    summary: `${what}, ${gigabytes(bytes)}, answered in ${tookMs} ms`,
    measure: { name: 'size', value: bytes, unit: 'bytes' },
    action: isFull
      ? `Above ${max} GB the oldest days of records are removed: raise retention_embedded_gigabytes, keep ` +
        'fewer days (retention_requests_days), or move to PostgreSQL (docs/backup.md).'
      : tookMs > slowMs
        ? 'Look at the load of its machine; with many requests a second use PostgreSQL (docs/backup.md).'
        : null,
  };
};

/** Of DATABASE_READ_URL. */
export const judgeReplica: Look = async ({ replica }) => {
  if (replica === null) return { id: 'replica', state: 'off', summary: 'None for reads', measure: null, action: null };
  const { state, lagMs, trouble } = replica.state();
  const seconds = lagMs === null ? null : Math.round(lagMs / 100) / 10;
  return {
    id: 'replica',
    state: state === 'ok' ? 'ok' : 'warning',
    summary: state === 'away' ? `Away: ${trouble ?? 'no answer yet'}` : `${seconds} s behind the primary`,
    measure: seconds === null ? null : { name: 'behind', value: seconds, unit: 'seconds' },
    action: state === 'ok' ? null : 'The primary answers meanwhile. Look at the replica and DATABASE_READ_URL.',
  };
};

export interface Space {
  readonly free: number;
  readonly total: number;
}

/** Pure, so that a test needs no full disk. */
export function judgeSpace({ free, total }: Space): HealthComponent {
  const share = percent(free, total);
  const state = share < 3 || free < gigabyte / 2 ? 'failing' : share < 10 || free < 2 * gigabyte ? 'warning' : 'ok';
  return {
    id: 'disk',
    state,
    summary: `${gigabytes(free)} of ${gigabytes(total)} free (${share} %)`,
    measure: { name: 'free', value: free, unit: 'bytes' },
    action:
      state === 'ok'
        ? null
        : 'Make room below DATA_DIR: lower backup_keep or retention_requests_days, or use a larger disk.',
  };
}

/** The one that holds the data directory. */
export const judgeDisk: Look = async ({ dataDirectory }) => {
  if (dataDirectory === null)
    return { id: 'disk', state: 'off', summary: 'No data directory', measure: null, action: null };
  const { bavail, blocks, bsize } = await statfs(dataDirectory);
  return judgeSpace({ free: bavail * bsize, total: blocks * bsize });
};

export const judgeRedis: Look = async ({ limitsState }) => {
  const { kind, status, fallbacks, mode, trouble } = limitsState();
  if (kind === 'in_process')
    return { id: 'redis', state: 'off', summary: 'Not configured', measure: null, action: null };
  const isAway = status === 'degraded';
  return {
    id: 'redis',
    state: isAway ? 'failing' : 'ok',
    summary: isAway ? `Away: ${trouble ?? 'other'}. Each process counts by itself` : `Connected (${mode ?? 'single'})`,
    measure: { name: 'requests counted without it', value: fallbacks, unit: 'count' },
    action: isAway ? 'The log of the control plane says what is wrong; docs/redis.md says what to do.' : null,
  };
};

/** The last good one, and whether the schedule keeps its pace. */
export const judgeBackups: Look = async ({ database: { sql }, currentSettings, runBackup }, now) => {
  const { backup_every_hours: everyHours } = await currentSettings();
  const [last] = await listRuns(sql, 1);
  const good = await lastGood(sql);
  const age = good === null ? null : since(good.started_at, now);
  const measure = age === null ? null : { name: 'age', value: Math.round(age), unit: 'seconds' as const };
  const is = (state: HealthComponent['state'], summary: string, action: string | null): HealthComponent => ({
    ...{ id: 'backups', state, summary, measure, action },
  });
  const told = good === null ? 'there is no backup' : `the last one was made ${ago(good.started_at, now)}`;
  if (last !== undefined && last.report === null && !isRunning(last, now.getTime()))
    return is(
      'failing',
      `The last backup failed, ${told}`,
      `System, Backups: ${last.error ?? 'It was ended with its process.'}`,
    );
  if (runBackup === null && everyHours === 0) return is('off', 'This process cannot make backups', null);
  if (good === null && everyHours === 0)
    return is('warning', 'There is no backup', 'Set a schedule, or back up now (System, Backups).');
  if (everyHours === 0)
    return is(
      age !== null && age > 30 * dayS ? 'warning' : 'ok',
      `No schedule, ${told}`,
      age !== null && age > 30 * dayS ? 'Set backup_every_hours, or back up now (System, Backups).' : null,
    );
  const dueMs = nextAt(everyHours, last, now.getTime()) ?? now.getTime();
  const lateS = (now.getTime() - dueMs) / 1000;
  if (lateS > hourS && !isRunning(last, now.getTime()))
    return is('failing', `Overdue: ${told}`, 'The job "backup" does not run: see the component "jobs".');
  return is('ok', `Every ${everyHours} h, ${told}`, null);
};
