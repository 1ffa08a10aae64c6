// `gatehouse restore FILE`: a backup into this installation, which is stopped. The addresses, ports and the database
// are those of this machine; the secrets that what is stored depends on come from the backup.
import { createInterface } from 'node:readline/promises';
import { allModules, BackupError, restoreBackup } from '#api/main';
import { variables, type EnvironmentVariable } from '#settings/environment';
import { parseOptions } from '../command-line.js';
import { readControlEnv } from '../commands/control-plane.js';
import { readFlags } from '../environment/flags.js';
import { adoptDirectories, controlPlaneEnvironment, readEnvironment } from '../environment/read-environment.js';
import { Refusal, wrongUsage } from '../refusal.js';
import { adoptionOf } from './adopt-environment.js';
import { keyOf } from './keys.js';
import { withLocal } from './places.js';

const options = {
  'key-file': { type: 'string' },
  'passphrase-file': { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

/** Throws Refusal for what is wrong with the words, the file, the key or the installation; nothing has changed then. */
export async function runRestore(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  const { values: asked, positionals } = parseOptions({ args: [...others], allowPositionals: true, options });
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) throw wrongUsage('restore takes one file: gatehouse restore FILE.');
  const key = keyOf(asked);
  const values = readEnvironment(flags);
  adoptDirectories(values);
  const filled = { ...controlPlaneEnvironment(values) } as Record<string, string>;
  // a fresh machine has no secrets yet; a restore uses none of its own
  for (const row of variables as readonly EnvironmentVariable[])
    if (row.generated !== undefined && filled[row.name] === '') filled[row.name] = '-'.repeat(40);
  const env = readControlEnv(filled);
  const target = env.databaseUrl === null ? `the embedded database in ${env.dataDirectory}` : 'the PostgreSQL database';
  if (asked.yes !== true) await confirm(`Replace ${target} by ${file}?`);
  const now = new Date();
  try {
    const { manifest, previous } = await withLocal(values, file, async (local) =>
      restoreBackup({
        file: local,
        key,
        dataDirectory: env.dataDirectory,
        databaseUrl: env.databaseUrl,
        modules: await allModules(),
        now,
        prepareEnvironment: (text) => adoptionOf(text, values, now),
      }),
    );
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    console.log(
      `restored ${manifest.tables.length} tables with ${rows} rows from ${manifest.created_at}; ` +
        'every table was compared with the backup.' +
        (previous === null
          ? ''
          : `\nThe database that was here is kept in ${previous}; remove it when you are content.`) +
        (manifest.environment === 'absent'
          ? '\nThe backup has no secrets: stored passwords can be read only with the old SETTINGS_ENCRYPTION_SECRET.'
          : '') +
        '\nAll sessions are ended. Start Gatehouse now.',
    );
  } catch (error) {
    throw error instanceof BackupError ? new Refusal(error.message) : error;
  }
  return 0;
}

async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new Refusal(`${question} Nobody can be asked here; say -y.`);
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await prompt.question(`${question} [y/N] `);
  prompt.close();
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new Refusal('nothing was changed.');
}
