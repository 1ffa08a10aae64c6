// Questions of the constant folding pass about one link in one abstract state: can it match, must it, what does it
// write?
import {
  createMatcher,
  leadingInteger,
  limits,
  OperatorArgumentError,
  transformations,
  variables,
  type LinkIR,
  type Matcher,
  type OperatorIR,
  type SetvarOperation,
  type TargetIR,
  type Template,
} from '#engine/compile';
import { UNKNOWN, type Known, type TxState } from './tx-state.js';

export type Answer = 'always' | 'never' | 'maybe';

/** Of the first value that the link meets: a setvar of its own may change what later values are compared with. */
export function answerTarget(
  target: TargetIR,
  link: LinkIR,
  argument: string | null,
  state: TxState,
  unicodeMap: ReadonlyMap<number, number> | null,
): Answer {
  if (target.variable !== 'TX') return 'maybe';
  if (target.selector === null || target.selector.kind === 'xpath') return 'maybe';
  const operator = link.operator as OperatorIR;
  if (target.selector.kind === 'regex') {
    const found = regexTarget(target.selector.source, state);
    if (!target.count || found === 'maybe') return found;
    return argument === null ? 'maybe' : holds(operator, argument, '0', link, unicodeMap);
  }
  const value = state.read(target.selector.name.toLowerCase());
  if (value === UNKNOWN) return 'maybe';
  if (target.count)
    return argument === null ? 'maybe' : holds(operator, argument, value === null ? '0' : '1', link, unicodeMap);
  if (value === null) return 'never';
  return argument === null ? 'maybe' : holds(operator, argument, value, link, unicodeMap);
}

/** A regex selector over TX finds nothing when no variable that may exist has such a name. */
function regexTarget(source: string, state: TxState): 'never' | 'maybe' {
  const { keys, complete } = state.possibleKeys();
  const prefix = /^\^([a-z0-9_-]+)/i.exec(source)?.[1]?.toLowerCase();
  if (prefix === undefined) return 'maybe';
  if (/^[0-9]/.test(prefix)) return 'maybe'; // captures
  if (keys.some((key) => key.startsWith(prefix))) return 'maybe';
  // An optional last character (`ab?`) makes the literal one shorter than it reads.
  const after = source.charAt(1 + prefix.length);
  if (after === '?' || after === '*' || after === '{') return 'maybe';
  if (source.includes('|')) return 'maybe';
  if (complete) return 'never';
  return state.possiblePrefixes().some((other) => other.startsWith(prefix) || prefix.startsWith(other))
    ? 'maybe'
    : 'never';
}

function holds(
  operator: OperatorIR,
  argument: string,
  value: string,
  link: LinkIR,
  unicodeMap: ReadonlyMap<number, number> | null,
): Answer {
  if (link.multiMatch) return 'maybe';
  let transformed = value;
  for (const name of link.transformations) {
    const transformation = transformations.get(name);
    if (transformation === undefined) return 'maybe';
    transformed = transformation.apply(transformed, { unicodeMap });
  }
  const matcher = matcherOrNull(operator, argument);
  return matcher !== null && matcher.matches(transformed) !== operator.negated ? 'always' : 'never';
}

/**
 * null: a macro expanded to what the operator cannot use. Such a link matches nothing, negated or not (evaluator.ts).
 */
export function matcherOrNull(operator: OperatorIR, argument: string): Matcher | null {
  try {
    return createMatcher(operator, argument);
  } catch (error) {
    if (error instanceof OperatorArgumentError) return null;
    throw error;
  }
}

/** The text of a template whose macros are all known TX variables, else null. An unset variable expands to nothing. */
export function constantText(template: Template | null, state: TxState): string | null {
  if (template === null) return null;
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    // `%{tx./^name/}` searches all of TX.
    if (part.variable !== 'TX' || part.key === null || part.key.startsWith('/')) return null;
    const value = state.read(part.key.toLowerCase());
    if (value === UNKNOWN) return null;
    text += value ?? '';
  }
  return text.length > limits.expandedTextMax ? null : text;
}

export function nextValue(operation: SetvarOperation, before: Known | null, value: string | null): Known | null {
  if (operation === 'unset') return null;
  if (value === null) return UNKNOWN;
  if (operation === 'set') return value;
  if (before === UNKNOWN) return UNKNOWN;
  const delta = leadingInteger(value);
  const base = leadingInteger(before ?? '');
  return String(base + (operation === 'add' ? delta : -delta));
}

/** False when several values of one transaction may match the link, each running its setvars. */
export function matchesOnce(link: LinkIR): boolean {
  if (link.operator === null) return true;
  const [target] = link.targets;
  if (link.targets.length !== 1 || target === undefined || (link.multiMatch && link.transformations.length > 0))
    return false;
  const kind = variables.get(target.variable)?.kind;
  return target.count || kind === 'scalar' || (kind === 'record' && target.selector?.kind === 'name');
}

/**
 * The match of one value may change what the next is compared with: then the argument is constant for the first only.
 */
export function writesOwnArgument(link: LinkIR): boolean {
  const read = (link.operator?.template ?? []).flatMap((part) =>
    typeof part === 'string' || part.key === null ? [] : [part.key],
  );
  return link.actions.some((action) => {
    if (action.kind !== 'setvar' || action.collection !== 'TX') return false;
    // a key made at run time may name anything
    if (!action.key.every((part) => typeof part === 'string')) return true;
    return read.includes(action.key.join('').toLowerCase());
  });
}
