// A backup that a person asked for: one at a time, made in the background, and written down also where the control
// plane is stopped meanwhile.
import { ApiError, type Actor } from '../../http-kit/index.js';
import type { Database } from '../../db/client.js';
import type { AuditLog } from '../../audit/chain.js';
import type { Settings } from '#settings';
import { beginRun, makeRun, runMsMax, type BackupReport, type RunBackup } from './runs.js';

export interface BackupStarter {
  /** Throws ApiError `conflict` where this process cannot, or one is being made. `done` rejects where it failed. */
  start(actor: Actor): Promise<{ readonly id: string; readonly done: Promise<BackupReport> }>;
  /** Ends what is being made, and waits until that is written down. */
  close(): Promise<void>;
}

export function createBackupStarter(parts: {
  readonly database: Database;
  readonly audit: AuditLog;
  readonly now: () => number;
  readonly runBackup: RunBackup | null;
  readonly currentSettings: () => Promise<Settings>;
}): BackupStarter {
  const { database, audit, now, runBackup } = parts;
  const { sql } = database;
  const stopping = new AbortController();
  let current: Promise<unknown> = Promise.resolve();
  return {
    async start(actor) {
      if (runBackup === null)
        throw new ApiError('conflict', 'This process cannot make backups. Start the control plane with `gatehouse`.');
      const settings = await parts.currentSettings();
      const id = await sql.begin(async (tx) => {
        const begun = await beginRun(tx, actor.name, now());
        if (begun === null) throw new ApiError('conflict', 'A backup is being made. Wait until it has ended.');
        await audit.record(tx, { actor, action: 'backup.run', summary: 'asked for a backup' });
        return begun;
      });
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(runMsMax)]);
      const asked = { isSealedWhole: settings.backup_encrypt, keep: settings.backup_keep, signal };
      const done = makeRun(sql, id, () => runBackup(asked), now);
      current = done.catch(() => undefined);
      return { id, done };
    },
    async close() {
      stopping.abort(new Error('The control plane was stopped.'));
      await current;
    },
  };
}
