import { bytesWhere, finish, isSpace, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function isRemoved(byte: number): boolean {
  return isSpace(byte) || byte === 0xa0 || byte === 0xc2;
}

function firstRemoved(value: string): number {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code > 0x20 && code < 0xa0) continue; // nearly every byte
    if (isRemoved(code)) return index;
  }
  return value.length;
}

function apply(value: string): string {
  const start = firstRemoved(value);
  if (start === value.length) return value;
  const bytes = load(value);
  let written = start;
  for (let index = start; index < value.length; index += 1) {
    const byte = bytes[index] as number;
    if (!isRemoved(byte)) bytes[written++] = byte;
  }
  return finish(value, bytes, written);
}

/**
 * Removes white space (C locale) and both bytes of a UTF-8 no-break space, C2 and A0, wherever they stand. Idempotent.
 */
export const removeWhitespace: Transformation = { name: 'removeWhitespace', triggers: bytesWhere(isRemoved), apply };
