// What a variable is, in its four kinds, and short ways to write one down.
import type { Phase } from '../program/ir.js';
import type { Collection } from '../transaction/collection.js';
import type { Transaction } from '../transaction/transaction.js';
import type { KeySelector } from '../transaction/tx-variables.js';

export interface ScalarVariable {
  readonly kind: 'scalar';
  readonly name: string;
  readonly phase: Phase;
  readonly read: (transaction: Transaction) => string;
}
/** Request data with names: one or two collections in order (ARGS = GET, then POST). */
export interface CollectionVariable {
  readonly kind: 'collection';
  readonly name: string;
  readonly phase: Phase;
  readonly first: (transaction: Transaction) => Collection;
  readonly second: ((transaction: Transaction) => Collection) | null;
  /** `name`: the variable's values are the names (ARGS_NAMES). */
  readonly shows: 'value' | 'name';
}
/** Variables that rules write: keys are lower-case. */
export interface RecordVariable {
  readonly kind: 'record';
  readonly name: string;
  readonly phase: Phase;
  readonly find: (transaction: Transaction, key: string) => string | null;
  readonly entries: (transaction: Transaction) => Iterable<readonly [string, string]>;
  /** Members whose key a selector takes, where that is cheaper than looking at all. */
  readonly select?: (transaction: Transaction, selector: KeySelector) => readonly (readonly [string, string])[];
}
/** XML:/* and XML://@*; other expressions are not evaluated and have no values. */
export interface XmlVariable {
  readonly kind: 'xml';
  readonly name: string;
  readonly phase: Phase;
}
export type Variable = ScalarVariable | CollectionVariable | RecordVariable | XmlVariable;

export function scalar(name: string, phase: Phase, read: (transaction: Transaction) => string): ScalarVariable {
  return { kind: 'scalar', name, phase, read };
}

/**
 * A scalar that costs work proportional to the request: computed once, when first asked for in a phase that knows it.
 */
export function cached(name: string, phase: Phase, compute: (transaction: Transaction) => string): ScalarVariable {
  return scalar(name, phase, (transaction) => {
    const known = transaction.scalars.get(name);
    if (known !== undefined) return known;
    const value = compute(transaction);
    // Before its phase the value may still grow (ARGS_COMBINED_SIZE in phase 1).
    if (transaction.phase >= phase) transaction.scalars.set(name, value);
    return value;
  });
}

export function values(
  name: string,
  phase: Phase,
  first: (transaction: Transaction) => Collection,
  second: ((transaction: Transaction) => Collection) | null = null,
): CollectionVariable {
  return { kind: 'collection', name, phase, first, second, shows: 'value' };
}
export function names(
  name: string,
  phase: Phase,
  first: (transaction: Transaction) => Collection,
  second: ((transaction: Transaction) => Collection) | null = null,
): CollectionVariable {
  return { kind: 'collection', name, phase, first, second, shows: 'name' };
}

export function flag(on: boolean): string {
  return on ? '1' : '0';
}
