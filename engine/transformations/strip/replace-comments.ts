import { finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  const start = value.indexOf('/*');
  if (start < 0) return value;
  const bytes = load(value);
  const end = value.length;
  let written = start;
  let index = start;
  while (index < end) {
    if (bytes[index] !== 0x2f || index + 1 >= end || bytes[index + 1] !== 0x2a) {
      bytes[written++] = bytes[index++] as number;
      continue;
    }
    index += 2;
    while (index < end && (bytes[index] !== 0x2a || index + 1 >= end || bytes[index + 1] !== 0x2f)) index += 1;
    index += 2;
    bytes[written++] = 0x20;
  }
  return finish(value, bytes, written);
}

/** Each C comment, closed or not, becomes one space (ModSecurity reference, t:replaceComments). */
export const replaceComments: Transformation = { name: 'replaceComments', triggers: [0x2a], apply };
