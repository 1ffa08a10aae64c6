import { finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  const bytes = load(value);
  const end = value.length;
  const at = (index: number): number => (index < end ? (bytes[index] as number) : -1);
  let written = 0;
  let index = 0;
  while (index < end) {
    const byte = bytes[index] as number;
    if ((byte === 0x2f && at(index + 1) === 0x2a) || (byte === 0x2a && at(index + 1) === 0x2f)) index += 2;
    else if (byte === 0x3c && at(index + 1) === 0x21 && at(index + 2) === 0x2d && at(index + 3) === 0x2d) index += 4;
    else if (byte === 0x2d && at(index + 1) === 0x2d) index += at(index + 2) === 0x3e ? 3 : 2;
    else if (byte === 0x23) index += 1;
    else {
      bytes[written++] = byte;
      index += 1;
    }
  }
  return finish(value, bytes, written);
}

/**
 * Removes the marks of comments and keeps their content: C, HTML and SQL ones (ModSecurity reference,
 * t:removeCommentsChar).
 */
export const removeCommentsChar: Transformation = { name: 'removeCommentsChar', triggers: [0x2a, 0x2d, 0x23], apply };
