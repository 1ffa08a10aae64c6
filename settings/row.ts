// What a setting is: one row, a TypeBox schema with everything that anybody has to know of it. From the rows come the
// API's check, the local settings file, what a data-plane node gets and the check at its door, the API document, the
// reference in docs/settings.md, and the answer to "is it in force?".
import { Type, type SchemaOptions, type TSchema } from '@sinclair/typebox';

/** `admin`: a governance field; operators may read it and send it back unchanged. */
export type Access = 'operator' | 'admin';

/**
 * Who needs the value. `rules`: whoever makes rules of the settings. `data`: a data-plane node, which gets it by name
 * (see data-plane.ts). `control`: the control plane itself; a data plane without one has no use for it.
 */
export type Reach = 'rules' | 'data' | 'control';

export interface RowFacts {
  readonly access: Access;
  readonly reach: readonly [Reach, ...Reach[]];
  /** The file that makes it so. null: stored and answered `not enforced yet`; nobody may take it for protection. */
  readonly enforcedBy: string | null;
  /** What it does, in a sentence without a subject. */
  readonly description: string;
  readonly unit?: string;
  /** How to fix a value that does not fit, where the type alone does not say it. */
  readonly fix?: string;
  /**
   * A setting without which this one does nothing, for switches that are on by default: `bot_verify_rdns` asks for
   * nothing while `bot_action` does not.
   */
  readonly under?: string;
  /**
   * What a new installation begins with, where that is not the default: the default is what settings mean that were
   * stored, or written into a file, before the setting was there, and must not change under anybody.
   */
  readonly initially?: unknown;
}

/** A row of the table of settings: the schema of the value with its facts, which stand in the schema as `x-…`. */
export function setting<T extends TSchema, const Facts extends RowFacts>(
  schema: T,
  facts: Facts,
): T & { readonly 'x-reach': Facts['reach']; readonly 'x-enforced-by': Facts['enforcedBy'] } {
  const { access, reach, enforcedBy, description, unit, fix, under, initially } = facts;
  return {
    ...schema,
    description,
    'x-access': access,
    'x-reach': reach,
    'x-enforced-by': enforcedBy,
    ...(unit === undefined ? {} : { 'x-unit': unit }),
    ...(fix === undefined ? {} : { 'x-fix': fix }),
    ...(under === undefined ? {} : { 'x-under': under }),
    ...(initially === undefined ? {} : { 'x-initially': initially }),
  };
}

/** The facts of a row, read back from its schema. */
export function factsOf(schema: TSchema): RowFacts {
  const row = schema as TSchema & Record<`x-${string}`, unknown>;
  return {
    access: row['x-access'] as Access,
    reach: row['x-reach'] as RowFacts['reach'],
    enforcedBy: row['x-enforced-by'] as string | null,
    description: schema.description ?? '',
    ...(row['x-unit'] === undefined ? {} : { unit: row['x-unit'] as string }),
    ...(row['x-fix'] === undefined ? {} : { fix: row['x-fix'] as string }),
    ...(row['x-under'] === undefined ? {} : { under: row['x-under'] as string }),
    ...(row['x-initially'] === undefined ? {} : { initially: row['x-initially'] }),
  };
}

/** A member of an object that is no setting of its own, with its unit. */
export function member<T extends TSchema>(schema: T, description: string, unit?: string): T {
  return { ...schema, description, ...(unit === undefined ? {} : { 'x-unit': unit }) };
}

export const closed = { additionalProperties: false } as const;

/** What a stored secret looks like to every reader. Sent back, it means: keep what is stored. */
export const keptSecret = '********';

export const Flag = (value: boolean) => Type.Boolean({ default: value });

export const Whole = (minimum: number, maximum: number, value: number) =>
  Type.Integer({ minimum, maximum, default: value });

export const Choice = <const T extends readonly string[]>(values: T, value: T[number]) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], default: value });

/** `null` means what its description says. */
export const OrNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], { default: null, ...(description === undefined ? {} : { description }) });

export const Text = (lengthMax: number, options: SchemaOptions & { pattern?: string } = {}) =>
  Type.String({ maxLength: lengthMax, default: '', ...options });

/** One line of text: a name, an address, a value that is compared as a whole. */
export const Line = (lengthMax: number, options: SchemaOptions & { minLength?: number } = {}) =>
  Shaped('^[^\\u0000-\\u001f\\u007f]*$', 'write it on one line, without tabs and other control characters', {
    maxLength: lengthMax,
    default: '',
    ...options,
  });

/** Text of a form that `fix` describes; '' only where `options.default` says so. */
export const Shaped = (
  pattern: string,
  fix: string,
  options: SchemaOptions & { maxLength?: number; minLength?: number } = {},
) => Type.String({ pattern, 'x-fix': fix, ...options });

/** What the schema says where nobody says anything; of an object, that of its members. */
export function defaultOf(schema: TSchema): unknown {
  const { properties } = schema as { readonly properties?: Readonly<Record<string, TSchema>> };
  if (properties === undefined) return structuredClone(schema.default);
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, defaultOf(inner)]));
}

/** A count and a unit: `30s`, `1m`, `2h`, `1d`. */
export const Window = (value: string) =>
  Shaped('^[1-9][0-9]{0,4}(s|m|h|d)$', 'write a count and a unit, such as 30s, 1m, 2h or 1d', { default: value });

/** Write-only: readers see `null` (none) or eight asterisks. */
export const Secret = () =>
  Type.Union([Type.String({ minLength: 1, maxLength: 4096 }), Type.Null()], {
    default: null,
    writeOnly: true,
    'x-secret': true,
  });

/**
 * Empty, or an absolute http(s) URL without user and password. `credentials`: which parts of its path let in whoever
 * knows them (`webhook` the whole, `keyed` those that look made by a machine, `plain` none); readers never see them,
 * nor the values of its query.
 */
export const HttpUrl = (credentials: 'webhook' | 'keyed' | 'plain' = 'keyed') =>
  Shaped('^(https?://[^\\s@/]+(/[^\\s]*)?)?$', 'write an http or https address without user and password, or nothing', {
    maxLength: 2048,
    default: '',
    'x-url': credentials,
  });

/** A path prefix as it is compared at the data plane: begins with a slash, no query, no control characters. */
export const Path = (options: SchemaOptions = {}) =>
  Shaped('^/[^?#\\u0000-\\u001f\\u007f]*$', 'write a path that begins with "/", without "?" and "#"', {
    minLength: 1,
    maxLength: 1024,
    ...options,
  });

export const Method = () =>
  Shaped('^([A-Z][A-Z0-9_-]*|\\*)$', 'write a method in capitals, or * for all', { minLength: 1, maxLength: 32 });

const network = '^([0-9]{1,3}(\\.[0-9]{1,3}){3}(/[0-9]{1,2})?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?)$';

/** The form only: whether it is an address is asked in between-rows.ts. */
export const Network = () =>
  Shaped(network, 'write an address or a network, such as 192.0.2.7 or 10.0.0.0/8', { maxLength: 64 });

export const MediaType = () =>
  Shaped('^[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}$', 'write a media type without parameters');
