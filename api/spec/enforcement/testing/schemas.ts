// Random schemas as people write them in OpenAPI documents, and values that fit them. Everything is made as JSON Schema
// 2020-12, which ajv reads; `in30` writes the same in the words of OpenAPI 3.0.
import type { Dice } from './dice.js';

export type Schema = Record<string, unknown>;
export type Definitions = Record<string, Schema>;

const lower = 'abcdefghijklmnopqrstuvwxyz0123456789';
const two = (value: number): string => String(value).padStart(2, '0');
const date = (dice: Dice): string => `20${two(dice.below(40))}-${two(1 + dice.below(12))}-${two(1 + dice.below(28))}`;

interface TextKind {
  readonly schema: Schema;
  readonly make: (dice: Dice) => string;
}

const group = (dice: Dice, length: number): string => dice.text('0123456789abcdef', length);

/** Texts that stand in a path, a header or a cookie as they are. */
const plainTexts: readonly TextKind[] = [
  { schema: { pattern: '^[a-z0-9-]{1,16}$' }, make: (dice) => dice.text(lower, 1 + dice.below(16)) },
  { schema: { pattern: '^[A-Z]{2}-[0-9]{4}$' }, make: (dice) => `AB-${1000 + dice.below(9000)}` },
  { schema: { enum: ['draft', 'paid', 'sent'] }, make: (dice) => dice.pick(['draft', 'paid', 'sent']) },
  {
    schema: { format: 'uuid' },
    make: (dice) => [8, 4, 4, 4, 12].map((length) => group(dice, length)).join('-'),
  },
  { schema: { format: 'date' }, make: date },
  { schema: { minLength: 3, maxLength: 12 }, make: (dice) => dice.text(lower, 3 + dice.below(10)) },
];

const texts: readonly TextKind[] = [
  ...plainTexts,
  { schema: {}, make: (dice) => dice.pick(['', 'Ünï ¢ode 😀', 'a "quoted" \\ text', 'x: y', 'null']) },
  { schema: { format: 'date-time' }, make: (dice) => `${date(dice)}T${two(dice.below(24))}:05:59.25+02:00` },
  { schema: { format: 'email' }, make: (dice) => `${dice.text(lower, 5)}.o'neil+x@mail-1.example.org` },
  { schema: { format: 'ipv4' }, make: (dice) => `10.${dice.below(256)}.0.${dice.below(256)}` },
  { schema: { format: 'ipv6' }, make: (dice) => `2001:db8::${group(dice, 1 + dice.below(4))}` },
  { schema: { pattern: '^(?:[a-z]+/)*[a-z]+\\.(?:png|jpe?g)$' }, make: (dice) => dice.pick(['a.png', 'b/c/d.jpeg']) },
  { schema: { pattern: '^\\p{Lu}', maxLength: 40 }, make: (dice) => dice.pick(['Éa', 'Zoo']) },
  { schema: { minLength: 2, maxLength: 3 }, make: (dice) => dice.pick(['😀😀', 'abc', '😀😀😀']) },
];

const scalars = (dice: Dice, kinds: readonly TextKind[]): Schema => {
  const at = dice.below(10);
  if (at < 5) return { type: 'string', ...dice.pick(kinds).schema };
  if (at === 5) return { type: 'boolean' };
  if (at === 6) return { type: 'integer', format: 'int32' };
  if (at === 7) return { type: 'integer', minimum: -5, maximum: 500, multipleOf: 5 };
  if (at === 8) return { type: 'number', exclusiveMinimum: 0, maximum: 1000 };
  return { type: 'integer', minimum: 1, exclusiveMaximum: 100 };
};

/** Of a parameter: `isPlain` where no text may have a character that its style gives a meaning. */
export const scalarSchema = (dice: Dice, isPlain: boolean): Schema => scalars(dice, isPlain ? plainTexts : texts);

const memberNames = ['id', 'name', 'x-rate', 'größe', 'a/b', 'tags', 'from', 'to', 'constructor', 'note', 'kind2'];

/** `depth`: how many objects and lists may still stand inside each other. `$ref` names a member of `definitions`. */
export function bodySchema(dice: Dice, depth: number, definitions: readonly string[]): Schema {
  const schema = ((): Schema => {
    if (depth === 0 || dice.once(4)) return scalars(dice, texts);
    if (dice.once(4) && definitions.length > 0) return { $ref: `#/components/schemas/${dice.pick(definitions)}` };
    if (dice.once(3)) {
      const list: Schema = { type: 'array', items: bodySchema(dice, depth - 1, definitions), maxItems: 4 };
      return dice.once(2) ? { ...list, minItems: 1 } : list;
    }
    return objectSchema(dice, depth, definitions);
  })();
  return typeof schema['type'] === 'string' && dice.once(6) ? orNull(schema) : schema;
}

export function orNull(schema: Schema): Schema {
  const values = schema['enum'] as unknown[] | undefined;
  return { ...schema, type: [schema['type'], 'null'], ...(values === undefined ? {} : { enum: [...values, null] }) };
}

export function objectSchema(dice: Dice, depth: number, definitions: readonly string[]): Schema {
  const names = memberNames.filter(() => dice.once(2));
  if (names.length === 0) names.push('id');
  const properties: Schema = {};
  for (const name of names) properties[name] = bodySchema(dice, depth - 1, definitions);
  if (dice.once(3)) properties['created'] = { type: 'string', format: 'date-time', readOnly: true };
  const required = Object.keys(properties).filter(() => dice.once(2));
  const others = dice.below(4);
  return {
    ...{ type: 'object', properties },
    ...(required.length > 0 ? { required } : {}),
    ...(others === 0 ? { additionalProperties: false } : {}),
    ...(others === 1 ? { additionalProperties: { type: 'integer', minimum: 0 } } : {}),
  };
}

/** Components: objects, one that contains itself, and alternatives that a member tells apart. */
export function componentsOf(dice: Dice): Definitions {
  const definitions: Definitions = {};
  for (let index = 0; index < 8; index += 1)
    definitions[`Part${index}`] = objectSchema(dice, 2, Object.keys(definitions));
  const kinds = ['Card', 'Transfer', 'Voucher'];
  for (const kind of kinds) {
    const { properties, ...rest } = objectSchema(dice, 2, []);
    const own = { ...(properties as Schema), kind: { type: 'string', enum: [kind] } };
    definitions[kind] = { ...rest, properties: own, required: [...((rest['required'] as string[]) ?? []), 'kind'] };
  }
  definitions['Payment'] = {
    oneOf: kinds.map((kind) => ({ $ref: `#/components/schemas/${kind}` })),
    discriminator: { propertyName: 'kind' },
  };
  const branches = { type: 'array', maxItems: 3, items: { $ref: '#/components/schemas/Tree' } };
  definitions['Tree'] = { type: 'object', required: ['leaf'], properties: { leaf: scalars(dice, texts), branches } };
  definitions['Whole'] = {
    allOf: [
      { type: 'object', required: ['first'], properties: { first: scalars(dice, texts) } },
      { type: 'object', properties: { second: bodySchema(dice, 1, []) } },
    ],
  };
  return definitions;
}

/** What a client may send: a member that is for reading only is none of it. */
export function inRequests(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inRequests);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties, required, discriminator: _, ...rest } = schema as Schema;
  const kept: Schema = {};
  for (const [name, value] of Object.entries(rest)) kept[name] = inRequests(value);
  if (typeof properties !== 'object' || properties === null) return kept;
  const isRefused = (one: unknown): boolean => (one as Schema)['readOnly'] === true;
  const members = Object.entries(properties as Schema);
  kept['properties'] = Object.fromEntries(
    members.map(([name, one]) => [name, isRefused(one) ? false : inRequests(one)]),
  );
  const refused = new Set(members.filter(([, one]) => isRefused(one)).map(([name]) => name));
  if (Array.isArray(required)) kept['required'] = (required as string[]).filter((name) => !refused.has(name));
  return kept;
}

/** The same schema in OpenAPI 3.0: `nullable`, bounds that are exclusive by a flag. */
export function in30(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(in30);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept: Schema = {};
  for (const [name, value] of Object.entries(schema)) kept[name] = name === 'enum' ? value : in30(value);
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const)
    if (typeof kept[exclusive] === 'number') Object.assign(kept, { [bound]: kept[exclusive], [exclusive]: true });
  if (Array.isArray(kept['type'])) Object.assign(kept, { type: (kept['type'] as string[])[0], nullable: true });
  return kept;
}

/** A value that fits; `depth` ends what contains itself. */
export function sample(dice: Dice, schema: Schema, definitions: Definitions, depth = 0): unknown {
  const { $ref, oneOf, allOf, type } = schema;
  const again = (inner: unknown): unknown => sample(dice, inner as Schema, definitions, depth + 1);
  if (typeof $ref === 'string') return again(definitions[$ref.slice($ref.lastIndexOf('/') + 1)]);
  if (Array.isArray(oneOf)) return again(dice.pick(oneOf));
  if (Array.isArray(allOf)) return Object.assign({}, ...(allOf as Schema[]).map(again)) as unknown;
  if (Array.isArray(type) && dice.once(4)) return null;
  const kind = [type].flat()[0] as string;
  if (kind === 'object') return sampleObject(dice, schema, again, depth);
  if (kind === 'array') {
    const least = (schema['minItems'] as number | undefined) ?? 0;
    const most = depth > 5 ? least : ((schema['maxItems'] as number | undefined) ?? 3);
    return Array.from({ length: least + dice.below(most - least + 1) }, () => again(schema['items']));
  }
  if (kind === 'boolean') return dice.once(2);
  if (kind === 'number') return (1 + dice.below(3999)) / 4;
  if (kind === 'integer') return sampleInteger(dice, schema);
  const { type: _type, ...facts } = schema;
  if (Array.isArray(facts['enum'])) return dice.pick((facts['enum'] as unknown[]).filter((one) => one !== null));
  const found = texts.find((one) => JSON.stringify(one.schema) === JSON.stringify(facts));
  if (found === undefined) throw new Error(`no text is known for ${JSON.stringify(schema)}`);
  return found.make(dice);
}

function sampleInteger(dice: Dice, { format, multipleOf }: Schema): number {
  if (format === 'int32') return dice.pick([0, -1, 2_147_483_647, -2_147_483_648, 42]);
  return multipleOf === 5 ? 5 * (dice.below(102) - 1) : 1 + dice.below(99);
}

function sampleObject(dice: Dice, schema: Schema, again: (inner: unknown) => unknown, depth: number): unknown {
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  const value: Schema = {};
  for (const [name, inner] of Object.entries(schema['properties'] as Record<string, Schema>)) {
    if (inner['readOnly'] === true) continue;
    if (required.has(name) || (depth < 5 && dice.once(2))) value[name] = again(inner);
  }
  if (typeof schema['additionalProperties'] === 'object' && dice.once(2)) value['extra'] = dice.below(1000);
  return value;
}
