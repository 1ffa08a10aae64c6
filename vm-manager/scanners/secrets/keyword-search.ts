// Aho-Corasick over all keywords of all rules: one step a byte, whatever their number. Case does not count.

const symbolOf = new Uint8Array(256).map((_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

export class KeywordSearch {
  readonly #next: Int32Array;
  /** State → numbers of the keywords that end there. */
  readonly #ends: readonly (readonly number[] | null)[];

  /** Keywords in ASCII. */
  constructor(keywords: readonly string[]) {
    const next: Int32Array[] = [new Int32Array(256)];
    const ends: number[][] = [[]];
    keywords.forEach((word, number) => {
      let state = 0;
      for (const byte of Buffer.from(word.toLowerCase(), 'latin1')) {
        const row = next[state] as Int32Array;
        if (row[byte] === 0) {
          row[byte] = next.push(new Int32Array(256)) - 1;
          ends.push([]);
        }
        state = row[byte] as number;
      }
      (ends[state] as number[]).push(number);
    });
    this.#ends = linked(next, ends).map((all) => (all.length === 0 ? null : all));
    this.#next = new Int32Array(next.length * 256);
    next.forEach((row, state) => this.#next.set(row, state * 256));
  }

  /** Calls `found` with the number of a keyword and the offset behind it, in the order of their ends. */
  search(bytes: Buffer, found: (keyword: number, end: number) => void): void {
    const next = this.#next;
    let state = 0;
    for (let at = 0; at < bytes.length; at++) {
      state = next[state * 256 + (symbolOf[bytes[at] as number] as number)] as number;
      const ends = this.#ends[state];
      if (ends === null || ends === undefined) continue;
      for (const keyword of ends) found(keyword, at + 1);
    }
  }
}

/** Fills in what follows a failure, breadth first; returns the ends with those of the suffixes. */
function linked(next: readonly Int32Array[], ends: number[][]): number[][] {
  const fail = new Int32Array(next.length);
  const waiting: number[] = [...new Set((next[0] as Int32Array).filter((state) => state !== 0))];
  for (let index = 0; index < waiting.length; index++) {
    const state = waiting[index] as number;
    const back = fail[state] as number;
    (ends[state] as number[]).push(...(ends[back] as number[]));
    const row = next[state] as Int32Array;
    for (let byte = 0; byte < 256; byte++) {
      const to = row[byte] as number;
      const other = (next[back] as Int32Array)[byte] as number;
      if (to === 0) row[byte] = other;
      else {
        fail[to] = other;
        waiting.push(to);
      }
    }
  }
  return ends;
}
