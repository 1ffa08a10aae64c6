// Texts of parameters and forms → the values that their schemas mean. OpenAPI writes every value as text: `7` is a
// number where the schema says so. What a schema leaves open is tried in every type that it allows.
import { isMap, Trace, type Check } from './json/check.js';
import type { JsonSchema, PlannedParameter } from './plan.js';

type Definitions = Readonly<Record<string, JsonSchema>>;

const allTypes = ['string', 'number', 'boolean', 'null', 'array', 'object'];
const typeOfValue = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

const namesOfTypes = (type: unknown): string[] =>
  [type].flat().flatMap((one) => (typeof one !== 'string' ? [] : one === 'integer' ? 'number' : one));

/** Every type that a schema allows, as far as it says. */
export function typesIn(schema: unknown, definitions: Definitions, hops = 0): ReadonlySet<string> {
  if (!isMap(schema) || hops > 20) return new Set(allTypes);
  const { type, enum: values, const: only, $ref } = schema;
  if (type !== undefined) return new Set(namesOfTypes(type));
  if (Array.isArray(values)) return new Set(values.map(typeOfValue));
  if (only !== undefined) return new Set([typeOfValue(only)]);
  if (typeof $ref === 'string') return typesIn(definitions[$ref], definitions, hops + 1);
  for (const name of ['allOf', 'anyOf', 'oneOf']) {
    const list = schema[name];
    if (!Array.isArray(list) || list.length === 0) continue;
    const sets = (list as unknown[]).map((one) => typesIn(one, definitions, hops + 1));
    const inSome = allTypes.filter((one) => sets.some((set) => set.has(one)));
    return new Set(name === 'allOf' ? inSome.filter((one) => sets.every((set) => set.has(one))) : inSome);
  }
  if (schema['properties'] !== undefined) return new Set(['object']);
  if (schema['items'] !== undefined) return new Set(['array']);
  return new Set(allTypes);
}

/** The schema of a member or an item, through references and combinations; true: nothing is said. */
export function schemaWithin(schema: unknown, name: string | null, definitions: Definitions, hops = 0): JsonSchema {
  if (!isMap(schema) || hops > 20) return true;
  const own = name === null ? schema['items'] : isMap(schema['properties']) ? schema['properties'][name] : undefined;
  if (own !== undefined) return own as JsonSchema;
  const others = name === null ? undefined : schema['additionalProperties'];
  const lists = [schema['allOf'], schema['anyOf'], schema['oneOf']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const target = typeof schema['$ref'] === 'string' ? [definitions[schema['$ref']]] : [];
  for (const part of [...target, ...(lists as unknown[])]) {
    const found = schemaWithin(part, name, definitions, hops + 1);
    if (found !== true) return found;
  }
  return isMap(others) ? others : true;
}

/** Names that a schema declares, through references and combinations. */
export function namesIn(schema: unknown, definitions: Definitions, into = new Set<string>(), hops = 0): Set<string> {
  if (!isMap(schema) || hops > 20) return into;
  if (isMap(schema['properties'])) for (const name of Object.keys(schema['properties'])) into.add(name);
  const lists = [schema['allOf'], schema['anyOf'], schema['oneOf']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const target = typeof schema['$ref'] === 'string' ? [definitions[schema['$ref']]] : [];
  for (const part of [...target, ...(lists as unknown[])]) namesIn(part, definitions, into, hops + 1);
  return into;
}

/** Bytes as a latin1 string → the characters that they are in UTF-8. Most texts are ASCII and stay as they are. */
export function fromUtf8(latin1: string): string {
  for (let at = 0; at < latin1.length; at += 1)
    if (latin1.charCodeAt(at) > 0x7f) return Buffer.from(latin1, 'latin1').toString('utf8');
  return latin1;
}

/** A number as JSON writes it; NaN: it is none. */
function numberOf(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isDigit = code >= 0x30 && code <= 0x39;
    const isOther = code === 0x2d || code === 0x2e || code === 0x2b || code === 0x45 || code === 0x65;
    if (!isDigit && !isOther) return Number.NaN;
  }
  return text === '' ? Number.NaN : Number(text);
}

/** What a text may mean under a schema; never empty. */
export function meanings(text: string, types: ReadonlySet<string>): unknown[] {
  const found: unknown[] = types.has('string') ? [text] : [];
  if (types.has('number')) {
    const value = numberOf(text);
    if (!Number.isNaN(value)) found.push(value);
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) found.push(text === 'true');
  if (types.has('null') && (text === '' || text === 'null')) found.push(null);
  return found.length === 0 ? [text] : found;
}

export interface TextReader {
  /** The value that one text means: the first meaning that fits, else the first of all. */
  single(text: string): unknown;
  /** The same for each text of a list. */
  list(texts: readonly string[]): unknown[];
  /** The same for each member of an object. */
  members(pairs: readonly (readonly [string, string])[]): Record<string, unknown>;
  readonly takesList: boolean;
  readonly takesMembers: boolean;
  readonly names: ReadonlySet<string>;
}

export type Compile = (schema: JsonSchema) => Check;

function readOne(schema: JsonSchema, definitions: Definitions, compile: Compile): (text: string) => unknown {
  const types = typesIn(schema, definitions);
  if (types.size === 1 && types.has('string')) return (text) => text;
  const check = compile(schema);
  return (text) => {
    const found = meanings(text, types);
    // the index, since what is found may be null
    const fitting = found.length === 1 ? 0 : found.findIndex((value) => new Trace().holds(check, value));
    return found[Math.max(fitting, 0)];
  };
}

export function textReader(schema: JsonSchema, definitions: Definitions, compile: Compile): TextReader {
  const types = typesIn(schema, definitions);
  const item = schemaWithin(schema, null, definitions);
  const single = readOne(schema, definitions, compile);
  const ofItem = types.has('array') ? readOne(item, definitions, compile) : null;
  const names = types.has('object') ? namesIn(schema, definitions) : new Set<string>();
  const ofMember = new Map([...names].map((name) => [name, readMember(schema, name, definitions, compile)]));
  const isOpen = types.size === allTypes.length;
  return {
    single,
    list: (texts) => texts.map((text) => (ofItem === null ? text : ofItem(text))),
    members: (pairs) => {
      const value: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
      for (const [name, text] of pairs) value[name] = ofMember.get(name)?.(text) ?? text;
      return value;
    },
    takesList: types.has('array') && !isOpen,
    takesMembers: types.has('object') && !isOpen,
    names,
  };
}

const readMember = (schema: JsonSchema, name: string, definitions: Definitions, compile: Compile) =>
  readOne(schemaWithin(schema, name, definitions), definitions, compile);

const separators = {
  form: ',',
  simple: ',',
  label: '.',
  matrix: ',',
  spaceDelimited: ' ',
  pipeDelimited: '|',
} as const;

/** One text that holds a list or an object, by its style (OpenAPI 3.1 section 4.8.12.3). */
export function splitText(
  text: string,
  { style, explode, name }: Pick<PlannedParameter, 'style' | 'explode' | 'name'>,
): string[] {
  if (text === '') return [];
  if (style === 'label') return text.replace(/^\./, '').split(explode ? '.' : /[.,]/);
  if (style === 'matrix') {
    const bare = text.replace(/^;/, '');
    return explode
      ? bare.split(';').map((part) => (part.startsWith(`${name}=`) ? part.slice(name.length + 1) : part))
      : bare.replace(`${name}=`, '').split(',');
  }
  return text.split(style === 'deepObject' ? ',' : separators[style]);
}

/** `a,1,b,2`, or `a=1,b=2` where it is exploded. */
export function pairsOf(parts: readonly string[], explode: boolean): [string, string][] {
  if (explode)
    return parts.map((part) => {
      const at = part.indexOf('=');
      return at === -1 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    });
  const pairs: [string, string][] = [];
  for (let index = 0; index < parts.length; index += 2) pairs.push([parts[index] ?? '', parts[index + 1] ?? '']);
  return pairs;
}
