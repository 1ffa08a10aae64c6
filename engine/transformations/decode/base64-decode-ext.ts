import { finish, reserve } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** Standard and URL-safe alphabet; −1 for everything else. */
const digits = new Int8Array(256).fill(-1);
for (const [index, digit] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  digits[digit.charCodeAt(0)] = index;
digits[0x2d] = 62;
digits[0x5f] = 63;

function apply(value: string): string {
  const out = reserve(value.length);
  let written = 0;
  let group = 0;
  let seen = 0;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code === 0x3d) {
      // A pad after a single digit of a group cannot be base64 at all: ModSecurity gives up with nothing.
      if ((seen & 3) === 1 && value.charCodeAt(index + 1) !== 0x3d) return '';
      continue;
    }
    const digit = digits[code] as number;
    if (digit < 0) continue;
    switch (seen & 3) {
      case 0:
        group = digit;
        break;
      case 1:
        out[written++] = ((group << 2) | (digit >> 4)) & 0xff;
        group = digit & 0x0f;
        break;
      case 2:
        out[written++] = (group << 4) | (digit >> 2);
        group = digit & 0x03;
        break;
      default:
        out[written++] = (group << 6) | digit;
    }
    seen += 1;
  }
  return finish(value, out, written);
}

/**
 * Forgiving base64: foreign bytes are skipped, both alphabets are taken, padding is optional (ModSecurity reference,
 * t:base64DecodeExt).
 */
export const base64DecodeExt: Transformation = { name: 'base64DecodeExt', triggers: null, apply };
