// Which members of a value a schema has looked at, for `unevaluatedProperties`, `unevaluatedItems`, and for what nobody
// declared. It is asked only of values that fit the schema. JSON Schema 2020-12 core section 11.
import { isMap, type Check, type JsonMap, type Trace } from './check.js';
import type { Parts } from './parts.js';

/** Adds the names (of an object) or indices (of a list) that were looked at; true: all of them. */
export type Collect = (value: JsonMap | readonly unknown[], into: Set<string | number>, trace: Trace) => boolean;

type Part = (compiler: Parts, schema: JsonMap, kind: Kind) => Collect[];
type Kind = 'properties' | 'items';

const everything: Collect = () => true;

const ownNames: Part = (compiler, schema, kind) => {
  if (kind !== 'properties') return [];
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const parts: Collect[] = [];
  if (additionalProperties !== undefined || unevaluatedProperties !== undefined) return [everything];
  if (isMap(properties)) {
    const names = Object.keys(properties);
    parts.push((value, into) => {
      for (const name of names) if (Object.hasOwn(value, name)) into.add(name);
      return false;
    });
  }
  if (isMap(patternProperties)) {
    const patterns = Object.keys(patternProperties).map((pattern) => compiler.pattern(pattern));
    parts.push((value, into) => {
      for (const name of Object.keys(value)) if (patterns.some((one) => one.test(name))) into.add(name);
      return false;
    });
  }
  return parts;
};

const ownItems: Part = (compiler, schema, kind) => {
  if (kind !== 'items') return [];
  const { items, unevaluatedItems, prefixItems, contains } = schema;
  if (items !== undefined || unevaluatedItems !== undefined) return [everything];
  const parts: Collect[] = [];
  if (Array.isArray(prefixItems)) {
    const count = prefixItems.length;
    parts.push((_value, into) => {
      for (let index = 0; index < count; index += 1) into.add(index);
      return false;
    });
  }
  if (contains !== undefined) {
    const check = compiler.part(contains);
    parts.push((value, into, trace) => {
      for (const [index, item] of (value as readonly unknown[]).entries()) if (check(item, trace)) into.add(index);
      return false;
    });
  }
  return parts;
};

/** What a schema in place adds where the value fits it. */
function where(compiler: Parts, schema: unknown, kind: Kind, holds: Check | null): Collect {
  const collect = collector(compiler, schema, kind);
  return (value, into, trace) => (holds === null || holds(value, trace)) && collect(value, into, trace);
}

const inPlace: Part = (compiler, schema, kind) => {
  const parts: Collect[] = [];
  const { $ref, allOf, anyOf, oneOf, if: when, then, else: otherwise, dependentSchemas } = schema;
  if (typeof $ref === 'string') parts.push(referenced(compiler, $ref, kind));
  for (const one of Array.isArray(allOf) ? (allOf as unknown[]) : []) parts.push(where(compiler, one, kind, null));
  for (const list of [anyOf, oneOf])
    for (const one of Array.isArray(list) ? (list as unknown[]) : [])
      parts.push(where(compiler, one, kind, compiler.inPlace(one)));
  if (when !== undefined) {
    const holds = compiler.inPlace(when);
    const [met, unmet] = [collector(compiler, then ?? true, kind), collector(compiler, otherwise ?? true, kind)];
    const own = collector(compiler, when, kind);
    parts.push((value, into, trace) => {
      if (!holds(value, trace)) return unmet(value, into, trace);
      const isAll = own(value, into, trace);
      return met(value, into, trace) || isAll;
    });
  }
  for (const [name, one] of Object.entries(isMap(dependentSchemas) ? dependentSchemas : {})) {
    const collect = collector(compiler, one, kind);
    parts.push((value, into, trace) => Object.hasOwn(value, name) && collect(value, into, trace));
  }
  return parts;
};

/** A schema may refer to itself in place of another branch: what is behind a reference is made when it is needed. */
function referenced(compiler: Parts, reference: string, kind: Kind): Collect {
  let made: Collect | null = null;
  return (value, into, trace) => {
    made ??= collector(compiler, compiler.resolve(reference), kind);
    if (!trace.step()) return false;
    trace.depth += 1;
    const isAll = made(value, into, trace);
    trace.depth -= 1;
    return isAll;
  };
}

export function collector(compiler: Parts, schema: unknown, kind: Kind): Collect {
  if (!isMap(schema)) return () => false;
  const parts = [ownNames, ownItems, inPlace].flatMap((part) => part(compiler, schema, kind));
  return (value, into, trace) => {
    let isAll = false;
    for (const part of parts) isAll = part(value, into, trace) || isAll;
    return isAll;
  };
}

interface Declared {
  names: boolean;
  open: boolean;
}

/** Whether a schema, with all that is in place of it, declares members, and whether it says that others may come. */
export function declaredBy(compiler: Parts, schema: unknown, seen = new Set<unknown>()): Declared {
  const found: Declared = { names: false, open: false };
  if (!isMap(schema) || seen.has(schema)) return found;
  seen.add(schema);
  if (isMap(schema['properties']) || isMap(schema['patternProperties'])) found.names = true;
  if (schema['additionalProperties'] !== undefined || schema['unevaluatedProperties'] !== undefined) found.open = true;
  const alternatives = [schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []));
  const others = [schema['then'], schema['else'], ...Object.values(schema['dependentSchemas'] ?? {})];
  const both = Array.isArray(schema['allOf']) ? (schema['allOf'] as unknown[]) : [];
  const target = typeof schema['$ref'] === 'string' ? [compiler.resolve(schema['$ref'])] : [];
  for (const part of [...alternatives, ...others, ...both, ...target]) {
    const inner = declaredBy(compiler, part, seen);
    found.names ||= inner.names;
    found.open ||= inner.open || (alternatives.includes(part) && isFree(compiler, part, inner));
  }
  return found;
}

/** An alternative that is just any object. */
function isFree(compiler: Parts, part: unknown, inner: Declared): boolean {
  if (part === true) return true;
  if (!isMap(part) || inner.names) return false;
  const target = typeof part['$ref'] === 'string' ? compiler.resolve(part['$ref']) : part;
  return isMap(target) && [target['type']].flat().includes('object') && target['required'] === undefined;
}
