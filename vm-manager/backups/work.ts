// Verifying and restoring as runs: each takes minutes, and is seen while it goes on. What a restore needs is proved
// before anything ends: the present state is backed up, and the backup is restored into a scratch database.
import type { Host } from '../host.js';
import { inBackground } from '../kit/runs/background.js';
import { insertRun, writeLine, type Run } from '../kit/runs.js';
import type { BackupPort, VerifiedBackup } from './port.js';

export const verifyKind = 'backup.verify';
export const restoreKind = 'backup.restore';

const now = (host: Host): Date => new Date(host.now());

export async function beginVerify(
  host: Host,
  port: BackupPort,
  name: string,
  key: string | null,
  by: string,
): Promise<Run> {
  const run = await insertRun(
    host.sql,
    { kind: verifyKind, applicationId: null, input: { name }, createdBy: by, status: 'running' },
    now(host),
  );
  inBackground(host, run, (signal) => port.verify(name, key, signal));
  return run;
}

export async function beginRestore(
  host: Host,
  port: BackupPort,
  wanted: { readonly name: string; readonly key: string | null; readonly actor: Parameters<BackupPort['make']>[0] },
): Promise<Run> {
  const { name, key, actor } = wanted;
  const run = await insertRun(
    host.sql,
    { kind: restoreKind, applicationId: null, input: { name }, createdBy: actor.name, status: 'running' },
    now(host),
  );
  const say = (text: string): Promise<void> => host.sql.begin((tx) => writeLine(tx, run.id, text, now(host)));
  inBackground(host, run, async (signal) => {
    const proved: VerifiedBackup = await port.verify(name, key, signal);
    // each of these would have the control plane restart, and refuse then
    if (proved.secrets === 'sealed')
      throw new Error(`The secrets in ${name} are sealed. Give the secret key or the passphrase as key.`);
    if (proved.hindrance !== null) throw new Error(proved.hindrance);
    await say(`${name} was restored into a scratch database: ${proved.tables} tables, ${proved.rows} rows`);
    const before = await (await port.make(actor)).done;
    await say(`the present state is in ${before.name}`);
    const kept = (await port.list()).some((one) => one.name === name);
    if (!kept) throw new Error(`${name} was removed by the backup of the present state: raise backup_keep first.`);
    await port.restore(name, key, actor.name);
    return { ...proved, before: before.name };
  });
  return run;
}
