// The variables in force, from flags, then the environment, then `.env`, then the defaults of settings/environment.ts.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { givenBy, kinds, variables, type EnvironmentVariable, type Values } from '#settings/environment';
import { Refusal } from '../refusal.js';
import { root, shown } from './directories.js';
import { envFilePath, readEnvFile } from './env-file.js';

type Source = readonly [string, Readonly<Record<string, string | undefined>>];

/** The first source that says something, and what; a secret may be in a file that `…_FILE` names there. */
function sourceOf(row: EnvironmentVariable, sources: readonly Source[], problems: string[]): readonly [string, string] {
  for (const [source, given] of sources) {
    const found = givenBy(row, given, (file) => readFileSync(resolve(root, file), 'utf8'));
    if ('value' in found && found.value === '') continue;
    if ('value' in found) return [source, found.value];
    problems.push(`  ${found.problem} (${source}).`);
    return [source, ''];
  }
  return ['default', row.default];
}

/** Every variable's value in force, checked; all problems are reported at once. An empty value counts as none. */
export function readEnvironment(flags: Readonly<Record<string, string>> = {}, file = envFilePath()): Values {
  const sources: readonly Source[] = [
    ['flag', flags],
    ['environment', process.env],
    [shown(file), readEnvFile(file)],
  ];
  const problems: string[] = [];
  const choose = (row: EnvironmentVariable): [string, string] => {
    const { name, kind, purpose, isSecret } = row;
    const [source, value] = sourceOf(row, sources, problems);
    const wrong = value === '' ? null : kinds[kind].refuse(value);
    if (wrong !== null)
      problems.push(`  ${name}=${isSecret === true ? '…' : value} (${source}) ${wrong}; it is ${purpose}.`);
    return [name, value];
  };
  const values = Object.fromEntries(variables.map(choose)) as Values;
  if (problems.length > 0) throw new Refusal(`these settings cannot be used:\n${problems.join('\n')}`);
  return values;
}

/**
 * Puts where data and rules lie into the environment, which is where the rule set's installer and the compiler look.
 */
export function adoptDirectories(values: Values): void {
  for (const name of ['GATEHOUSE_DATA', 'CRS_DIR'] as const)
    if (values[name] !== '') process.env[name] = resolve(root, values[name]);
}

/**
 * The same values as the control plane is to read them: its data lies where the commands look, whatever the directory.
 */
export function controlPlaneEnvironment(values: Values): Values {
  const files = (['REDIS_TLS_CA_FILE', 'REDIS_TLS_CERT_FILE', 'REDIS_TLS_KEY_FILE'] as const).map((name) => [
    name,
    redisPath(name, values[name]),
  ]);
  const DATA_DIR = resolve(root, values.DATA_DIR || values.GATEHOUSE_DATA);
  return { ...values, ...Object.fromEntries(files), DATA_DIR };
}

/** The value of a variable of Redis; a relative path is looked for from the root of the checkout. */
export const redisPath = (name: string, value: string): string =>
  name.startsWith('REDIS_TLS_') && name.endsWith('_FILE') && value !== '' ? resolve(root, value) : value;
