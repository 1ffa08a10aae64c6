// Texts of header fields that were read before, as in ../net/field-memory.ts, for a library that makes its own strings:
// one of the request before takes the place of an equal one, so that inspection knows it without reading it.

/** Names and values count alike. Together with the lengths this bounds what is held to 64 KiB. */
const placesMax = 128;
const charsMax = 512;
/** A place whose texts never repeat is tried again after so many. */
const triesEvery = 64;

export class RepeatedTexts {
  private readonly texts: string[] = new Array<string>(placesMax).fill('');
  /** By place: texts since one was the same. */
  private readonly misses = new Int32Array(placesMax);

  /** `decode`: what becomes of a text that is new; only one that it leaves as it is is kept. */
  constructor(private readonly decode: (text: string) => string) {}

  /** `place`: its number among names and values of the head, from 0. */
  read(place: number, text: string): string {
    if (place >= placesMax || text.length > charsMax) return this.decode(text);
    const last = this.texts[place] as string;
    if (last === text) {
      this.misses[place] = 0;
      return last;
    }
    const decoded = this.decode(text);
    const misses = (this.misses[place] as number) + 1;
    this.misses[place] = misses;
    if (decoded === text && ((misses & (misses - 1)) === 0 || misses % triesEvery === 0)) this.texts[place] = text;
    return decoded;
  }
}
