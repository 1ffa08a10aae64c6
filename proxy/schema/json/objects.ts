// Checks of objects: members, required ones, those that nobody declared. JSON Schema 2020-12 core section 10.3.2,
// validation section 6.5.
import { isMap, type Check, type JsonMap } from './check.js';
import type { Parts } from './parts.js';
import { collector } from './evaluated.js';

/** What is said of one name. */
interface Named {
  /** null: it is required and not declared. */
  readonly check: Check | null;
  readonly isRequired: boolean;
}

interface Members {
  readonly named: ReadonlyMap<string, Named>;
  readonly patterns: readonly (readonly [{ test(text: string): boolean }, Check])[];
  /** null: others may come as they like. */
  readonly others: Check | null;
  /** A member of another name is refused. */
  readonly isClosed: boolean;
  readonly required: readonly string[];
}

function membersOf(compiler: Parts, schema: JsonMap, isClosed: boolean): Members {
  const { properties, patternProperties, additionalProperties: others, required } = schema;
  const inner = Object.entries(isMap(properties) ? properties : {});
  const refused = inner.filter(([, one]) => compiler.isRefused(one)).map(([name]) => name);
  const wanted = (Array.isArray(required) ? (required as unknown[]).map(String) : []).filter(
    (name) => !refused.includes(name),
  );
  const isRequired = new Set(wanted);
  const named = new Map<string, Named>(wanted.map((name) => [name, { check: null, isRequired: true }]));
  for (const [name, one] of inner)
    named.set(name, {
      check: refused.includes(name) ? compiler.refusal : compiler.part(one),
      isRequired: isRequired.has(name),
    });
  return {
    named,
    patterns: Object.entries(isMap(patternProperties) ? patternProperties : {}).map(
      ([pattern, one]) => [compiler.pattern(pattern), compiler.part(one)] as const,
    ),
    others: others === undefined || others === true || others === false ? null : compiler.part(others),
    isClosed: isClosed || others === false,
    required: [...isRequired],
  };
}

/** `isClosed`: members that are not declared are refused although the schema does not say so. */
export function memberCheck(compiler: Parts, schema: JsonMap, isClosed: boolean): Check | null {
  const { named, patterns, others, isClosed: isShut, required } = membersOf(compiler, schema, isClosed);
  if (named.size + patterns.length === 0 && others === null && !isShut) return null;
  const isPlain = patterns.length === 0;
  return (value, trace) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
    const map = value as JsonMap;
    let missing = required.length;
    for (const name in map) {
      const known = named.get(name);
      let isKnown = false;
      if (known !== undefined) {
        if (known.isRequired) missing -= 1;
        if (known.check !== null) {
          if (!known.check(map[name], trace)) return trace.within(name);
          if (isPlain) continue;
          isKnown = true;
        }
      }
      for (const [pattern, one] of patterns) {
        if (!pattern.test(name)) continue;
        isKnown = true;
        if (!one(map[name], trace)) return trace.within(name);
      }
      if (isKnown) continue;
      if (isShut) {
        trace.fail('additionalProperties');
        return trace.within(name);
      }
      if (others !== null && !others(map[name], trace)) return trace.within(name);
    }
    if (missing === 0) return true;
    for (const name of required)
      if (!Object.hasOwn(map, name)) {
        trace.fail('required');
        return trace.within(name);
      }
    return true;
  };
}

const limit = (value: unknown): number | null => (typeof value === 'number' ? value : null);

export function objectChecks(compiler: Parts, schema: JsonMap): Check[] {
  const checks: Check[] = [];
  const [min, max] = [limit(schema['minProperties']), limit(schema['maxProperties'])];
  if (min !== null || max !== null)
    checks.push((value, trace) => {
      if (!isMap(value)) return true;
      const count = Object.keys(value).length;
      if (min !== null && count < min) return trace.fail('minProperties');
      return max === null || count <= max || trace.fail('maxProperties');
    });
  if (schema['propertyNames'] !== undefined) {
    const check = compiler.part(schema['propertyNames']);
    checks.push((value, trace) => {
      if (isMap(value)) for (const name of Object.keys(value)) if (!check(name, trace)) return trace.within(name);
      return true;
    });
  }
  for (const [name, wanted] of Object.entries(isMap(schema['dependentRequired']) ? schema['dependentRequired'] : {})) {
    const names = Array.isArray(wanted) ? (wanted as unknown[]).map(String) : [];
    checks.push((value, trace) => {
      if (!isMap(value) || !Object.hasOwn(value, name)) return true;
      const missing = names.find((one) => !Object.hasOwn(value, one));
      if (missing === undefined) return true;
      trace.fail('dependentRequired');
      return trace.within(missing);
    });
  }
  for (const [name, one] of Object.entries(isMap(schema['dependentSchemas']) ? schema['dependentSchemas'] : {})) {
    const check = compiler.inPlace(one);
    checks.push((value, trace) => !isMap(value) || !Object.hasOwn(value, name) || check(value, trace));
  }
  return checks;
}

/** `rest` is what the others have to fit; it runs after everything else of the schema has held. */
export function unevaluatedMembers(compiler: Parts, schema: JsonMap, rest: Check | null): Check {
  const { unevaluatedProperties: _rest, ...others } = schema;
  const collect = collector(compiler, others, 'properties');
  return (value, trace) => {
    if (!isMap(value)) return true;
    const known = new Set<string | number>();
    if (collect(value, known, trace)) return true;
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue;
      if (rest === null) {
        trace.fail('additionalProperties');
        return trace.within(name);
      }
      if (!rest(value[name], trace)) return trace.within(name);
    }
    return true;
  };
}
