import type { Operator } from '../operator.js';

/**
 * Length of the well-formed sequence at `at` (RFC 3629), or 0: no overlong forms, no surrogates, no first byte above
 * F4.
 */
function sequenceLength(value: string, at: number): number {
  const lead = value.charCodeAt(at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const second = value.charCodeAt(at + 1);
  if (lead < 0xe0) return (second & 0xc0) === 0x80 ? 2 : 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : 0xbf; // above F4 8F is left to pass, as ModSecurity v3 does
  if (!(second >= least && second <= most)) return 0;
  if ((value.charCodeAt(at + 2) & 0xc0) !== 0x80) return 0;
  if (lead < 0xf0) return 3;
  return (value.charCodeAt(at + 3) & 0xc0) === 0x80 ? 4 : 0;
}

/** Matches (= violation) when the bytes are not UTF-8. */
export const validateUtf8Encoding: Operator = {
  name: 'validateUtf8Encoding',
  create: () => ({
    matches: (value) => {
      for (let at = 0; at < value.length; ) {
        const length = sequenceLength(value, at);
        if (length === 0) return true;
        at += length;
      }
      return false;
    },
  }),
};
