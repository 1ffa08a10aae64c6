// A quick look at a text: whether one of the words of the tables is in it. A table of four characters, without their
// case, says where a word may begin; patterns of as many alternatives took ten times as long.

const bits = 5;
const low = (1 << bits) - 1;
const size = 4;
const all = (1 << (bits * size)) - 1;
/** From Greek on the first letter of a word tells enough. */
const foreignFrom = 0x370;

/** As words are written with and without accents. */
const forms = (word: string): string[] => [
  word,
  word.normalize('NFD'),
  word.normalize('NFD').replace(/\p{M}/gu, ''),
];

export class Hints {
  private readonly starts = new Uint8Array(all + 1);
  private readonly firsts = new Uint8Array(0x1_0000);
  private readonly words = new Map<number, Set<string>>();

  private readonly isStart: boolean;

  /** Words of three characters or more, in any case. `isStart`: not within a longer word. */
  constructor(words: Iterable<string>, isStart: boolean) {
    this.isStart = isStart;
    for (const word of words)
      for (const form of forms(word.toLowerCase()))
        for (const written of [form, form.toUpperCase()]) this.add(written, form);
  }

  private add(written: string, word: string): void {
    if (written.charCodeAt(0) >= foreignFrom) {
      this.firsts[written.charCodeAt(0)] = 1;
      return;
    }
    let start = 0;
    const known = Math.min(size, written.length);
    for (let at = 0; at < known; at++) start = (start << bits) | (written.charCodeAt(at) & low);
    const open = bits * (size - known);
    for (let one = start << open; one < (start + 1) << open; one++) {
      this.starts[one] = 1;
      const words = this.words.get(one) ?? new Set();
      this.words.set(one, words.add(word));
    }
  }

  in(text: string): boolean {
    let last = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      last = ((last << bits) | (code & low)) & all;
      if (this.starts[last] === 1 && this.begins(text, at - size + 1, last)) return true;
      if (code >= foreignFrom && this.firsts[code] === 1) return true;
    }
    return false;
  }

  private begins(text: string, from: number, start: number): boolean {
    if (this.isStart && from > 0 && /[A-Za-z0-9]/.test(text[from - 1] ?? '')) return false;
    for (const word of this.words.get(start) ?? [])
      if (text.slice(Math.max(0, from), from + word.length).toLowerCase() === word) return true;
    return false;
  }
}
