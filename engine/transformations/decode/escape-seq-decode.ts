import { escapedByte, finish, hexPair, load, octalEnd, octalValue } from '../bytes.js';
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
    if (next === 0x78 || next === 0x58) {
      const decoded = hexPair(bytes, index + 2, end);
      bytes[written++] = decoded < 0 ? next : decoded;
      index += decoded < 0 ? 2 : 4;
    } else if (next >= 0x30 && next <= 0x37) {
      const after = octalEnd(bytes, index + 1, end);
      bytes[written++] = octalValue(bytes, index + 1, after) & 0xff;
      index = after;
    } else {
      bytes[written++] = escapedByte[next] as number;
      index += 2;
    }
  }
  return finish(value, bytes, written);
}

/**
 * ANSI C escapes (ModSecurity reference, t:escapeSeqDecode): named ones, `\xHH`, up to three octal digits (low byte).
 * An unknown or broken escape loses its backslash; a lone backslash at the end stays.
 */
export const escapeSeqDecode: Transformation = { name: 'escapeSeqDecode', triggers: [0x5c], apply };
