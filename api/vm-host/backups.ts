// Backups of this server as the vulnerability manager's endpoints see them: what the schedule and the commands do.
import type { BackupPort, BackupSchedule, LastRestore, MadeBackup } from '#vm-manager';
import { isRunning, listRuns, nextAt, type BackupRun } from '../backup/schedule/runs.js';
import type { BackupTools } from '../backup/tools.js';
import type { Principal } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { changeSettings, type SettingsWriter } from '../settings/change.js';

export type BackupPortParts = SettingsWriter & Pick<Parts, 'backupTools' | 'backups' | 'currentSettings' | 'now'>;

const runsShown = 100;

function viewMade(run: BackupRun, nowMs: number): MadeBackup {
  const { id, started_at, ended_at, actor, report, error } = run;
  const still = isRunning(run, nowMs);
  return {
    ...{ id, started_at, ended_at, actor, isRunning: still },
    name: report?.name ?? null,
    place: report?.place ?? null,
    rows: report?.rows ?? null,
    sha256: report?.sha256 ?? null,
    checked: report?.checked ?? null,
    error: error ?? (report === null && !still ? 'It was ended with its process.' : null),
  };
}

export function createBackupPort(parts: BackupPortParts, tools: BackupTools): BackupPort {
  const { sql } = parts.database;
  return {
    place: tools.place(),
    hindrance: () => tools.hindrance(),
    list: () => tools.list(),
    made: async () => (await listRuns(sql, runsShown)).map((run) => viewMade(run, parts.now())),
    make: (actor) => parts.backups.start(actor),
    verify: (name, key, signal) => tools.verify(name, key, signal),
    fetch: (name) => tools.fetch(name),
    remove: (name) => tools.remove(name),
    prune: (keep) => tools.prune(keep),
    async schedule() {
      const { backup_every_hours, backup_keep, backup_encrypt } = await parts.currentSettings();
      const [last] = await listRuns(sql, 1);
      const nextMs = nextAt(backup_every_hours, last, parts.now());
      return {
        every_hours: backup_every_hours,
        keep: backup_keep,
        encrypt: backup_encrypt,
        next_at: nextMs === null ? null : new Date(nextMs),
      };
    },
    async setSchedule(
      { userId, email, role, sessionId },
      actor,
      { every_hours, keep, encrypt }: Partial<BackupSchedule>,
    ) {
      const principal: Principal = { kind: 'session', userId, email, role, sessionId, scopes: null, duty: null, actor };
      await changeSettings(parts, principal, {
        action: 'settings.update',
        ifMatch: undefined,
        propose: (shown) => ({
          ...shown,
          ...(every_hours === undefined ? {} : { backup_every_hours: every_hours }),
          ...(keep === undefined ? {} : { backup_keep: keep }),
          ...(encrypt === undefined ? {} : { backup_encrypt: encrypt }),
        }),
      });
    },
    othersAtWork: () => parts.database.othersAtWork(),
    restore: (name, key, by) => tools.restore({ name, key, by, at: new Date(parts.now()).toISOString() }),
    async lastRestore() {
      const [row] = await sql<{ at: Date; details: string | null }[]>`
        select at, details from audit_entries where action = 'backup.restored' order by id desc limit 1`;
      return row === undefined ? null : { at: row.at, ...readDetails(row.details) };
    },
  };
}

function readDetails(details: unknown): Omit<LastRestore, 'at'> {
  const found = (typeof details === 'string' ? JSON.parse(details) : details) as Partial<LastRestore> | null;
  return { name: found?.name ?? '', by: found?.by ?? '', ok: found?.ok === true, said: found?.said ?? '' };
}
