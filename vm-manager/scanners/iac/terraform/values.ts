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
const nowhere = new Unknown(null);

export const isUnknown = (value: Value | undefined): value is Unknown => value instanceof Unknown;
/** A text, number or switch as a text; '' for anything else. */
export const textOf = (value: Value | undefined): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

export const isObject = (value: Value | undefined): value is { readonly [key: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isUnknown(value);

/** Names of one directory: its variables and locals. */
export class Scope {
  readonly #variables = new Map<string, Expr | null>();
  readonly #locals = new Map<string, Expr>();

  constructor(blocks: readonly Block[]) {
    for (const block of blocks) {
      if (block.type === 'variable')
        this.#variables.set(block.labels[0] ?? '', block.attributes.get('default')?.value ?? null);
      if (block.type === 'locals') for (const [name, { value }] of block.attributes) this.#locals.set(name, value);
    }
  }

  value(expr: Expr, round = 0): Value {
    if (round > roundsMax) return nowhere;
    switch (expr.kind) {
      case 'literal':
        return expr.value;
      case 'reference':
        return this.#reference(expr.path, round);
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

  #reference(path: string, round: number): Value {
    const [root = '', name = '', ...rest] = path.split('.');
    const named = root === 'var' ? this.#variables.get(name) : root === 'local' ? this.#locals.get(name) : undefined;
    if (named === undefined || named === null) return new Unknown(path);
    let value = this.value(named, round + 1);
    for (const key of rest) value = isObject(value) ? (value[key] ?? nowhere) : nowhere;
    // a variable that is null is given from outside
    return value === null ? new Unknown(path) : value;
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
      case 'concat':
        return values.every((one) => Array.isArray(one)) ? values.flat() : nowhere;
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
