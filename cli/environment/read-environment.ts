// The variables in force, from flags, then the environment, then `.env`, then the defaults of settings/environment.ts.
import { resolve } from 'node:path';
import { kinds, variables, type EnvironmentVariable, type Values } from '#settings/environment';
import { Refusal } from '../refusal.js';
import { root, shown } from './directories.js';
import { envFilePath, readEnvFile } from './env-file.js';

/** Every variable's value in force, checked; all problems are reported at once. An empty value counts as none. */
export function readEnvironment(flags: Readonly<Record<string, string>> = {}, file = envFilePath()): Values {
  const sources: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
    ['flag', flags],
    ['environment', process.env],
    [shown(file), readEnvFile(file)],
  ];
  const problems: string[] = [];
  const choose = ({ name, kind, purpose, isSecret, default: fallback }: EnvironmentVariable): [string, string] => {
    const [source, given] = sources.find(([, values]) => (values[name] ?? '') !== '') ?? ['default', {}];
    const value = given[name] ?? fallback;
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
  return { ...values, DATA_DIR: resolve(root, values.DATA_DIR || values.GATEHOUSE_DATA) };
}
