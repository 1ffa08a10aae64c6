import { finish, hexPair, load, narrowFullWidth } from '../bytes.js';
import type { Transformation, TransformationContext } from '../transformation.js';
import { firstUrlEscape } from './url-decode.js';

function apply(value: string, context: TransformationContext): string {
  const start = firstUrlEscape(value);
  if (start < 0) return value;
  const bytes = load(value);
  const end = value.length;
  let written = start;
  let index = start;
  while (index < end) {
    const byte = bytes[index] as number;
    if (byte !== 0x25) {
      bytes[written++] = byte === 0x2b ? 0x20 : byte;
      index += 1;
      continue;
    }
    if (index + 1 < end && ((bytes[index + 1] as number) | 0x20) === 0x75) {
      const high = hexPair(bytes, index + 2, end);
      const low = hexPair(bytes, index + 4, end);
      if (high >= 0 && low >= 0) {
        bytes[written++] = context.unicodeMap?.get((high << 8) | low) ?? narrowFullWidth(low, high);
        index += 6;
        continue;
      }
    } else {
      const decoded = hexPair(bytes, index + 1, end);
      if (decoded >= 0) {
        bytes[written++] = decoded;
        index += 3;
        continue;
      }
    }
    bytes[written++] = byte;
    index += 1;
  }
  return finish(value, bytes, written);
}

/**
 * As urlDecode, and IIS's `%uHHHH`: the byte that the unicode map gives for the code point; without one the low byte,
 * full-width ASCII narrowed (ModSecurity reference, t:urlDecodeUni and SecUnicodeMapFile).
 */
export const urlDecodeUni: Transformation = { name: 'urlDecodeUni', triggers: [0x25, 0x2b], apply };
