// What a data-plane node gets of the settings: the rows that reach it and that it enforces, under their names in the
// style of its own code (`request_body_bytes_max` → `requestBodyBytesMax`). Type, values and the schema that its door
// checks are all made from the table, so that a new row travels without a line here.
import type { ValidateFunction } from 'ajv';
import { compileCheck, explainErrors, type Problem } from './problems.js';
import { defaultOf, factsOf } from './row.js';
import { defaultSettings, settingNames, settingRows, type SettingName, type Settings } from './table.js';

/**
 * Rows that reach a node as something else, made by proxy/contract: trusted proxies as one list, timeouts against
 * floods inside `timeouts`.
 */
const derivedNames = [
  'rl_trust_proxy',
  'rl_trusted_proxies',
  'flood_timeouts_enabled',
  'flood_read_header',
  'flood_read_body',
  'flood_write',
  'flood_idle',
] as const satisfies readonly SettingName[];

type Rows = typeof settingRows;
type IsSent<Name extends SettingName> = Name extends (typeof derivedNames)[number]
  ? false
  : Rows[Name] extends { 'x-enforced-by': string; 'x-reach': readonly (infer Reach)[] }
    ? 'data' extends Reach
      ? true
      : false
    : false;
type SentName = { [Name in SettingName]: IsSent<Name> extends true ? Name : never }[SettingName];

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
type DeepCamel<T> = T extends readonly (infer Item)[]
  ? readonly DeepCamel<Item>[]
  : T extends object
    ? { readonly [Name in keyof T as Name extends string ? Camel<Name> : Name]: DeepCamel<T[Name]> }
    : T;

export type DataPlaneSettings = DeepCamel<Pick<Settings, SentName>>;

const isDerived = (name: string): boolean => (derivedNames as readonly string[]).includes(name);

/** In the order of the table. */
export const sentNames: readonly SettingName[] = settingNames.filter((name) => {
  const { reach, enforcedBy } = factsOf(settingRows[name]);
  return enforcedBy !== null && reach.includes('data') && !isDerived(name);
});

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly additionalProperties?: unknown;
}

/**
 * The value with the member names of `schema` in camel case. What the schema does not name (maps by free keys) stays.
 */
function toCamel(value: unknown, schema: SchemaNode): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => toCamel(item, schema.items ?? {}));
  const { properties } = schema;
  if (typeof value !== 'object' || value === null || properties === undefined) return value;
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [camel(name), toCamel(members[name], inner)]),
  );
}

/** `settings` are complete. */
export function toDataPlane(settings: Settings): DataPlaneSettings {
  const entries = sentNames.map((name) => [camel(name), toCamel(settings[name], settingRows[name] as SchemaNode)]);
  return Object.fromEntries(entries) as DataPlaneSettings;
}

/** Open: what a newer control plane has more is not this node's to refuse; what it has less gets the default. */
function toCamelSchema(schema: SchemaNode): Record<string, unknown> {
  const { properties, required, items, anyOf, additionalProperties: _closed, ...rest } = schema;
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: toCamelProperties(properties) }),
    ...(required === undefined ? {} : { required: required.map(camel) }),
    ...(items === undefined ? {} : { items: toCamelSchema(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(toCamelSchema) }),
  };
}

function toCamelProperties(properties: Readonly<Record<string, SchemaNode>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [camel(name), toCamelSchema(inner)]));
}

/** What a node has where nobody said anything. */
export const dataPlaneDefaults = (): DataPlaneSettings => toDataPlane(defaultSettings());

type SiteSettings = DataPlaneSettings['sites'][number];

/** What a site has where only its upstream is known. */
export function siteDefaults(): Pick<SiteSettings, 'upstreams' | 'healthCheck'> {
  const { health_check } = settingRows.sites.items.properties;
  return {
    upstreams: [],
    healthCheck: toCamel(defaultOf(health_check), health_check as SchemaNode) as SiteSettings['healthCheck'],
  };
}

/** JSON schema (2020-12, of properties only) of `DataPlaneSettings`, for whoever has an envelope around it. */
export function dataPlaneProperties(): Record<string, unknown> {
  return toCamelProperties(Object.fromEntries(sentNames.map((name) => [name, settingRows[name] as SchemaNode])));
}

/** A check of JSON against a schema that holds `dataPlaneProperties`; fills in defaults. Empty when it fits. */
export function createDoorCheck(schema: object): (candidate: unknown) => Problem[] {
  let check: ValidateFunction | undefined;
  return (candidate) => {
    check ??= compileCheck(JSON.parse(JSON.stringify(schema)) as object);
    return check(candidate) ? [] : explainErrors(check.errors ?? []);
  };
}
