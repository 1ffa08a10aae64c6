// Words of JSON Schema (draft 7) for the values of the chart, and of variables of the environment in it.
import { variables, type EnvironmentVariable, type ProcessName } from '#settings/environment';

export type Schema = Readonly<Record<string, unknown>>;

const rows: readonly EnvironmentVariable[] = variables;

export const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });
export const flag = (description: string): Schema => ({ type: 'boolean', description });
export const whole = (description: string, minimum: number, maximum: number): Schema => ({
  type: 'integer',
  description,
  minimum,
  maximum,
});
export const oneOf = (description: string, ...allowed: readonly string[]): Schema => ({
  type: 'string',
  description,
  enum: allowed,
});
export const listOf = (description: string, items: Schema): Schema => ({ type: 'array', description, items });
/** What it may have is named; every other key is a mistake. */
export const group = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  more: Schema = {},
): Schema => ({
  type: 'object',
  description,
  additionalProperties: false,
  properties,
  ...more,
});
/** Handed on to Kubernetes as it is. */
export const handedOn = (description: string, type: 'object' | 'array' = 'object'): Schema =>
  type === 'array' ? { type, description, items: { type: 'object' } } : { type, description };
export const textMap = (description: string, key?: string, value?: string): Schema => ({
  type: 'object',
  description,
  ...(key === undefined ? {} : { propertyNames: { pattern: key } }),
  additionalProperties: { type: 'string', ...(value === undefined ? {} : { pattern: value }) },
});

/** Rows that a process reads, without those that the chart sets itself. */
export const variablesOf = (
  processes: readonly ProcessName[],
  isSecret: boolean,
  own: readonly string[],
): readonly EnvironmentVariable[] =>
  rows.filter(
    (row) =>
      processes.some((one) => row.readBy.includes(one)) &&
      (row.isSecret === true) === isSecret &&
      !own.includes(row.name),
  );

/** What a value of a row must look like, as the settings of the process check it (settings/environment/kinds.ts). */
export function shapeOf({ kind }: EnvironmentVariable): Schema {
  const patterns: Readonly<Partial<Record<EnvironmentVariable['kind'], Schema>>> = {
    port: { pattern: '^[0-9]{1,5}$' },
    count: { pattern: '^[1-9][0-9]{0,2}$' },
    url: { pattern: '^(https?://.*)?$' },
    listener: { enum: ['auto', 'net', 'uws', 'node'] },
    switch: { enum: ['on', 'off'] },
    flag: { enum: ['', '0', '1'] },
    logLevel: { enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
    email: { pattern: '^[^\\s@]+@[^\\s@]+$' },
    redisPrefix: { pattern: '^[A-Za-z0-9:._-]{0,64}$' },
  };
  return { type: 'string', ...patterns[kind] };
}

export function environmentGroup(description: string, chosen: readonly EnvironmentVariable[]): Schema {
  const told = (row: EnvironmentVariable): string =>
    row.default === '' ? row.purpose : `${row.purpose} (default ${row.default})`;
  return group(
    description,
    Object.fromEntries(chosen.map((row) => [row.name, { ...shapeOf(row), description: told(row) }])),
  );
}

export function secretGroup(description: string, chosen: readonly EnvironmentVariable[]): Schema {
  return group(
    description,
    Object.fromEntries(
      chosen.map((row) => [
        row.name,
        group(
          row.purpose,
          { secret: text('name of the Secret', { minLength: 1 }), key: text('key in it', { minLength: 1 }) },
          { required: ['secret', 'key'] },
        ),
      ]),
    ),
  );
}
