import { finish, hexValue, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** The five names that ModSecurity knows, compared case-insensitively. */
const named = new Map<string, number>([
  ['quot', 0x22],
  ['amp', 0x26],
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['nbsp', 0xa0],
]);
const nameLengthMax = 4;
/** Largest value of strtol on 64 bits, where ModSecurity saturates; its low byte is 0xff. */
const decimalMax = '9223372036854775807';

function isAlphanumeric(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

/** Low byte of the number in digits [from, to) as a saturating 64-bit strtol gives it. */
function numericByte(bytes: Buffer, from: number, to: number, radix: 10 | 16): number {
  while (from < to - 1 && bytes[from] === 0x30) from += 1;
  const count = to - from;
  if (radix === 16) {
    if (count > 16 || (count === 16 && (hexValue[bytes[from] as number] as number) > 7)) return 0xff;
  } else if (count > 19 || (count === 19 && bytes.toString('latin1', from, to) > decimalMax)) return 0xff;
  let low = 0;
  for (let index = from; index < to; index += 1)
    low = (low * radix + (hexValue[bytes[index] as number] as number)) & 0xff;
  return low;
}

/** What `matchEntity` found last: a module variable spares an object per ampersand. */
let decoded = 0;

/**
 * Where the entity that starts after the ampersand at `at` ends, or −1 when there is none; the decoded byte lands in
 * `decoded`.
 */
function matchEntity(bytes: Buffer, at: number, end: number): number {
  let index = at + 1;
  if (index < end && bytes[index] === 0x23) {
    index += 1;
    const radix = index < end && ((bytes[index] as number) | 0x20) === 0x78 ? 16 : 10;
    if (radix === 16) index += 1;
    const from = index;
    while (index < end) {
      const digit = hexValue[bytes[index] as number] as number;
      if (digit < 0 || digit >= radix) break;
      index += 1;
    }
    if (index === from) return -1;
    decoded = numericByte(bytes, from, index, radix);
    return index;
  }
  const from = index;
  while (index < end && index - from <= nameLengthMax && isAlphanumeric(bytes[index] as number)) index += 1;
  if (index - from < 2 || index - from > nameLengthMax) return -1;
  const byte = named.get(bytes.toString('latin1', from, index).toLowerCase());
  if (byte === undefined) return -1;
  decoded = byte;
  return index;
}

function apply(value: string): string {
  const start = value.indexOf('&');
  if (start < 0) return value;
  const bytes = load(value);
  const end = value.length;
  let written = start;
  let index = start;
  while (index < end) {
    const byte = bytes[index] as number;
    const after = byte === 0x26 ? matchEntity(bytes, index, end) : -1;
    if (after < 0) {
      bytes[written++] = byte;
      index += 1;
      continue;
    }
    bytes[written++] = decoded;
    index = after < end && bytes[after] === 0x3b ? after + 1 : after;
  }
  return finish(value, bytes, written);
}

/**
 * HTML entities (ModSecurity reference, t:htmlEntityDecode): `&#123;`, `&#x7b;`, `&quot; &amp; &lt; &gt; &nbsp;`, each
 * with or without the semicolon, to one byte (the low one). Unknown names stay.
 */
export const htmlEntityDecode: Transformation = { name: 'htmlEntityDecode', triggers: [0x26], apply };
