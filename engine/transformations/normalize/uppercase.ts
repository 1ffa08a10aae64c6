import { bytesWhere, finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  let lower = false;
  let ascii = true;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code >= 0x80) ascii = false;
    else if (code >= 0x61 && code <= 0x7a) lower = true;
  }
  if (!lower) return value;
  if (ascii) return value.toUpperCase();
  const bytes = load(value);
  for (let index = 0; index < value.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte >= 0x61 && byte <= 0x7a) bytes[index] = byte & 0xdf;
  }
  return finish(value, bytes, value.length);
}

/** toupper of the C locale: ASCII only. Idempotent. */
export const uppercase: Transformation = {
  name: 'uppercase',
  triggers: bytesWhere((byte) => byte >= 0x61 && byte <= 0x7a),
  apply,
};
