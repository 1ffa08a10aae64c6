import { bytesWhere, finish, load } from './bytes.js';
import type { Transformation } from './transformation.js';

function apply(value: string): string {
  let upper = false;
  let ascii = true;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code >= 0x80) ascii = false;
    else if (code >= 0x41 && code <= 0x5a) upper = true;
  }
  if (!upper) return value;
  // The built-in is vectorised, but would also fold bytes from 0xC0 on as if they were Latin letters.
  if (ascii) return value.toLowerCase();
  const bytes = load(value);
  for (let index = 0; index < value.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte >= 0x41 && byte <= 0x5a) bytes[index] = byte | 0x20;
  }
  return finish(value, bytes, value.length);
}

/** tolower of the C locale: ASCII only. Idempotent. */
export const lowercase: Transformation = { name: 'lowercase', triggers: bytesWhere((byte) => byte >= 0x41 && byte <= 0x5a), apply };
