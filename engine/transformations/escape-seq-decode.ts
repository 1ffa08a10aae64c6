import { finish, hexPair, load } from './bytes.js';
import type { Transformation } from './transformation.js';

/** `\a \b \f \n \r \t \v`; every other escaped byte stands for itself. */
const named = new Map<number, number>([
  [0x61, 0x07],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x76, 0x0b],
]);

function apply(value: string): string {
  const start = value.indexOf('\\');
  if (start < 0) return value;
  const bytes = load(value);
  const end = value.length;
  let written = start;
  let index = start;
  while (index < end) {
    const byte = bytes[index] as number;
    if (byte !== 0x5c || index + 1 >= end) {
      bytes[written++] = byte;
      index += 1;
      continue;
    }
    const next = bytes[index + 1] as number;
    if (next === 0x78 || next === 0x58) {
      const decoded = hexPair(bytes, index + 2, end);
      bytes[written++] = decoded < 0 ? next : decoded;
      index += decoded < 0 ? 2 : 4;
    } else if (next >= 0x30 && next <= 0x37) {
      let octal = 0;
      let at = index + 1;
      while (at < end && at < index + 4 && ((bytes[at] as number) & 0xf8) === 0x30) octal = octal * 8 + (bytes[at++] as number) - 0x30;
      bytes[written++] = octal & 0xff;
      index = at;
    } else {
      bytes[written++] = named.get(next) ?? next;
      index += 2;
    }
  }
  return finish(value, bytes, written);
}

/**
 * ANSI C escapes (ModSecurity reference, t:escapeSeqDecode): named ones, `\xHH`, up to three octal digits (low byte). An unknown or broken
 * escape loses its backslash; a lone backslash at the end stays.
 */
export const escapeSeqDecode: Transformation = { name: 'escapeSeqDecode', triggers: [0x5c], apply };
