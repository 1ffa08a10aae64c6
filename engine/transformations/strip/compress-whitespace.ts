import { finish, isSpace, load, spaceBytes } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** The first byte that would change: white space that is not a space, or that follows one. */
function firstChange(value: string): number {
  let previousIsSpace = false;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    const space = code <= 0x20 && isSpace(code);
    if (space && (previousIsSpace || code !== 0x20)) return index;
    previousIsSpace = space;
  }
  return -1;
}

function apply(value: string): string {
  const start = firstChange(value);
  if (start < 0) return value;
  const bytes = load(value);
  let written = start;
  let inSpace = start > 0 && bytes[start - 1] === 0x20;
  for (let index = start; index < value.length; index += 1) {
    const byte = bytes[index] as number;
    const space = isSpace(byte);
    if (!space) bytes[written++] = byte;
    else if (!inSpace) bytes[written++] = 0x20;
    inSpace = space;
  }
  return finish(value, bytes, written);
}

/** Every run of white space (isspace of the C locale) becomes one space. Idempotent. */
export const compressWhitespace: Transformation = { name: 'compressWhitespace', triggers: spaceBytes, apply };
