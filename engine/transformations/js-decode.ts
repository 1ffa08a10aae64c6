import { finish, hexPair, load, narrowFullWidth } from './bytes.js';
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

function isOctal(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x37;
}

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
    if (next === 0x75) {
      const high = hexPair(bytes, index + 2, end);
      const low = hexPair(bytes, index + 4, end);
      if (high >= 0 && low >= 0) {
        bytes[written++] = narrowFullWidth(low, high);
        index += 6;
        continue;
      }
    } else if (next === 0x78) {
      const decoded = hexPair(bytes, index + 2, end);
      if (decoded >= 0) {
        bytes[written++] = decoded;
        index += 4;
        continue;
      }
    } else if (isOctal(next)) {
      let digits = 1;
      while (digits < 3 && index + 1 + digits < end && isOctal(bytes[index + 1 + digits])) digits += 1;
      if (digits === 3 && next > 0x33) digits = 2; // three digits from 400 on would exceed a byte
      let octal = 0;
      for (let at = index + 1; at <= index + digits; at += 1) octal = octal * 8 + (bytes[at] as number) - 0x30;
      bytes[written++] = octal;
      index += 1 + digits;
      continue;
    }
    bytes[written++] = named.get(next) ?? next;
    index += 2;
  }
  return finish(value, bytes, written);
}

/**
 * JavaScript escapes (ModSecurity reference, t:jsDecode): `\uHHHH` (low byte, full-width ASCII narrowed), `\xHH`, octal up to
 * `\377`, the named ones. Any other `\c` becomes c; a lone backslash at the end stays.
 */
export const jsDecode: Transformation = { name: 'jsDecode', triggers: [0x5c], apply };
