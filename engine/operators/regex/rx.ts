import { compileRe2 } from '../../native/re2-pattern.js';
import { remembered } from './remembered.js';
import { type Matcher, type Operator, OperatorArgumentError } from '../operator.js';

/** The flags of seclang's regular expressions: `.` takes newlines, `^` and `$` are the value's ends, case counts. */
const seclangFlags = { caseless: false, dotAll: true, multiline: false } as const;

/** Compiles a seclang pattern; what RE2 refuses is an argument error that names the operator. */
export function compilePattern(name: string, source: string): ReturnType<typeof compileRe2> {
  try {
    return compileRe2(source, seclangFlags);
  } catch (error) {
    throw new OperatorArgumentError(
      `@${name}: the pattern does not compile: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** Patterns that take any value whole (rules use them to capture it): no automaton needed, in every request. */
const wholeValue: ReadonlySet<string> = new Set(['^.*$', '^.*']);

/**
 * The pattern occurs in the value (RE2: linear time). TX:0–9 = the first match and its groups, '' for a group that took
 * no part.
 */
export const rx: Operator = {
  name: 'rx',
  create: (_operator, argument): Matcher => {
    if (wholeValue.has(argument)) return { matches: () => true, capture: (value) => [value] };
    const pattern = compilePattern('rx', argument);
    if (pattern.isCheap) return { matches: (value) => pattern.test(value), capture: (value) => pattern.exec(value) };
    return { matches: remembered((value) => pattern.test(value)), capture: remembered((value) => pattern.exec(value)) };
  },
};
