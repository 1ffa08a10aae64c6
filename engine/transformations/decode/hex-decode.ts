import { finish, reserve } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** ModSecurity's digit arithmetic, which also gives bytes outside 0–9A–Fa–f a value instead of refusing them. */
function looseDigit(code: number): number {
  return code >= 0x41 ? (code & 0xdf) - 0x41 + 10 : code - 0x30;
}

function apply(value: string): string {
  const out = reserve(value.length);
  let written = 0;
  for (let index = 0; index + 1 < value.length; index += 2) {
    out[written++] = (looseDigit(value.charCodeAt(index)) * 16 + looseDigit(value.charCodeAt(index + 1))) & 0xff;
  }
  return finish(value, out, written);
}

/** Pairs of hexadecimal digits to bytes; an odd last digit is dropped (ModSecurity reference, t:hexDecode). */
export const hexDecode: Transformation = { name: 'hexDecode', triggers: null, apply };
