import { finish, hexValue, isSpace, load, narrowFullWidth } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/**
 * The byte of 1–6 hexadecimal digits at `at`: the low byte; full-width ASCII is narrowed when the digits before the
 * last four are zeros.
 */
function cssByte(bytes: Buffer, at: number, count: number): number {
  const digit = (index: number): number => hexValue[bytes[at + index] as number] as number;
  if (count === 1) return digit(0);
  const low = (digit(count - 2) << 4) | digit(count - 1);
  if (count < 4) return low;
  for (let index = 0; index < count - 4; index += 1) if (digit(index) !== 0) return low;
  return narrowFullWidth(low, (digit(count - 4) << 4) | digit(count - 3));
}

function apply(value: string): string {
  const start = value.indexOf('\\');
  if (start < 0) return value;
  const bytes = load(value);
  const end = value.length;
  let written = start;
  let index = start;
  while (index < end) {
    const byte = bytes[index++] as number;
    if (byte !== 0x5c) {
      bytes[written++] = byte;
      continue;
    }
    if (index >= end) break; // a lone backslash at the end continues to nothing
    let count = 0;
    while (count < 6 && index + count < end && (hexValue[bytes[index + count] as number] as number) >= 0) count += 1;
    if (count > 0) {
      bytes[written++] = cssByte(bytes, index, count);
      index += count;
      if (index < end && isSpace(bytes[index] as number)) index += 1;
    } else if (bytes[index] === 0x0a) index += 1;
    else bytes[written++] = bytes[index++] as number;
  }
  return finish(value, bytes, written);
}

/**
 * CSS 2 escapes (ModSecurity reference, t:cssDecode): `\` and 1–6 hexadecimal digits give the low byte and swallow one
 * white space, `\` before a newline vanishes, `\` before anything else is dropped.
 */
export const cssDecode: Transformation = { name: 'cssDecode', triggers: [0x5c], apply };
