import { finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  const bytes = load(value);
  const end = value.length;
  const at = (index: number): number => (index < end ? (bytes[index] as number) : 0);
  let written = 0;
  let index = 0;
  let inComment = false;
  while (index < end) {
    const byte = bytes[index] as number;
    if (!inComment) {
      if (byte === 0x2f && at(index + 1) === 0x2a) {
        inComment = true;
        index += 2;
      } else if (byte === 0x3c && at(index + 1) === 0x21 && at(index + 2) === 0x2d && at(index + 3) === 0x2d) {
        inComment = true;
        index += 4;
      } else if (byte === 0x23 || (byte === 0x2d && at(index + 1) === 0x2d)) break;
      else {
        bytes[written++] = byte;
        index += 1;
      }
      continue;
    }
    const closed =
      byte === 0x2a && at(index + 1) === 0x2f
        ? 2
        : byte === 0x2d && at(index + 1) === 0x2d && at(index + 2) === 0x3e
          ? 3
          : 0;
    if (closed === 0) {
      index += 1;
      continue;
    }
    inComment = false;
    index += closed;
    // ModSecurity copies the byte after a comment unseen, even the NUL that ends the buffer; the vectors fix this.
    bytes[written++] = at(index);
    index += 1;
  }
  if (inComment) bytes[written++] = 0x20;
  return finish(value, bytes, written);
}

/**
 * Removes C and HTML comments, and everything from an SQL comment (`--`, `#`) on; an unclosed comment becomes a
 * space (ModSecurity reference, t:removeComments).
 */
export const removeComments: Transformation = { name: 'removeComments', triggers: [0x2a, 0x2d, 0x23], apply };
