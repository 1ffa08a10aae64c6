import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEnvFile } from '#cli/environment/env-file';
import { parseEnvFile } from '../env.js';

export { createEnvFile };

/**
 * Writes `.env` with `lines` and the secrets that `gatehouse up` generates for what they lack; returns all its values.
 */
export async function writeEnvFile(directory: string, lines: readonly string[]): Promise<Record<string, string>> {
  const file = join(directory, '.env');
  await writeFile(file, `${lines.join('\n')}\n`);
  createEnvFile(file);
  return parseEnvFile(await readFile(file, 'utf8'));
}
