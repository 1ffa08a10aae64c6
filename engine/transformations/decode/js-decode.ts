import { escapedByte, finish, hexPair, load, narrowFullWidth, octalEnd, octalValue } from '../bytes.js';
import type { Transformation } from '../transformation.js';

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
    } else if (next >= 0x30 && next <= 0x37) {
      let after = octalEnd(bytes, index + 1, end);
      if (after === index + 4 && next > 0x33) after -= 1; // three digits from 400 on would exceed a byte
      bytes[written++] = octalValue(bytes, index + 1, after);
      index = after;
      continue;
    }
    bytes[written++] = escapedByte[next] as number;
    index += 2;
  }
  return finish(value, bytes, written);
}

/**
 * JavaScript escapes (ModSecurity reference, t:jsDecode): `\uHHHH` (low byte, full-width ASCII narrowed), `\xHH`, octal
 * up to `\377`, the named ones. Any other `\c` becomes c; a lone backslash at the end stays.
 */
export const jsDecode: Transformation = { name: 'jsDecode', triggers: [0x5c], apply };
