import type { Operator } from '../operator.js';

function isHexDigit(code: number): boolean {
  const folded = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (folded >= 0x61 && folded <= 0x66);
}

/** Matches (= violation) when some `%` is not followed by two hexadecimal digits. */
export const validateUrlEncoding: Operator = {
  name: 'validateUrlEncoding',
  create: () => ({
    matches: (value) => {
      for (let at = value.indexOf('%'); at >= 0; at = value.indexOf('%', at + 3)) {
        // charCodeAt is NaN past the end, which is no digit
        if (!isHexDigit(value.charCodeAt(at + 1)) || !isHexDigit(value.charCodeAt(at + 2))) return true;
      }
      return false;
    },
  }),
};
