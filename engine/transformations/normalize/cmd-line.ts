import { bytesWhere, finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  const bytes = load(value);
  let written = 0;
  let space = false;
  for (let index = 0; index < value.length; index += 1) {
    const byte = bytes[index] as number;
    switch (byte) {
      case 0x22: // "
      case 0x27: // '
      case 0x5c: // backslash
      case 0x5e: // ^
        break;
      case 0x20:
      case 0x2c: // ,
      case 0x3b: // ;
      case 0x09:
      case 0x0a:
      case 0x0d:
        if (!space) bytes[written++] = 0x20;
        space = true;
        break;
      case 0x2f: // /
      case 0x28: // (
        if (space) written -= 1;
        space = false;
        bytes[written++] = byte;
        break;
      default:
        bytes[written++] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
        space = false;
    }
  }
  return finish(value, bytes, written);
}

/**
 * Undoes shell obfuscation (ModSecurity reference, t:cmdLine): drops `\ " ' ^`, makes `, ;` and white space one space,
 * drops the space before `/` and `(`, lower-cases ASCII.
 */
export const cmdLine: Transformation = {
  name: 'cmdLine',
  triggers: bytesWhere(
    (byte) =>
      (byte >= 0x41 && byte <= 0x5a) || [0x22, 0x27, 0x5c, 0x5e, 0x20, 0x2c, 0x3b, 0x09, 0x0a, 0x0d].includes(byte),
  ),
  apply,
};
