// One target of a link as a quick check asks it: is there a value on which the test holds?
import type { Collection } from '../../transaction/collection.js';
import type { Transaction } from '../../transaction/transaction.js';
import { visitTarget, type BoundExclusion, type BoundTarget } from '../../variables/targets.js';
import type { CollectionVariable } from '../../variables/variable.js';
import type { ValueTest } from './value-test.js';

/** Says "certainly no match" (false) or "maybe". */
export type QuickCheck = (transaction: Transaction) => boolean;

export function targetCheck(target: BoundTarget, exclusions: readonly BoundExclusion[], test: ValueTest): QuickCheck {
  const { variable, ir } = target;
  if (variable === null) return () => false;
  const isMember = target.name !== null && target.regex === null;
  if (exclusions.length === 0 && !ir.count) {
    if (variable.kind === 'scalar') return (transaction) => test(variable.read(transaction), transaction);
    if (variable.kind === 'record' && isMember) {
      const name = target.name;
      return (transaction) => {
        const value = variable.find(transaction, name);
        return value !== null && test(value, transaction);
      };
    }
  }
  if (
    exclusions.length === 0 &&
    variable.kind === 'collection' &&
    target.regex === null &&
    target.xpath === null &&
    !variable.name.startsWith('MATCHED_')
  )
    return collectionCheck(target, variable, test);
  return (transaction) => {
    let maybe = false;
    visitTarget(target, exclusions, transaction, (_variable, _key, value) => {
      if (!maybe) maybe = test(value, transaction);
    });
    return maybe;
  };
}

/**
 * Members of a request collection by name (or all), or how many there are: plain loops, no visitor, nothing allocated.
 */
function collectionCheck(target: BoundTarget, variable: CollectionVariable, test: ValueTest): QuickCheck {
  const { name, ir } = target;
  const { first, second, shows } = variable;
  const isNamed = (key: string): boolean =>
    name === null || (key.length === name.length && (key === name || key.toLowerCase() === name));
  if (ir.count) {
    const count = (collection: Collection): number => {
      if (name === null) return collection.names.length;
      let found = 0;
      for (let index = 0; index < collection.names.length; index += 1)
        if (isNamed(collection.names[index] as string)) found += 1;
      return found;
    };
    return (transaction) =>
      test(String(count(first(transaction)) + (second === null ? 0 : count(second(transaction)))), transaction);
  }
  const some = (collection: Collection, transaction: Transaction): boolean => {
    const { names } = collection;
    const shown = shows === 'name' ? collection.shownNames : collection.values;
    for (let index = 0; index < names.length; index += 1)
      if (isNamed(names[index] as string) && test(shown[index] as string, transaction)) return true;
    return false;
  };
  return (transaction) =>
    some(first(transaction), transaction) || (second !== null && some(second(transaction), transaction));
}
