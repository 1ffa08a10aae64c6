// Checks of single values: type, texts, numbers. JSON Schema 2020-12 validation sections 6.1 to 6.3, and 7.
import { isMap, type Check, type JsonMap } from './check.js';
import { numberFormats, textFormats } from './formats.js';
import { compilePattern } from './patterns.js';

/** The commonest type has a check of its own, which calls nothing. */
const stringCheck: Check = (value, trace) => typeof value === 'string' || trace.fail('type');

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isMap,
};

export function typeCheck(type: unknown): Check | null {
  if (type === 'string') return stringCheck;
  const tests = [type].flat().flatMap((name) => typeTests[String(name)] ?? []);
  const [first, second] = tests;
  if (first === undefined) return null;
  if (second === undefined) return (value, trace) => first(value) || trace.fail('type');
  return (value, trace) => tests.some((test) => test(value)) || trace.fail('type');
}

/** Code points, as JSON Schema counts. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) length -= 1;
  }
  return length;
}

const limitOf = (schema: JsonMap, name: string): number | null => {
  const value = schema[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

export function textCheck(schema: JsonMap): Check | null {
  const [min, max] = [limitOf(schema, 'minLength'), limitOf(schema, 'maxLength')];
  const pattern = typeof schema['pattern'] === 'string' ? compilePattern(schema['pattern']) : null;
  const format = textFormats.get(String(schema['format'])) ?? null;
  if (min === null && max === null && pattern === null && format === null) return null;
  return (value, trace) => {
    if (typeof value !== 'string') return true;
    // a text has at most as many code points as units, and at least half as many
    if (max !== null && value.length > max && lengthOf(value) > max) return trace.fail('maxLength');
    if (min !== null && (value.length < min || (value.length < 2 * min && lengthOf(value) < min)))
      return trace.fail('minLength');
    if (pattern !== null && !pattern.test(value)) return trace.fail('pattern');
    return format === null || format(value) || trace.fail('format');
  };
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  if (!Number.isFinite(quotient)) return false;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.min(Math.max(1, Math.abs(quotient)), 1e6);
}

export function numberCheck(schema: JsonMap): Check | null {
  const [minimum, maximum] = [limitOf(schema, 'minimum'), limitOf(schema, 'maximum')];
  const [above, below] = [limitOf(schema, 'exclusiveMinimum'), limitOf(schema, 'exclusiveMaximum')];
  const multiple = limitOf(schema, 'multipleOf');
  const format = numberFormats.get(String(schema['format'])) ?? null;
  if ([minimum, maximum, above, below, multiple, format].every((one) => one === null)) return null;
  return (value, trace) => {
    if (typeof value !== 'number') return true;
    if (minimum !== null && value < minimum) return trace.fail('minimum');
    if (maximum !== null && value > maximum) return trace.fail('maximum');
    if (above !== null && value <= above) return trace.fail('exclusiveMinimum');
    if (below !== null && value >= below) return trace.fail('exclusiveMaximum');
    if (multiple !== null && multiple > 0 && !isMultiple(value, multiple)) return trace.fail('multipleOf');
    return format === null || format(value) || trace.fail('format');
  };
}
