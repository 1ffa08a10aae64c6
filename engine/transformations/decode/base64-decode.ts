import { finish, reserve } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** 0–63 for a digit of the standard alphabet, 64 for '=', −1 for any other byte. */
const digits = new Int8Array(256).fill(-1);
for (const [index, digit] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  digits[digit.charCodeAt(0)] = index;
digits[0x3d] = 64;

/**
 * Whether the strict decoder takes the first `end` bytes: line ends anywhere, spaces only before them or at the end, at
 * most two '=' and only last.
 */
function isStrictBase64(value: string, end: number): boolean {
  let pads = 0;
  for (let index = 0; index < end; index += 1) {
    let spaces = 0;
    while (index < end && value.charCodeAt(index) === 0x20) {
      index += 1;
      spaces += 1;
    }
    if (index === end) break;
    const code = value.charCodeAt(index);
    if (code === 0x0a || (code === 0x0d && index + 1 < end && value.charCodeAt(index + 1) === 0x0a)) continue;
    const digit = digits[code] as number;
    if (spaces !== 0 || digit < 0) return false;
    if (digit === 64) {
      pads += 1;
      if (pads > 2) return false;
    } else if (pads !== 0) return false;
  }
  return true;
}

function apply(value: string): string {
  const nul = value.indexOf('\0');
  const end = nul < 0 ? value.length : nul;
  if (!isStrictBase64(value, end)) return value;
  const out = reserve(value.length);
  let written = 0;
  let group = 0;
  let inGroup = 0;
  let kept = 3;
  for (let index = 0; index < end; index += 1) {
    const digit = digits[value.charCodeAt(index)] as number;
    if (digit < 0) continue;
    if (digit === 64) kept -= 1;
    group = (group << 6) | (digit & 0x3f);
    inGroup += 1;
    if (inGroup < 4) continue;
    if (kept > 0) out[written++] = (group >> 16) & 0xff;
    if (kept > 1) out[written++] = (group >> 8) & 0xff;
    if (kept > 2) out[written++] = group & 0xff;
    inGroup = 0;
    group = 0;
  }
  return finish(value, out, written);
}

/**
 * Strict base64 (ModSecurity v3, which uses mbedTLS): decodes up to the first NUL; whole groups of four only, an
 * unpadded rest is dropped. A value that is not base64 is left as it is, so that one foreign byte cannot blank a value
 * out.
 */
export const base64Decode: Transformation = { name: 'base64Decode', triggers: null, apply };
