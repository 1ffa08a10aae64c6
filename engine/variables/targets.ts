// From a link's target list to values: selectors, counts, exclusions. Both engines name and order values through here.
import type { Collection } from '../transaction/collection.js';
import type { LinkIR, OperatorIR, TargetIR } from '../program/ir.js';
import { createMatcher } from '../operators/index.js';
import type { Matcher } from '../operators/operator.js';
import { parseRegex } from '../regex/parser.js';
import { requiredLiterals } from '../regex/required-literals.js';
import type { Transaction } from '../transaction/transaction.js';
import type { KeySelector } from '../transaction/tx-variables.js';
import { variables } from './index.js';
import type { CollectionVariable, RecordVariable, Variable } from './variable.js';

/** Called for each value; the full name is `variable:key`, or `variable` when the key is null (see `fullName`). */
export type Visit = (variable: string, key: string | null, value: string) => void;
/** `whole`: name of the value that this one was read out of. */
type VisitPart = (variable: string, key: string | null, value: string, whole?: string) => void;

/** A selector made ready: at most one of the three is not null; all null = the whole variable. */
export interface BoundSelector {
  readonly name: string | null; // lower-case
  readonly regex: Matcher | null;
  /** The same question about keys that are lower-case already (TX). */
  readonly keys?: KeySelector;
  readonly xpath: string | null;
}
export interface BoundTarget extends BoundSelector {
  readonly ir: TargetIR;
  /** Null when the engine does not know the variable: no values. */
  readonly variable: Variable | null;
}
/** What `!ARGS:x`, SecRuleUpdateTarget… and ctl:ruleRemoveTarget… take away. */
export interface BoundExclusion extends BoundSelector {
  readonly variable: string;
}
export interface BoundTargets {
  readonly targets: readonly BoundTarget[];
  readonly exclusions: readonly BoundExclusion[];
}

/** `ARGS:id` as ModSecurity prints it. Concatenation is left to the moment of a match. */
export function fullName(variable: string, key: string | null): string {
  return key === null || key === '' ? variable : `${variable}:${key}`;
}

/** `^name_` only asks how a name begins, which needs no automaton: such selectors walk all of TX in every request. */
function literalPrefix(source: string): string | null {
  return /^\^[A-Za-z0-9_-]+$/.test(source) ? source.slice(1).toLowerCase() : null;
}

/** Most keys lack the text that the expression needs; a search for it is cheaper than the automaton. */
function keyTest(source: string, regex: Matcher): (key: string) => boolean {
  const literals = requiredLiterals(parseRegex(source, { caseless: false, dotAll: true, multiline: false }))?.map(
    (literal) => literal.toLowerCase(),
  );
  const only = literals?.length === 1 ? literals[0] : undefined;
  return only === undefined ? (key) => regex.matches(key) : (key) => key.includes(only) && regex.matches(key);
}

/** Rules share their selectors (of CRS, some hundred targets a handful): each is read and compiled once a thread. */
const keysKept = new Map<string, Pick<BoundSelector, 'regex' | 'keys'>>();
const keysKeptMax = 200;

function keysOf(source: string): Pick<BoundSelector, 'regex' | 'keys'> {
  const known = keysKept.get(source);
  if (known !== undefined) return known;
  const operator: OperatorIR = {
    name: 'rx',
    negated: false,
    argument: `(?i)${source}`,
    template: null,
    phrases: null,
  };
  const regex = createMatcher(operator, operator.argument);
  const keys = { regex, keys: { takes: keyTest(operator.argument, regex) } };
  if (keysKept.size >= keysKeptMax) keysKept.clear();
  keysKept.set(source, keys);
  return keys;
}

function bindSelector(target: TargetIR): BoundSelector {
  const { selector } = target;
  if (selector === null) return { name: null, regex: null, xpath: null };
  switch (selector.kind) {
    case 'name':
      return { name: selector.name, regex: null, xpath: null };
    case 'regex': {
      const prefix = literalPrefix(selector.source);
      if (prefix !== null)
        return {
          name: null,
          regex: {
            matches: (name) => name.length >= prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix,
          },
          keys: { takes: (key) => key.startsWith(prefix) },
          xpath: null,
        };
      return { name: null, ...keysOf(selector.source), xpath: null };
    }
    case 'xpath':
      return { name: null, regex: null, xpath: selector.expression };
  }
}

/** Throws OperatorArgumentError when a regex selector is not a pattern. */
export function bindTarget(ir: TargetIR): BoundTarget {
  return { ir, variable: variables.get(ir.variable) ?? null, ...bindSelector(ir) };
}
export function bindExclusion(ir: TargetIR): BoundExclusion {
  return { variable: ir.variable, ...bindSelector(ir) };
}
export function bindTargets(link: LinkIR): BoundTargets {
  return { targets: link.targets.map(bindTarget), exclusions: link.exclusions.map(bindExclusion) };
}

function equalsIgnoringCase(text: string, lower: string): boolean {
  return text.length === lower.length && (text === lower || text.toLowerCase() === lower);
}

/** Does the exclusion take away the member `key` (null = a scalar) of `variable`? */
function excludes(exclusion: BoundExclusion, variable: string, key: string | null): boolean {
  if (exclusion.variable !== variable) return false;
  if (exclusion.name !== null) return key !== null && equalsIgnoringCase(key, exclusion.name);
  if (exclusion.regex !== null) return key !== null && exclusion.regex.matches(key);
  if (exclusion.xpath !== null) return key === exclusion.xpath;
  return true;
}

function isExcluded(exclusions: readonly BoundExclusion[], variable: string, key: string | null): boolean {
  for (const exclusion of exclusions) if (excludes(exclusion, variable, key)) return true;
  return false;
}

function visitCollection(
  target: BoundTarget,
  variable: CollectionVariable,
  collection: Collection,
  visit: VisitPart,
): void {
  const { name, regex } = target;
  // MATCHED_VARS changes while its own rule matches; everything else is fixed while rules run.
  const living = collection.size > 0 && variable.name.startsWith('MATCHED_');
  const names = living ? collection.names.slice() : collection.names;
  const shown =
    variable.shows === 'name'
      ? living
        ? names
        : collection.shownNames
      : living
        ? collection.values.slice()
        : collection.values;
  const { partOf } = collection;
  for (let index = 0; index < names.length; index += 1) {
    const key = names[index] as string;
    if (name !== null ? equalsIgnoringCase(key, name) : regex === null || regex.matches(key))
      visit(variable.name, key, shown[index] as string, partOf === null ? undefined : partOf.get(index));
  }
}

function visitRecord(target: BoundTarget, variable: RecordVariable, transaction: Transaction, visit: Visit): void {
  const { name, regex } = target;
  if (name !== null) {
    const value = variable.find(transaction, name);
    if (value !== null) visit(variable.name, name, value);
    return;
  }
  if (target.keys !== undefined && variable.select !== undefined) {
    for (const [key, value] of variable.select(transaction, target.keys)) visit(variable.name, key, value);
    return;
  }
  // A copy: setvar of a matching value may add members, which this rule must not meet.
  for (const [key, value] of [...variable.entries(transaction)])
    if (regex === null || regex.matches(key)) visit(variable.name, key, value);
}

/** Values of one target, without counting and exclusions. */
function visitValues(target: BoundTarget, transaction: Transaction, visit: VisitPart): void {
  const { variable } = target;
  if (variable === null) return;
  switch (variable.kind) {
    case 'scalar':
      visit(variable.name, null, variable.read(transaction));
      return;
    case 'collection':
      visitCollection(target, variable, variable.first(transaction), visit);
      if (variable.second !== null) visitCollection(target, variable, variable.second(transaction), visit);
      return;
    case 'record':
      visitRecord(target, variable, transaction, visit);
      return;
    case 'xml': {
      const found =
        target.xpath === '/*'
          ? transaction.body.xmlText
          : target.xpath === '//@*'
            ? transaction.body.xmlAttributes
            : [];
      for (const value of found) visit(variable.name, target.xpath, value);
    }
  }
}

/** The key under which a counted target shows and is excluded: its selector as written. */
function countKey(target: TargetIR): string | null {
  const { selector } = target;
  if (selector === null) return null;
  return selector.kind === 'name'
    ? selector.name
    : selector.kind === 'regex'
      ? `/${selector.source}/`
      : selector.expression;
}

/** One target's values after `exclusions`; a counted target gives one value, the decimal count. */
export function visitTarget(
  target: BoundTarget,
  exclusions: readonly BoundExclusion[],
  transaction: Transaction,
  visit: Visit,
): void {
  if (target.ir.count) {
    const key = countKey(target.ir);
    if (exclusions.length > 0 && isExcluded(exclusions, target.ir.variable, key)) return;
    let count = 0;
    visitValues(target, transaction, () => {
      count += 1;
    });
    visit(target.ir.variable, key, String(count));
    return;
  }
  if (exclusions.length === 0) {
    visitValues(target, transaction, visit);
    return;
  }
  visitValues(target, transaction, (variable, key, value, whole) => {
    if (isExcluded(exclusions, variable, key)) return;
    // An exclusion of an argument means all that it holds; an argument of a member's name is another one.
    if (whole === undefined || !isExcluded(exclusions, variable, whole)) visit(variable, key, value);
  });
}

/** All values of a link in target order. `removed`: run-time removals in force for the rule (evaluate/removals.ts). */
export function collectTargets(
  bound: BoundTargets,
  removed: readonly BoundExclusion[],
  transaction: Transaction,
  visit: Visit,
): void {
  const exclusions =
    removed.length === 0
      ? bound.exclusions
      : bound.exclusions.length === 0
        ? removed
        : [...bound.exclusions, ...removed];
  for (const target of bound.targets) visitTarget(target, exclusions, transaction, visit);
}
