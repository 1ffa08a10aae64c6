import { bytesWhere, finish, hexDigit, reserve } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** Bytes of a sequence by its first byte; 1 = copied as it is. */
function sequenceLength(lead: number): number {
  if (lead < 0xc0 || lead >= 0xf8) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Writes `%u` and at least four lower-case hexadecimal digits; returns where writing goes on. */
function writeCodePoint(out: Buffer, at: number, codePoint: number): number {
  out[at++] = 0x25;
  out[at++] = 0x75;
  let digits = 4;
  while (codePoint >= 16 ** digits) digits += 1;
  for (let shift = (digits - 1) * 4; shift >= 0; shift -= 4)
    out[at++] = hexDigit[(codePoint >> shift) & 0x0f] as number;
  return at;
}

/** Smallest code point that needs a sequence of this many bytes; below it the sequence is overlong. */
const leastCodePoint = [0, 0, 0x80, 0x800, 0x10000];

function isPlain(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code >= 0xc0 || code === 0) return false;
  }
  return true;
}

function apply(value: string): string {
  if (isPlain(value)) return value;
  const end = value.length;
  const out = reserve(end * 5 + 8); // worst case: two bytes become six digits and marks, and the first byte again
  let written = 0;
  let index = 0;
  while (index < end) {
    const lead = value.charCodeAt(index);
    const length = sequenceLength(lead);
    if (length === 1) {
      if (lead !== 0) out[written++] = lead;
      index += 1;
      continue;
    }
    if (lead >= 0xf5) out[written++] = lead;
    let codePoint = lead & (0xff >> (length + 1));
    let valid = index + length <= end;
    for (let at = index + 1; valid && at < index + length; at += 1) {
      const byte = value.charCodeAt(at);
      valid = (byte & 0xc0) === 0x80;
      codePoint = (codePoint << 6) | (byte & 0x3f);
    }
    if (!valid) {
      index += 1;
      continue;
    }
    written = writeCodePoint(out, written, codePoint);
    if ((codePoint >= 0xd800 && codePoint <= 0xdfff) || codePoint < (leastCodePoint[length] as number))
      out[written++] = lead;
    index += length;
  }
  return finish(value, out, written);
}

/**
 * UTF-8 sequences become `%uHHHH` (ModSecurity v3, t:utf8toUnicode). As there, a first byte without its continuation
 * bytes and every NUL vanish, and an overlong or surrogate sequence is followed by its first byte.
 */
export const utf8toUnicode: Transformation = {
  name: 'utf8toUnicode',
  triggers: bytesWhere((byte) => byte === 0 || (byte >= 0xc0 && byte < 0xf8)),
  apply,
};
