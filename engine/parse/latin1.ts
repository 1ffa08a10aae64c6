// Bytes and the strings that stand for them, one code unit a byte. Buffer has these two methods, its type declaration
// leaves them out; `write` and `toString` with an encoding take twice as long to get there, and a request needs dozens
// (3.5 % of an inspection of the performance mix).

interface LatinBuffer extends Buffer {
  latin1Write(text: string, offset: number, length: number): number;
  latin1Slice(start: number, end: number): string;
}

/** Writes the bytes of `text` from `offset` on; there must be room for them. */
export function writeLatin1(into: Buffer, text: string, offset: number): void {
  (into as LatinBuffer).latin1Write(text, offset, text.length);
}

/** Bytes `start` to `end`, which must lie inside. */
export function readLatin1(from: Buffer, start: number, end: number): string {
  return (from as LatinBuffer).latin1Slice(start, end);
}
