import { bytesWhere, finish, hexDigit, reserve } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function isPlain(byte: number): boolean {
  return (
    byte === 0x2a || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
  );
}

function apply(value: string): string {
  const out = reserve(value.length * 3);
  let written = 0;
  for (let index = 0; index < value.length; index += 1) {
    const byte = value.charCodeAt(index) & 0xff;
    if (isPlain(byte)) out[written++] = byte;
    else if (byte === 0x20) out[written++] = 0x2b;
    else {
      out[written++] = 0x25;
      out[written++] = hexDigit[byte >> 4] as number;
      out[written++] = hexDigit[byte & 0x0f] as number;
    }
  }
  return finish(value, out, written);
}

/** Everything but ASCII letters, digits and `*` becomes `%hh`, a space `+` (ModSecurity reference, t:urlEncode). */
export const urlEncode: Transformation = { name: 'urlEncode', triggers: bytesWhere((byte) => !isPlain(byte)), apply };
