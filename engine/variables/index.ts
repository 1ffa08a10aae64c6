// ONE table of the variables that rules can read: name, the phase that knows them first, and how to read them; and the
// expansion of macros against it.
// Scalars always exist (with '' when there is nothing to say), as in ModSecurity v3, so `&REQUEST_BODY` is 1.
import { createMatcher } from '../operators/index.js';
import type { Matcher } from '../operators/operator.js';
import type { MacroRef, Template } from '../program/ir.js';
import type { Collection } from '../transaction/collection.js';
import type { Transaction } from '../transaction/transaction.js';
import { bodyVariables } from './body.js';
import { expandWith } from './macros.js';
import { requestVariables } from './request.js';
import { responseVariables } from './response.js';
import { ruleVariable } from './rule.js';
import { stateVariables } from './state.js';
import { timeVariables } from './time.js';
import type { Variable } from './variable.js';

/** Every variable by canonical (upper-case) name. */
export const variables: ReadonlyMap<string, Variable> = new Map(
  [
    ...requestVariables,
    ...bodyVariables,
    ...responseVariables,
    ...stateVariables,
    ruleVariable(expand),
    ...timeVariables,
  ].map((variable) => [variable.name, variable]),
);

/**
 * The value a macro stands for: a scalar, the named member, or the first member of a collection; '' when there is none.
 */
function resolveMacro(transaction: Transaction, reference: MacroRef): string {
  const { key } = reference;
  if (reference.variable === 'TX' && key !== null) {
    const value = transaction.tx.get(key);
    if (value !== undefined) return value;
  }
  const variable = variables.get(reference.variable);
  if (variable === undefined) return '';
  switch (variable.kind) {
    case 'scalar':
      return variable.read(transaction);
    case 'record':
      if (key === null) return '';
      return (
        (isPattern(key) ? firstMatching(variable.entries(transaction), key) : variable.find(transaction, key)) ?? ''
      );
    case 'xml':
      return key === '//@*' ? (transaction.body.xmlAttributes[0] ?? '') : (transaction.body.xmlText[0] ?? '');
    case 'collection': {
      const first = variable.first(transaction);
      return (
        memberOf(first, key, variable.shows) ??
        (variable.second === null ? null : memberOf(variable.second(transaction), key, variable.shows)) ??
        ''
      );
    }
  }
}

/** `%{ARGS:/^id/}`: the first member whose name the pattern is found in. */
function isPattern(key: string): boolean {
  return key.length > 2 && key.charCodeAt(0) === 0x2f && key.charCodeAt(key.length - 1) === 0x2f;
}

// Keys of macros come from rules, so there are few.
const keyPatterns = new Map<string, Matcher>();

function firstMatching(entries: Iterable<readonly [string, string]>, key: string): string | null {
  let matcher = keyPatterns.get(key);
  if (matcher === undefined) {
    const argument = `(?i)${key.slice(1, -1)}`;
    matcher = createMatcher({ name: 'rx', negated: false, argument, template: null, phrases: null }, argument);
    keyPatterns.set(key, matcher);
  }
  for (const [name, value] of entries) if (matcher.matches(name)) return value;
  return null;
}

function memberOf(collection: Collection, key: string | null, shows: 'value' | 'name'): string | null {
  const shown = shows === 'name' ? collection.names : collection.values;
  if (key === null) return shown[0] ?? null;
  if (isPattern(key))
    return firstMatching(
      collection.names.map((name, index) => [name, shown[index] as string] as const),
      key,
    );
  for (let index = 0; index < collection.size; index += 1) {
    const name = collection.names[index] as string;
    if (name.length === key.length && name.toLowerCase() === key) return shown[index] as string;
  }
  return null;
}

/** Expands the macros of a template for the transaction's state at this moment. */
export function expand(template: Template, transaction: Transaction): string {
  return expandWith(template, transaction, resolveMacro);
}

/** The text of one macro, cut like any expansion. */
export function readMacro(reference: MacroRef, transaction: Transaction): string {
  return expand([reference], transaction);
}
