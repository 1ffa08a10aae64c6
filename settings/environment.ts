// The environment: what a deployment is told from outside, one row a variable. Everybody who names, reads, writes or
// documents such a variable takes it from here: the commands, the control plane, `.env`, `.env.example`, the README,
// and whatever installs Gatehouse. Pure: the callers bring the texts and the values.
import { controlPlaneVariables, outgoingVariables, dashboardVariables } from './environment/control-plane-variables.js';
import { fleetVariables } from './environment/fleet-variables.js';
import { httpsVariables } from './environment/https-variables.js';
import { nodeVariables } from './environment/node-variables.js';
import { environmentOf } from './environment/of-process.js';
import { fileVariableOf, givenBy, isFileVariable } from './environment/secret-files.js';
import { storageVariables } from './environment/storage-variables.js';
import type { EnvironmentVariable, ProcessName } from './environment/variable.js';

export { parseEnvironmentFile, type EnvironmentFile, type EnvironmentFileProblem } from './environment/file.js';
export { kinds, type Kind } from './environment/kinds.js';
export { localUrl } from './environment/local-url.js';
export { readRedis, redisAddressOf, type RedisAddress, type RedisServer, type RedisTls } from './environment/redis.js';
export { renderEnvironmentExample, renderEnvironmentLines, renderEnvironmentTable } from './environment/render.js';
export { fileVariableOf, givenBy, type Secret } from './environment/secret-files.js';
export { toolVariables } from './environment/tool-variables.js';
export type { EnvironmentVariable, KindName, ProcessName } from './environment/variable.js';

/** In the order in which `.env` lists them. */
export const variables = [
  ...nodeVariables,
  ...controlPlaneVariables,
  ...fleetVariables,
  ...storageVariables,
  ...dashboardVariables,
  ...httpsVariables,
  ...outgoingVariables,
] as const;

export type VariableName = (typeof variables)[number]['name'];
export type Values = Readonly<Record<VariableName, string>>;
type Given = Readonly<Partial<Record<string, string>>>;

/** The part of an environment that a child process is given: its own variables, and those of the system. */
export const environmentFor = (process: ProcessName | null, given: Given): Record<string, string> =>
  environmentOf(process, given, variables);

const rows: ReadonlyMap<string, EnvironmentVariable> = new Map(variables.map((row) => [row.name, row]));

export function variableOf(name: VariableName): EnvironmentVariable {
  const row = rows.get(name);
  if (row === undefined) throw new Error(`there is no variable ${name}`);
  return row;
}

export const isVariableName = (name: string): name is VariableName => rows.has(name);
/** `AUTH_SESSION_SECRET_FILE` and its kind: a file that holds the secret. */
export const isSecretFileName = (name: string): boolean => isFileVariable(name, variables);

/**
 * `given` with the content of each file that a `…_FILE` names in place of it. `read` throws where there is no such
 * file. Never throws: what is wrong is a line for a person, and the variable stays empty.
 */
export function withSecretFiles(
  given: Given,
  read: (file: string) => string,
): { readonly values: Given; readonly problems: readonly string[] } {
  const values: Record<string, string | undefined> = { ...given };
  const problems: string[] = [];
  for (const row of rows.values()) {
    if (given[fileVariableOf(row.name)] === undefined || row.isSecret !== true) continue;
    const found = givenBy(row, given, read);
    if ('problem' in found) problems.push(found.problem);
    else values[row.name] = found.value;
  }
  return { values, problems };
}

/** What is in force where `given` has something, the default where it has not; '' where there is no default. */
export function valueOf(name: VariableName, given: Given): string {
  const value = given[name] ?? '';
  return value === '' ? variableOf(name).default : value;
}

/** The same, with what another variable stands in for: what says "empty = …" in its purpose is never empty. */
export function effectiveValueOf(name: VariableName, given: Given): string {
  const value = valueOf(name, given);
  return value === ''
    ? (variableOf(name).whenEmpty?.((other) => effectiveValueOf(other as VariableName, given)) ?? '')
    : value;
}
