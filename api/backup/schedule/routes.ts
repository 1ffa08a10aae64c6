import { Type, type Static } from '@sinclair/typebox';
import { Nullable, refusals, requirePrincipal, systemActor, Time, type App } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import { isRunning, lastGood, listRuns, nextAt, type BackupRun } from './runs.js';

export type ScheduleParts = Pick<
  Parts,
  'database' | 'currentSettings' | 'now' | 'audit' | 'runBackup' | 'backups' | 'backupTools'
>;

const RunView = Type.Object({
  id: Type.String(),
  started_at: Time,
  ended_at: Nullable(Time),
  state: Type.Unsafe<'running' | 'made' | 'failed'>({ type: 'string', enum: ['running', 'made', 'failed'] }),
  actor: Nullable(Type.String({ description: 'who asked for it; null: the schedule' })),
  name: Nullable(Type.String()),
  place: Nullable(Type.String()),
  bytes: Nullable(Type.Integer()),
  rows: Nullable(Type.Integer()),
  checked: Nullable(
    Type.Unsafe<'complete' | 'bytes'>({
      type: 'string',
      enum: ['complete', 'bytes'],
      description: 'complete: read back, every hash equal; bytes: read back as it was written, its content is sealed',
    }),
  ),
  error: Nullable(Type.String()),
});
const StatusView = Type.Object({
  every_hours: Type.Integer({ description: '0: no schedule (backup_every_hours)' }),
  keep: Type.Integer(),
  encrypt: Type.Boolean(),
  can_run: Type.Boolean({ description: 'false: this process was not started by `gatehouse`' }),
  is_running: Type.Boolean(),
  next_at: Nullable(Time),
  last_good_at: Nullable(Time),
  age_seconds: Nullable(Type.Integer({ description: 'of the last backup that was made' })),
  items: Type.Array(RunView, { description: 'the newest twenty runs' }),
});

const readSchema = {
  tags: ['backup'],
  summary: 'Backups of the control plane: the schedule, the last ones, and what reading them back said',
  response: { 200: StatusView, ...refusals },
};
const runSchema = {
  tags: ['backup'],
  summary: 'Make a backup now, in the background, to the place that BACKUP_TO names',
  response: { 202: StatusView, ...refusals },
};
const shown = 20;

function viewRun(run: BackupRun, nowMs: number): Static<typeof RunView> {
  const { id, report } = run;
  const isOver = !isRunning(run, nowMs);
  return {
    id,
    started_at: run.started_at.toISOString(),
    ended_at: run.ended_at?.toISOString() ?? null,
    state: report !== null ? 'made' : isOver ? 'failed' : 'running',
    actor: run.actor,
    name: report?.name ?? null,
    place: report?.place ?? null,
    bytes: report?.bytes ?? null,
    rows: report?.rows ?? null,
    checked: report?.checked ?? null,
    error: run.error ?? (report === null && isOver ? 'It was ended with its process.' : null),
  };
}

export function registerScheduleRoutes(app: App, parts: ScheduleParts): void {
  const { database, now, runBackup, backups } = parts;
  const { sql } = database;
  const view = async (): Promise<Static<typeof StatusView>> => {
    const nowMs = now();
    const settings = await parts.currentSettings();
    const [runs, good] = [await listRuns(sql, shown), await lastGood(sql)];
    const nextMs = nextAt(settings.backup_every_hours, runs[0], nowMs);
    return {
      every_hours: settings.backup_every_hours,
      keep: settings.backup_keep,
      encrypt: settings.backup_encrypt,
      can_run: runBackup !== null,
      is_running: isRunning(runs[0], nowMs),
      next_at: nextMs === null ? null : new Date(nextMs).toISOString(),
      last_good_at: good?.started_at.toISOString() ?? null,
      age_seconds: good === null ? null : Math.max(0, Math.floor((nowMs - good.started_at.getTime()) / 1000)),
      items: runs.map((run) => viewRun(run, nowMs)),
    };
  };
  // what became of the one that is being made is written down before the database is closed
  app.addHook('onClose', () => backups.close());
  // a restore that was asked for over HTTP has replaced the log that said so
  app.addHook('onReady', async () => {
    const outcome = await parts.backupTools?.takeOutcome();
    if (outcome === undefined || outcome === null) return;
    const { name, by, ok, said } = outcome;
    const summary = ok
      ? `restored the backup ${name}, as ${by} asked`
      : `could not restore the backup ${name}: ${said}`;
    await sql.begin((tx) =>
      parts.audit.record(tx, {
        actor: systemActor,
        action: 'backup.restored',
        summary: summary.slice(0, 1000),
        details: { ...outcome, said: said.slice(0, 2000) },
      }),
    );
  });
  app.get('/api/backup', { schema: readSchema }, view);
  app.post('/api/backup/run', { schema: runSchema }, async (request, reply) => {
    const { done } = await backups.start(requirePrincipal(request).actor);
    done.catch((error: unknown) => app.log.error({ err: error }, 'a backup failed'));
    return reply.code(202).send(await view());
  });
}
