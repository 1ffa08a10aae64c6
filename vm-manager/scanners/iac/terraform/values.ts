// What is known of an expression: literals, defaults of variables, locals, templates of known parts. Everything else is
// unknown, and what is unknown is no finding.
import type { Block, Expr } from './tree.js';

/** Not known before it is applied; `reference` is what it is put together from, where that is one thing. */
export class Unknown {
  readonly reference: string | null;
  /** Of a template: what is known of it, with a space for each part that is not. */
  readonly partly: string;
  constructor(reference: string | null, partly = '') {
    [this.reference, this.partly] = [reference, partly];
  }
}

export type Value = string | number | boolean | null | Unknown | readonly Value[] | { readonly [key: string]: Value };

const roundsMax = 20;
const elementsMax = 200;
const stepsMax = 100_000;
const nowhere = new Unknown(null);

export const isUnknown = (value: Value | undefined): value is Unknown => value instanceof Unknown;
/** A text, number or switch as a text; '' for anything else. */
export const textOf = (value: Value | undefined): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

export const isObject = (value: Value | undefined): value is { readonly [key: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isUnknown(value);

/** Expressions by the names that blocks give them: variables (null: given from outside) and locals. */
interface Names {
  /** Steps that the value that is asked for may still take: lists of lists and loops within loops grow by powers. */
  readonly budget: { left: number };
  readonly variables: ReadonlyMap<string, Expr | null>;
  readonly locals: ReadonlyMap<string, Expr>;
}

function namesOf(blocks: readonly Block[]): Names {
  const [variables, locals] = [new Map<string, Expr | null>(), new Map<string, Expr>()];
  for (const block of blocks) {
    if (block.type === 'variable') variables.set(block.labels[0] ?? '', block.attributes.get('default')?.value ?? null);
    if (block.type === 'locals') for (const [name, { value }] of block.attributes) locals.set(name, value);
  }
  return { variables, locals, budget: { left: 0 } };
}

/** Elements of a list or an object with their keys; null: not known, or too many to look at. */
export function elementsOf(value: Value | undefined): readonly (readonly [key: Value, value: Value])[] | null {
  const found = Array.isArray(value)
    ? [...(value as readonly Value[]).entries()]
    : isObject(value)
      ? Object.entries(value)
      : null;
  return found === null || found.length > elementsMax ? null : found;
}

/** What stands at the end of keys; `*` is each of a list; an index that is not known gives all that it may be. */
function within(value: Value, keys: readonly (string | number)[]): Value {
  const [key, ...rest] = keys;
  if (key === undefined || isUnknown(value)) return value;
  if (key === '*') return Array.isArray(value) ? value.map((one) => within(one, rest)) : within([value], keys);
  if (key === '?') return rest.length === 0 ? value : nowhere;
  const inner: Value | undefined = Array.isArray(value)
    ? (value as readonly Value[])[Number(key)]
    : isObject(value) && Object.hasOwn(value, key)
      ? value[key]
      : undefined;
  return inner === undefined ? nowhere : within(inner, rest);
}

/** Names of one directory, and those that a loop gives to what stands in it. */
export class Scope {
  readonly #names: Names;
  readonly #bound: ReadonlyMap<string, Value>;

  private constructor(names: Names, bound: ReadonlyMap<string, Value>) {
    [this.#names, this.#bound] = [names, bound];
  }

  static of(blocks: readonly Block[]): Scope {
    return new Scope(namesOf(blocks), new Map());
  }

  with(bound: Readonly<Record<string, Value>>): Scope {
    return new Scope(this.#names, new Map([...this.#bound, ...Object.entries(bound)]));
  }

  value(expr: Expr, round = 0): Value {
    const { budget } = this.#names;
    if (round === 0) budget.left = stepsMax;
    if (round > roundsMax || --budget.left < 0) return nowhere;
    switch (expr.kind) {
      case 'literal':
      case 'value':
        return expr.value;
      case 'reference':
        return this.#reference(expr, round);
      case 'for':
        return this.#loop(expr, round);
      case 'template':
        return this.#template(expr.parts, round);
      case 'list':
        return expr.items.map((one) => this.value(one, round + 1));
      case 'object':
        return Object.fromEntries(
          expr.entries.flatMap(([key, value]) => {
            const name = this.value(key, round + 1);
            return typeof name === 'string' ? [[name, this.value(value, round + 1)] as const] : [];
          }),
        );
      case 'call':
        return this.#call(expr.name, expr.args, round);
      case 'condition': {
        const test = this.value(expr.test, round + 1);
        return typeof test === 'boolean' ? this.value(test ? expr.yes : expr.no, round + 1) : nowhere;
      }
      case 'unknown':
        return nowhere;
    }
  }

  #reference({ path, keys }: Expr & { kind: 'reference' }, round: number): Value {
    const [root = '', name = '', ...rest] = keys;
    const bound = this.#bound.get(String(root));
    if (bound !== undefined) return within(bound, keys.slice(1));
    const { variables, locals } = this.#names;
    const given = String(name);
    const named = root === 'var' ? variables.get(given) : root === 'local' ? locals.get(given) : undefined;
    if (named === undefined || named === null) return new Unknown(path);
    const value = within(this.value(named, round + 1), rest);
    // a variable that is null is given from outside
    return value === null ? new Unknown(path) : value;
  }

  #loop({ names, over, key, result, test }: Expr & { kind: 'for' }, round: number): Value {
    const elements = elementsOf(this.value(over, round + 1));
    if (elements === null) return nowhere;
    const [first = '', second] = names;
    const made = elements.flatMap(([index, value]) => {
      const inner = this.with(second === undefined ? { [first]: value } : { [first]: index, [second]: value });
      const isLeftOut = test !== null && inner.value(test, round + 1) === false;
      return isLeftOut
        ? []
        : [[key === null ? index : inner.value(key, round + 1), inner.value(result, round + 1)] as const];
    });
    return key === null
      ? made.map(([, value]) => value)
      : Object.fromEntries(made.flatMap(([name, value]) => (textOf(name) === '' ? [] : [[textOf(name), value]])));
  }

  #template(parts: readonly Expr[], round: number): Value {
    const values = parts.map((one) => this.value(one, round + 1));
    const texts = values.map((value) => (isUnknown(value) || typeof value === 'object' ? ' ' : String(value)));
    return values.some((value) => isUnknown(value) || typeof value === 'object')
      ? new Unknown(null, texts.join(''))
      : texts.join('');
  }

  #call(name: string, args: readonly Expr[], round: number): Value {
    const values = args.map((one) => this.value(one, round + 1));
    const [first] = values;
    if (first === undefined) return nowhere;
    switch (name) {
      // rules read policies as values, whichever way they were written
      case 'jsonencode':
      case 'tolist':
      case 'toset':
      case 'tomap':
      case 'tostring':
      case 'base64encode':
      case 'nonsensitive':
      case 'sensitive':
        return first;
      case 'lower':
        return typeof first === 'string' ? first.toLowerCase() : nowhere;
      case 'upper':
        return typeof first === 'string' ? first.toUpperCase() : nowhere;
      case 'trimspace':
        return typeof first === 'string' ? first.trim() : nowhere;
      case 'concat':
        return values.every((one) => Array.isArray(one)) ? values.flat() : nowhere;
      case 'flatten':
      case 'compact':
      case 'distinct':
      case 'sort':
      case 'reverse':
        return Array.isArray(first) ? (first as readonly Value[]).flat(roundsMax) : nowhere;
      case 'coalesce':
      case 'coalescelist':
      case 'try':
        return values.find((one) => one !== null && one !== '' && !(Array.isArray(one) && one.length === 0)) ?? nowhere;
      case 'keys':
        return isObject(first) ? Object.keys(first) : nowhere;
      case 'values':
        return isObject(first) ? Object.values(first) : nowhere;
      case 'element':
        return Array.isArray(first) ? within(first as readonly Value[], [Number(values[1])]) : nowhere;
      case 'lookup': {
        const found = isObject(first) ? within(first, [textOf(values[1])]) : nowhere;
        return isUnknown(found) && isObject(first) ? (values[2] ?? nowhere) : found;
      }
      case 'split':
        return typeof first === 'string' && typeof values[1] === 'string' ? values[1].split(first) : nowhere;
      case 'join':
        return Array.isArray(values[1]) && values[1].every((one) => textOf(one as Value) !== '')
          ? (values[1] as readonly Value[]).map(textOf).join(textOf(first))
          : nowhere;
      case 'format':
        return values.every((one) => textOf(one) !== '') && /^(?:[^%]|%[sd])*$/.test(textOf(first))
          ? textOf(first).replaceAll(/%[sd]/g, () => textOf(values.splice(1, 1)[0]))
          : nowhere;
      case 'merge':
        return values.every(isObject) ? Object.assign({}, ...values) : nowhere;
      default:
        return nowhere;
    }
  }
}

/** A policy as it was written: by jsonencode, or as a text of JSON; null: unknown. */
export function jsonOf(value: Value | undefined): Value | null {
  if (isObject(value)) return value;
  const text = typeof value === 'string' ? value : isUnknown(value) ? value.partly : '';
  if (!/^\s*[{[]/.test(text)) return null;
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}
