import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnvFile } from '../env.js';

interface Environment {
  createEnvFile(file: string): 'written' | 'complete' | 'completed';
}
export const { createEnvFile } = (await import(
  new URL('../../../bin/environment.mjs', import.meta.url).href
)) as Environment;

/**
 * Writes `.env` with `lines` and the secrets that `gatehouse up` generates for what they lack; returns all its values.
 */
export async function writeEnvFile(directory: string, lines: readonly string[]): Promise<Record<string, string>> {
  const file = join(directory, '.env');
  await writeFile(file, `${lines.join('\n')}\n`);
  createEnvFile(file);
  return parseEnvFile(await readFile(file, 'utf8'));
}
