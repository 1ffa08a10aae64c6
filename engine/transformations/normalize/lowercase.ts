import { bytesWhere, finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** Whether some byte is no ASCII. */
function hasHighByte(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) if (value.charCodeAt(index) >= 0x80) return true;
  return false;
}

function apply(value: string): string {
  // The built-in works on whole words and gives the same string back when nothing changes. It also folds bytes from
  // 0xC0 on as if they were Latin letters, so what it changed counts only when the value is ASCII.
  const lowered = value.toLowerCase();
  if (lowered === value || !hasHighByte(value)) return lowered;
  const bytes = load(value);
  for (let index = 0; index < value.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte >= 0x41 && byte <= 0x5a) bytes[index] = byte | 0x20;
  }
  return finish(value, bytes, value.length);
}

/** tolower of the C locale: ASCII only. Idempotent. */
export const lowercase: Transformation = {
  name: 'lowercase',
  triggers: bytesWhere((byte) => byte >= 0x41 && byte <= 0x5a),
  apply,
};
