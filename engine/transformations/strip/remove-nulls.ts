import { finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  const start = value.indexOf('\0');
  if (start < 0) return value;
  const bytes = load(value);
  let written = start;
  for (let index = start; index < value.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte !== 0) bytes[written++] = byte;
  }
  return finish(value, bytes, written);
}

/** Removes NUL bytes. Idempotent. */
export const removeNulls: Transformation = { name: 'removeNulls', triggers: [0], apply };
