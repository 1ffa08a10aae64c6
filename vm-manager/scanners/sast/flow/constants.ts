// Constants: sums, comparisons, and what the usual methods of texts make of them.
import type { Const } from '../syntax/ir.js';

const textMax = 10_000;

export function foldBinary(op: string, left: Const | undefined, right: Const | undefined): Const | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (op === '==' || op === '===' || op === 'is') return left === right;
  if (op === '!=' || op === '!==' || op === '<>') return left !== right;
  if (op === '+' && (typeof left === 'string' || typeof right === 'string')) {
    const text = `${left}${right}`;
    return text.length > textMax ? undefined : text;
  }
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  return foldNumbers(op, left, right);
}

function foldNumbers(op: string, left: number, right: number): Const | undefined {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? undefined : left / right;
    case '%':
      return right === 0 ? undefined : left % right;
    case '<':
      return left < right;
    case '>':
      return left > right;
    case '<=':
      return left <= right;
    case '>=':
      return left >= right;
    default:
      return undefined;
  }
}

type Fold = (text: string, args: readonly Const[]) => Const | undefined;
const at: Fold = (text, [place]) => (typeof place === 'number' ? text[place] : undefined);
const folds: Readonly<Record<string, Fold>> = {
  charAt: at,
  substring: (text, [from, to]) =>
    typeof from === 'number' ? text.slice(from, typeof to === 'number' ? to : undefined) : undefined,
  slice: (text, [from, to]) =>
    typeof from === 'number' ? text.slice(from, typeof to === 'number' ? to : undefined) : undefined,
  toLowerCase: (text) => text.toLowerCase(),
  toUpperCase: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  trim: (text) => text.trim(),
  strip: (text) => text.trim(),
  toString: (text: string) => text,
  concat: (text, [more]) => (typeof more === 'string' ? text + more : undefined),
  equals: (text, [other]) => (other === undefined ? undefined : text === other),
  equalsIgnoreCase: (text, [other]) =>
    typeof other === 'string' ? text.toLowerCase() === other.toLowerCase() : undefined,
  startsWith: (text, [other]) => (typeof other === 'string' ? text.startsWith(other) : undefined),
  isEmpty: (text) => text === '',
  length: (text) => text.length,
};

/** undefined: nothing is known of it. */
export function foldMethod(name: string, text: string, args: readonly (Const | undefined)[]): Const | undefined {
  if (!Object.hasOwn(folds, name) || args.includes(undefined)) return undefined;
  return folds[name]?.(text, args as readonly Const[]);
}
