import type { Job } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import { beginRun, isRunning, listRuns, makeRun, nextAt, runMsMax } from './runs.js';

export type BackupJobParts = Pick<Parts, 'database' | 'currentSettings' | 'now' | 'runBackup'>;

/** Looks every minute whether a backup is due; the one leader among all control planes makes it. */
export function createBackupJob({ database: { sql }, currentSettings, now, runBackup }: BackupJobParts): Job {
  return {
    name: 'backup',
    everyMs: 60_000,
    timeoutMs: runMsMax,
    async run({ nowMs, signal }) {
      const settings = await currentSettings();
      const [last] = await listRuns(sql, 1);
      const dueMs = nextAt(settings.backup_every_hours, last, nowMs);
      if (dueMs === null) return 'no schedule (backup_every_hours is 0)';
      if (dueMs > nowMs || isRunning(last, nowMs)) return 'nothing was due';
      if (runBackup === null) return 'this process cannot make backups: start it with `gatehouse`';
      const id = await sql.begin((tx) => beginRun(tx, null, nowMs));
      if (id === null) return 'nothing was due: somebody has one made';
      const asked = { isSealedWhole: settings.backup_encrypt, keep: settings.backup_keep, signal };
      const { place, name, bytes } = await makeRun(sql, id, () => runBackup(asked), now);
      return `${name} in ${place}, ${bytes} bytes`;
    },
  };
}
