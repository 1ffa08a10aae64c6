// The backup that the control plane asks for, on its schedule or when a person does: the command itself.
import type { BackupReport, RunBackup } from '#api/main';
import type { Values } from '#settings/environment';
import { reportIn, runCommand } from './child.js';

/** `values`: those that the control plane runs with. */
export const backupRunner =
  (values: Values): RunBackup =>
  async ({ isSealedWhole, keep, signal }) =>
    reportIn<BackupReport>(
      await runCommand(
        values,
        ['backup', '--json', '--check', `--keep=${keep}`, ...(isSealedWhole ? ['--encrypt'] : [])],
        signal,
      ),
    );
