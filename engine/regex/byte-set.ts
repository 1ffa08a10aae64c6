// Sets of bytes: 256 entries of 0 or 1. Regular expressions here are over bytes, so a character class is one of these.

export type ByteSet = Uint8Array;

export function byteSet(...ranges: readonly (readonly [number, number])[]): ByteSet {
  const set = new Uint8Array(256);
  for (const [from, to] of ranges) set.fill(1, from, to + 1);
  return set;
}
export const singleByte = (byte: number): ByteSet => byteSet([byte, byte]);

export function union(...sets: readonly ByteSet[]): ByteSet {
  const result = new Uint8Array(256);
  for (const set of sets) for (let byte = 0; byte < 256; byte++) result[byte]! |= set[byte]!;
  return result;
}
export function intersection(one: ByteSet, other: ByteSet): ByteSet {
  const result = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) result[byte] = one[byte]! & other[byte]!;
  return result;
}
export const complement = (set: ByteSet): ByteSet => set.map((present) => 1 - present);
export const intersects = (one: ByteSet, other: ByteSet): boolean =>
  one.some((present, byte) => present === 1 && other[byte] === 1);
export const isEmptySet = (set: ByteSet): boolean => !set.includes(1);

/**
 * Adds the other case of every ASCII letter: PCRE's caseless matching in the C locale, which leaves bytes ≥ 0x80 alone.
 */
export function closeUnderCase(set: ByteSet): ByteSet {
  const result = set.slice();
  for (let upper = 0x41; upper <= 0x5a; upper++) {
    if (set[upper] === 1 || set[upper + 0x20] === 1) result[upper] = result[upper + 0x20] = 1;
  }
  return result;
}

/** The set as inclusive ranges, ascending. */
export function rangesOf(set: ByteSet): [number, number][] {
  const ranges: [number, number][] = [];
  for (let byte = 0; byte < 256; byte++) {
    if (set[byte] !== 1) continue;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === byte - 1) last[1] = byte;
    else ranges.push([byte, byte]);
  }
  return ranges;
}
export function bytesOf(set: ByteSet): number[] {
  const bytes: number[] = [];
  for (let byte = 0; byte < 256; byte += 1) if (set[byte] === 1) bytes.push(byte);
  return bytes;
}

const upper = byteSet([0x41, 0x5a]);
const lower = byteSet([0x61, 0x7a]);
const digit = byteSet([0x30, 0x39]);
const space = byteSet([0x09, 0x0d], [0x20, 0x20]); // PCRE ≥ 8.34: \s includes VT
const graph = byteSet([0x21, 0x7e]);
const word = union(upper, lower, digit, singleByte(0x5f));

/** The POSIX class names, C locale. */
export const posixClasses: Readonly<Record<string, ByteSet>> = {
  alpha: union(upper, lower),
  lower,
  upper,
  digit,
  alnum: union(upper, lower, digit),
  ascii: byteSet([0x00, 0x7f]),
  blank: byteSet([0x09, 0x09], [0x20, 0x20]),
  cntrl: byteSet([0x00, 0x1f], [0x7f, 0x7f]),
  graph,
  print: byteSet([0x20, 0x7e]),
  punct: byteSet([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]),
  space,
  word,
  xdigit: byteSet([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]),
};

const horizontal = byteSet([0x09, 0x09], [0x20, 0x20], [0xa0, 0xa0]);
const vertical = byteSet([0x0a, 0x0d], [0x85, 0x85]);
/** \d \w \s \h \v \N and their negations (PCRE, one byte per character). */
export const escapeClasses: Readonly<Record<string, ByteSet>> = {
  d: digit,
  D: complement(digit),
  w: word,
  W: complement(word),
  s: space,
  S: complement(space),
  h: horizontal,
  H: complement(horizontal),
  v: vertical,
  V: complement(vertical),
  N: complement(singleByte(0x0a)),
};
export const anyByte: ByteSet = byteSet([0x00, 0xff]);
