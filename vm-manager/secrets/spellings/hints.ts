// A quick look at a text: whether one of the words of the tables is in it. A table of four characters, without their
// case, says where a word may begin; patterns of as many alternatives took ten times as long.

const bits = 5;
const low = (1 << bits) - 1;
const size = 4;
const all = (1 << (bits * size)) - 1;
/** From Greek on the first letter of a word tells enough. */
const foreignFrom = 0x370;

/** As words are written with and without accents. */
const forms = (word: string): string[] => [word, word.normalize('NFD'), word.normalize('NFD').replace(/\p{M}/gu, '')];

/** Words of three characters or more, in any case. */
export interface Group {
  readonly words: readonly string[];
  /** Not within a longer word. */
  readonly isStart: boolean;
}
interface Word {
  readonly word: string;
  readonly bit: number;
  readonly isStart: boolean;
}

/** Up to eight groups of words; the group at position n has the bit 1 << n. */
export class Hints {
  private readonly starts = new Uint8Array(all + 1);
  private readonly firsts = new Uint8Array(0x1_0000);
  private readonly words = new Map<number, Word[]>();
  private readonly every: number;

  constructor(groups: readonly Group[]) {
    this.every = (1 << groups.length) - 1;
    groups.forEach(({ words, isStart }, at) => {
      for (const word of new Set(words.flatMap((one) => forms(one.toLowerCase()))))
        for (const written of new Set([word, word.toUpperCase()])) this.add(written, { word, bit: 1 << at, isStart });
    });
  }

  private add(written: string, word: Word): void {
    const first = written.charCodeAt(0);
    if (first >= foreignFrom) {
      this.firsts[first] = (this.firsts[first] ?? 0) | word.bit;
      return;
    }
    let start = 0;
    const known = Math.min(size, written.length);
    for (let at = 0; at < known; at++) start = (start << bits) | (written.charCodeAt(at) & low);
    const open = bits * (size - known);
    for (let one = start << open; one < (start + 1) << open; one++) {
      this.starts[one] = (this.starts[one] ?? 0) | word.bit;
      const words = this.words.get(one) ?? [];
      words.push(word);
      this.words.set(one, words);
    }
  }

  /** The bits of the groups with a word in the text. */
  in(text: string): number {
    let found = 0;
    let last = 0;
    const { length } = text;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      last = ((last << bits) | (code & low)) & all;
      if (((this.starts[last] ?? 0) & ~found) !== 0) found |= this.groupsAt(text, at - size + 1, last);
      if (code >= foreignFrom) found |= this.firsts[code] ?? 0;
      if (found === this.every) break;
    }
    return found;
  }

  private groupsAt(text: string, from: number, start: number): number {
    let found = 0;
    const isWithin = from > 0 && /[A-Za-z0-9]/.test(text[from - 1] ?? '');
    for (const { word, bit, isStart } of this.words.get(start) ?? [])
      if (!(isStart && isWithin) && text.slice(Math.max(0, from), from + word.length).toLowerCase() === word)
        found |= bit;
    return found;
  }
}
