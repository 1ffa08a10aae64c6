import { finish, hexPair, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  const bytes = load(value);
  const end = value.length;
  let written = 0;
  let index = 0;
  while (index < end) {
    const marked = bytes[index] === 0x30 && index + 3 < end && ((bytes[index + 1] as number) | 0x20) === 0x78;
    let decoded = marked ? hexPair(bytes, index + 2, end) : -1;
    if (decoded < 0) {
      bytes[written++] = bytes[index++] as number;
      continue;
    }
    index += 2;
    while (decoded >= 0) {
      bytes[written++] = decoded;
      index += 2;
      decoded = hexPair(bytes, index, end);
    }
  }
  return finish(value, bytes, written);
}

/** SQL hexadecimal literals (`0x414243`) become their bytes (ModSecurity reference, t:sqlHexDecode). */
export const sqlHexDecode: Transformation = { name: 'sqlHexDecode', triggers: [0x78, 0x58], apply };
