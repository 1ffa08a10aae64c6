// Where the core rule set of this machine lies.
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Env } from '../env.js';

/** What set-up unpacked below data/crs; when there is none, the compiler says so in its own words. */
export async function newestRuleSet(dataDirectory: string): Promise<string> {
  const root = join(dataDirectory, 'crs');
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  const versions = names
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return join(root, versions.at(-1) ?? 'none');
}

/** The rule set of this machine; null when there is none. */
export async function findRuleSet(env: Pick<Env, 'dataDirectory' | 'crsDirectory'>): Promise<string | null> {
  const directory = env.crsDirectory ?? (await newestRuleSet(resolve(env.dataDirectory)));
  return (await exists(join(directory, 'rules'))) ? directory : null;
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // absent or unreadable: both are no use
  );
}
