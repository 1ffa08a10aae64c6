import { finish, hexPair, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** The first `%` or `+`, or −1. */
export function firstUrlEscape(value: string): number {
  const percent = value.indexOf('%');
  const plus = value.indexOf('+');
  return percent < 0 ? plus : plus < 0 ? percent : Math.min(percent, plus);
}

function apply(value: string): string {
  const start = firstUrlEscape(value);
  if (start < 0) return value;
  const bytes = load(value);
  const end = value.length;
  let written = start;
  let index = start;
  while (index < end) {
    const byte = bytes[index] as number;
    const decoded = byte === 0x25 ? hexPair(bytes, index + 1, end) : -1;
    if (decoded >= 0) {
      bytes[written++] = decoded;
      index += 3;
    } else {
      bytes[written++] = byte === 0x2b ? 0x20 : byte;
      index += 1;
    }
  }
  return finish(value, bytes, written);
}

/** `%HH` to bytes and `+` to space; a `%` without two hexadecimal digits stays (ModSecurity reference, t:urlDecode). */
export const urlDecode: Transformation = { name: 'urlDecode', triggers: [0x25, 0x2b], apply };
