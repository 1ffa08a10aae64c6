// The operators that compare text byte for byte, as they are: one line of meaning each. Case matters; rules that want
// otherwise put
// t:lowercase in front (ModSecurity reference).
import type { Matcher, Operator } from '../operator.js';

function textOperator(name: string, holds: (value: string, argument: string) => boolean): Operator {
  return { name, create: (_operator, argument): Matcher => ({ matches: (value) => holds(value, argument) }) };
}

/** The value contains the argument; the empty argument always matches. */
export const contains = textOperator('contains', (value, argument) => value.includes(argument));
/** As contains: ModSecurity v3 keeps both names for the same search. */
export const strmatch = textOperator('strmatch', (value, argument) => value.includes(argument));
export const streq = textOperator('streq', (value, argument) => value === argument);
export const beginsWith = textOperator('beginsWith', (value, argument) => value.startsWith(argument));
export const endsWith = textOperator('endsWith', (value, argument) => value.endsWith(argument));
/** The value occurs within the argument; the empty value does. */
export const within = textOperator('within', (value, argument) => argument.includes(value));

/** No ASCII letter at `at`; false outside the value, where ModSecurity v3 does not see a boundary either. */
function isBoundary(value: string, at: number): boolean {
  if (at < 0 || at >= value.length) return false;
  const code = value.charCodeAt(at) | 0x20;
  return code < 0x61 || code > 0x7a || value.charCodeAt(at) >= 0x80;
}

/** The argument stands between non-letters, at the start before one, or at the end after one; digits are no letters. */
export const containsWord = textOperator('containsWord', (value, argument) => {
  if (argument === '' || value === argument) return true;
  for (let at = value.indexOf(argument); at >= 0; at = value.indexOf(argument, at + 1)) {
    const end = at + argument.length;
    const opens = at === 0 || isBoundary(value, at - 1);
    const closes = end === value.length || isBoundary(value, end);
    if (opens && closes) return true;
  }
  return false;
});
