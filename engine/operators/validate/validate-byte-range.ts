import { type Matcher, type Operator, OperatorArgumentError } from '../operator.js';

function byteOf(text: string, argument: string): number {
  const number = Number.parseInt(text, 10);
  // ModSecurity reads text without digits as 0; its vectors fix that, so only a real number can be out of range.
  if (Number.isNaN(number)) return 0;
  if (number < 0 || number > 255)
    throw new OperatorArgumentError(
      `@validateByteRange ${argument}: ${text.trim()} is not a byte; write numbers from 0 to 255`,
    );
  return number;
}

/** Allowed bytes of `9,10,32-126`. */
function allowedBytes(argument: string): Uint8Array {
  const allowed = new Uint8Array(256);
  for (const part of argument.split(',')) {
    const dash = part.indexOf('-');
    const from = byteOf(dash < 0 ? part : part.slice(0, dash), argument);
    const to = dash < 0 ? from : byteOf(part.slice(dash + 1), argument);
    if (from > to)
      throw new OperatorArgumentError(
        `@validateByteRange ${argument}: the range ${part.trim()} runs backwards; write the smaller byte first`,
      );
    allowed.fill(1, from, to + 1);
  }
  return allowed;
}

/** Matches (= violation) when some byte is in none of the ranges. */
export const validateByteRange: Operator = {
  name: 'validateByteRange',
  create: (_operator, argument): Matcher => {
    const allowed = allowedBytes(argument);
    return {
      matches: (value) => {
        for (let at = 0; at < value.length; at += 1) if (allowed[value.charCodeAt(at)] !== 1) return true;
        return false;
      },
    };
  },
};
