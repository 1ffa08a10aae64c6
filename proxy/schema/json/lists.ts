// Checks of lists. JSON Schema 2020-12 core sections 10.3.1 and 11.2, validation section 6.4.
import type { Check, JsonMap } from './check.js';
import type { Parts } from './parts.js';
import { uniqueItems } from './equality.js';
import { collector } from './evaluated.js';

const limit = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function lengthCheck(schema: JsonMap): Check | null {
  const [min, max] = [limit(schema['minItems']), limit(schema['maxItems'])];
  if (min === null && max === null) return null;
  return (value, trace) => {
    if (!Array.isArray(value)) return true;
    if (min !== null && value.length < min) return trace.fail('minItems');
    return max === null || value.length <= max || trace.fail('maxItems');
  };
}

function itemCheck(compiler: Parts, schema: JsonMap): Check | null {
  const { prefixItems, items } = schema;
  const first = (Array.isArray(prefixItems) ? (prefixItems as unknown[]) : []).map((one) => compiler.part(one));
  const rest = items === undefined || items === true ? null : compiler.part(items);
  if (first.length === 0 && rest === null) return null;
  return (value, trace) => {
    if (!Array.isArray(value)) return true;
    for (let index = 0; index < value.length; index += 1) {
      const check = first[index] ?? rest;
      if (check !== null && !check(value[index], trace)) return trace.within(index);
    }
    return true;
  };
}

function containsCheck(compiler: Parts, schema: JsonMap): Check | null {
  if (schema['contains'] === undefined) return null;
  const check = compiler.part(schema['contains']);
  const min = limit(schema['minContains']) ?? 1;
  const max = limit(schema['maxContains']);
  return (value, trace) => {
    if (!Array.isArray(value)) return true;
    let count = 0;
    for (const item of value as unknown[]) {
      if (!trace.step()) return trace.fail('budget');
      if (check(item, trace)) count += 1;
    }
    if (count < min) return trace.fail(min === 1 ? 'contains' : 'minContains');
    return max === null || count <= max || trace.fail('maxContains');
  };
}

export function listChecks(compiler: Parts, schema: JsonMap): Check[] {
  const unique = schema['uniqueItems'] === true ? uniqueItems : null;
  return [lengthCheck(schema), itemCheck(compiler, schema), containsCheck(compiler, schema), unique].filter(
    (check) => check !== null,
  );
}

export function unevaluatedItems(compiler: Parts, schema: JsonMap): Check | null {
  const { unevaluatedItems: wanted, ...others } = schema;
  if (wanted === undefined || wanted === true) return null;
  const collect = collector(compiler, others, 'items');
  const check = compiler.part(wanted);
  return (value, trace) => {
    if (!Array.isArray(value)) return true;
    const known = new Set<string | number>();
    if (collect(value, known, trace)) return true;
    for (let index = 0; index < value.length; index += 1)
      if (!known.has(index) && !check(value[index], trace)) return trace.within(index);
    return true;
  };
}
