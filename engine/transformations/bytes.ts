// Byte work shared by the transformations: one scratch buffer per thread and the byte classes of the C locale, which is
// what ModSecurity's isspace/isxdigit/tolower mean (never Unicode classes: a value is bytes).
//
// Why a scratch: building a long output with `+=` makes a rope that the scanner must flatten; a Buffer is written once
// and sliced once. It is safe to share because a transformation runs to its end before another starts (no await).

import { readLatin1, writeLatin1 } from '../parse/latin1.js';

const initialBytes = 64 * 1024;
/** A larger buffer is used once and dropped, so that one huge upload does not stay in memory for ever. */
const retainedBytesMax = 1024 * 1024;

let scratch = Buffer.allocUnsafeSlow(initialBytes);

/** A buffer of at least `lengthBytes`; its content is whatever was there before. */
export function reserve(lengthBytes: number): Buffer {
  if (lengthBytes <= scratch.length) return scratch;
  const larger = Buffer.allocUnsafeSlow(lengthBytes);
  if (lengthBytes <= retainedBytesMax) scratch = larger;
  return larger;
}

/** A buffer that starts with the bytes of `value`; in-place decoders read ahead of where they write. */
export function load(value: string): Buffer {
  const bytes = reserve(value.length);
  writeLatin1(bytes, value, 0);
  return bytes;
}

/** The first `lengthBytes` of `bytes`; the very same string when nothing changed, as the contract asks. */
export function finish(value: string, bytes: Buffer, lengthBytes: number): string {
  const result = readLatin1(bytes, 0, lengthBytes);
  return result === value ? value : result;
}

/** 0–15 for a hexadecimal digit, −1 for any other byte. */
export const hexValue = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 10; digit += 1) hexValue[0x30 + digit] = digit;
for (let digit = 10; digit < 16; digit += 1) {
  hexValue[0x41 + digit - 10] = digit;
  hexValue[0x61 + digit - 10] = digit;
}

/** The byte of two hexadecimal digits at `at`, or −1 when either is none. Bytes at or after `end` are none. */
export function hexPair(bytes: Buffer, at: number, end: number): number {
  if (at + 1 >= end) return -1;
  const high = hexValue[bytes[at] as number] as number;
  const low = hexValue[bytes[at + 1] as number] as number;
  return (high | low) < 0 ? -1 : (high << 4) | low;
}

/** What an escaped byte stands for in C and JavaScript: `\a \b \f \n \r \t \v`, and every other for itself. */
export const escapedByte: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);
for (const [letter, byte] of [
  [0x61, 0x07],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x76, 0x0b],
] as const)
  escapedByte[letter] = byte;

/** Where the octal digits that begin at `at` end: after three at the most, and not at or after `end`. */
export function octalEnd(bytes: Buffer, at: number, end: number): number {
  const last = Math.min(at + 3, end);
  let index = at;
  while (index < last && ((bytes[index] as number) & 0xf8) === 0x30) index += 1;
  return index;
}

/** The number in the octal digits [from, to). */
export function octalValue(bytes: Buffer, from: number, to: number): number {
  let value = 0;
  for (let index = from; index < to; index += 1) value = value * 8 + (bytes[index] as number) - 0x30;
  return value;
}

/** isspace of the C locale: space, \t \n \v \f \r. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

export const spaceBytes: readonly number[] = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20];

/** Every byte for which `test` holds; builds trigger lists. */
export function bytesWhere(test: (byte: number) => boolean): readonly number[] {
  const found: number[] = [];
  for (let byte = 0; byte < 256; byte += 1) if (test(byte)) found.push(byte);
  return found;
}

/**
 * `%uFF01`–`%uFF5E` (and CSS, JavaScript equivalents) are full-width forms of ASCII; ModSecurity takes the low byte and
 * adds 0x20 exactly when the high byte was written FF.
 */
export function narrowFullWidth(low: number, high: number): number {
  return high === 0xff && low > 0x00 && low < 0x5f ? low + 0x20 : low;
}

const lowerDigits = '0123456789abcdef';
/** ASCII codes of the lower-case hexadecimal digits. */
export const hexDigit: Uint8Array = Uint8Array.from(lowerDigits, (digit) => digit.charCodeAt(0));
