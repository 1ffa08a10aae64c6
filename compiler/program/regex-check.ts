// Regular expressions and operator arguments are tried when they are read, so that a bad one is reported at its column
// and never reaches an engine.
import {
  compileRe2,
  createMatcher,
  OperatorArgumentError,
  RegexSyntaxError,
  RegexUnsupportedError,
  type OperatorIR,
} from '#engine/compile';
import type { BindContext } from './bound-rule.js';
import { sliceFragment, type Fragment } from '../text/fragment.js';

/** `.` takes newlines, `^` and `$` are the value's ends, case counts: ModSecurity's way. */
const flags = { caseless: false, dotAll: true, multiline: false } as const;

/** False after reporting a pattern that the engine cannot run. */
export function checkRegex(pattern: Fragment, context: BindContext): boolean {
  try {
    compileRe2(pattern.text, flags);
    return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const known = error instanceof RegexSyntaxError || error instanceof RegexUnsupportedError;
    const offset = Math.min(known ? error.offset : 0, pattern.text.length);
    const at = known ? sliceFragment(pattern, offset, Math.min(offset + 1, pattern.text.length)) : pattern;
    context.report('GH-C3003', `regular expression: ${error.message.replace(/ \(at offset \d+\)$/, '')}`, at);
    return false;
  }
}

/** Whether an expression can run, without a report. */
export function isLinear(source: string): boolean {
  try {
    compileRe2(source, flags);
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

/** False after reporting an argument that the operator does not take. */
export function checkArgument(operator: OperatorIR, argument: Fragment, context: BindContext): boolean {
  try {
    const { warning } = createMatcher(operator, operator.argument);
    if (warning !== undefined) context.report('GH-C3007', warning, argument);
    return true;
  } catch (error) {
    if (!(error instanceof OperatorArgumentError)) throw error;
    context.report('GH-C3004', error.message, argument);
    return false;
  }
}
