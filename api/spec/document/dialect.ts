// Schemas of OpenAPI 3.0 → JSON Schema 2020-12, which is what 3.1 has. What 3.0 says otherwise: `nullable`, bounds
// that are exclusive by a flag, siblings of `$ref` that count for nothing, and formats that say what `type` cannot.
// Source: OpenAPI 3.0.4 section 4.7.24, JSON Schema 2020-12 core section 8.2.3.1.
import RE2 from 're2';
import type { JsonSchema } from '#proxy/contract';
import { arrayOf, isObject, objectOf, type JsonObject } from './problem.js';

/** Keywords whose value is a schema, a list of them, or a map of them. */
const single = [
  'items',
  'additionalProperties',
  'not',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contentSchema',
];
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

/** What says nothing about a value; left out, so that plans stay small. */
const annotations = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'xml',
  'externalDocs',
  '$comment',
  '$schema',
]);

/** Whether RE2 has what a pattern asks for; nodes run no other regular expressions over what clients send. */
export function isEnforceable(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    return new RE2(pattern, 'u').unicode;
  } catch {
    return false;
  }
}

/** `schema` of a checked document; null and nonsense become `true`, which fits everything. */
export function toSchema(schema: unknown, is30: boolean): JsonSchema {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  if (is30 && typeof schema['$ref'] === 'string') return { $ref: schema['$ref'] };
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (annotations.has(name) || name.startsWith('x-')) continue;
    if (single.includes(name)) kept[name] = name === 'items' && Array.isArray(value) ? value : toSchema(value, is30);
    else if (name === 'pattern' && !isEnforceable(value)) continue;
    else if (lists.includes(name)) kept[name] = arrayOf(value).map((one) => toSchema(one, is30));
    else if (name === 'patternProperties' && !Object.keys(objectOf(value)).every(isEnforceable))
      kept['additionalProperties'] = true;
    else if (maps.includes(name)) kept[name] = mapOf(value, is30);
    else kept[name] = value;
  }
  return is30 ? with30(kept) : kept;
}

const mapOf = (value: unknown, is30: boolean): JsonObject =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toSchema(one, is30)])) : {};

function with30(schema: Record<string, unknown>): JsonSchema {
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (schema[exclusive] === true && schema[bound] !== undefined) {
      schema[exclusive] = schema[bound];
      delete schema[bound];
    } else if (typeof schema[exclusive] === 'boolean') delete schema[exclusive];
  }
  const isNullable = schema['nullable'] === true;
  delete schema['nullable'];
  if (!isNullable) return schema;
  if (typeof schema['type'] === 'string') {
    schema['type'] = [schema['type'], 'null'];
    if (Array.isArray(schema['enum']) && !schema['enum'].includes(null)) schema['enum'] = [...schema['enum'], null];
    return schema;
  }
  // `nullable` beside nothing but combinations is meant to say: this, or null
  return { anyOf: [schema, { type: 'null' }] };
}

/** Every reference in a schema that was made by `toSchema`. */
export function referencesOf(schema: unknown, into: Set<string>): void {
  if (Array.isArray(schema)) for (const one of schema) referencesOf(one, into);
  else if (isObject(schema))
    for (const [name, value] of Object.entries(schema)) {
      if (name === '$ref' && typeof value === 'string') into.add(value);
      else if (name === 'enum' || name === 'const') continue;
      else referencesOf(value, into);
    }
}
