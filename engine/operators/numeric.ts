// Numbers as C reads them: white space, a sign, digits, then anything; no digits is 0. Saturates at 64 bits like atoll,
// so that a huge number stays huge instead of wrapping round to a small one.
import type { Matcher, Operator } from './operator.js';

const largest = 2 ** 63;

/**
 * The leading integer of the text; exact up to 2^53, nearest double beyond (two such values within one part in 10^15
 * compare equal).
 */
function leadingInteger(text: string): number {
  let at = 0;
  while (
    at < text.length &&
    (text.charCodeAt(at) === 0x20 || (text.charCodeAt(at) >= 0x09 && text.charCodeAt(at) <= 0x0d))
  )
    at += 1;
  const sign = text.charCodeAt(at);
  if (sign === 0x2b || sign === 0x2d) at += 1;
  let number = 0;
  for (; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) break;
    if (number < largest) number = number * 10 + digit;
  }
  number = Math.min(number, largest);
  return sign === 0x2d ? -number : number;
}

function numericOperator(name: string, holds: (value: number, argument: number) => boolean): Operator {
  return {
    name,
    create: (_operator, argument): Matcher => {
      const bound = leadingInteger(argument);
      return { matches: (value) => holds(leadingInteger(value), bound) };
    },
  };
}

export const eq = numericOperator('eq', (value, argument) => value === argument);
export const ge = numericOperator('ge', (value, argument) => value >= argument);
export const gt = numericOperator('gt', (value, argument) => value > argument);
export const le = numericOperator('le', (value, argument) => value <= argument);
export const lt = numericOperator('lt', (value, argument) => value < argument);
