// `.env`: the settings of this deployment as a file, written on the first start, read on every one.
import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  fileVariableOf,
  parseEnvironmentFile,
  renderEnvironmentLines,
  variables,
  type EnvironmentVariable,
} from '#settings/environment';
import { Refusal, withFiles } from '../refusal.js';
import { root, shown } from './directories.js';

/** GATEHOUSE_ENV_FILE names another place, so that one checkout can run twice. */
export function envFilePath(): string {
  const named = process.env['GATEHOUSE_ENV_FILE'];
  return named ? resolve(named) : join(root, '.env');
}

/**
 * The values of the file; none where there is no file. Throws Refusal for the first line that is none of the grammar.
 */
export function readEnvFile(file: string): Readonly<Record<string, string>> {
  if (!existsSync(file)) return {};
  const { values, problems } = parseEnvironmentFile(withFiles(() => readFileSync(file, 'utf8')));
  const [first] = problems;
  if (first !== undefined) throw new Refusal(`${shown(file)}:${first.line}: ${first.message}`);
  return values;
}

const generators: Readonly<Record<NonNullable<EnvironmentVariable['generated']>, () => string>> = {
  key: () => randomBytes(32).toString('base64url'),
  password: () => randomBytes(12).toString('base64url'),
};

function firstValueOf(row: EnvironmentVariable): string {
  return row.generated === undefined ? row.default : generators[row.generated]();
}

/**
 * Writes `.env` (mode 0600) with every variable and fresh secrets, or adds the secrets that one of an older version
 * lacks: what was generated once is kept ever after. Returns what it did.
 */
export function createEnvFile(file = envFilePath()): 'written' | 'complete' | 'completed' {
  if (!existsSync(file)) {
    const lines = [
      '# Written by Gatehouse on its first start. Values here are overridden by the environment and by flags.',
      '',
      ...renderEnvironmentLines(variables, firstValueOf),
    ];
    withFiles(() => {
      writeFileSync(file, lines.join('\n'), { mode: 0o600, flag: 'wx' });
      chmodSync(file, 0o600);
    });
    return 'written';
  }
  const present = readEnvFile(file);
  const rows: readonly EnvironmentVariable[] = variables;
  const isGiven = (name: string): boolean =>
    [name, fileVariableOf(name)].some((each) => Boolean(present[each]) || Boolean(process.env[each]));
  const missing = rows.filter(({ name, generated }) => generated !== undefined && !isGiven(name));
  if (missing.length === 0) return 'complete';
  const lines = renderEnvironmentLines(missing, firstValueOf);
  withFiles(() => appendFileSync(file, `\n\n${lines.join('\n')}`)); // the last line may lack its end
  return 'completed';
}
