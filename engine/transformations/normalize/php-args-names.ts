import { finish, reserve } from '../bytes.js';
import type { Transformation } from '../transformation.js';

const open = 0x5b;

/** Position of the next `]` before any NUL, or −1: PHP looks for it in a C string. */
function findClose(value: string, from: number): number {
  const at = value.indexOf(']', from);
  if (at < 0) return -1;
  const nul = value.indexOf('\0', from);
  return nul >= 0 && nul < at ? -1 : at;
}

function apply(value: string): string {
  const first = value.charCodeAt(0);
  if (first === open || first === 0x3d) return '';
  const out = reserve(value.length + 1);
  let written = 0;
  let index = 0;
  while (value.charCodeAt(index) === 0x20) index += 1;
  let bracketLost = false;
  let array = false;
  for (; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code === open && !bracketLost) {
      if (findClose(value, index) >= 0) {
        array = true;
        break;
      }
      out[written++] = 0x5f;
      bracketLost = true;
    } else out[written++] = !bracketLost && (code === 0x20 || code === 0x2e) ? 0x5f : code;
  }
  while (array) {
    const end = findClose(value, index);
    if (end < 0) break;
    if (end + 1 - index === 3 && value.charCodeAt(index + 1) === 0x20) {
      out[written++] = open;
      index += 2;
    }
    for (; index <= end; index += 1) out[written++] = value.charCodeAt(index);
    array = value.charCodeAt(index) === open;
  }
  return finish(value, out, written);
}

/**
 * The name under which PHP files a parameter (php_register_variable_ex): leading spaces dropped, spaces and dots become
 * `_`, an unclosed `[` becomes `_` and ends the replacing, what follows the last closed index is dropped.
 */
export const phpArgsNames: Transformation = { name: 'phpArgsNames', triggers: [open, 0x3d, 0x20, 0x2e], apply };
