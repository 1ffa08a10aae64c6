// The text of an XML document: as one value, as ModSecurity has it, and as the values that an application reads. In the
// one value a quote in a sibling hides what the text before it says to an SQL parser; no backend reads it so.
import { repeatedBytesMax } from '../repeated.js';

/** Where a text began that is not over yet. */
export interface OpenText {
  /** Index into the pieces where the element began. */
  readonly from: number;
  /** The element holds text of its own, between or beside its children. */
  hasOwn: boolean;
}

/** Values of one document; beyond it the body is refused as one with too many arguments is. */
const valuesMax = 10_000;

const isBlank = (text: string): boolean => text.trim() === '';

/**
 * Values besides the whole: every run of text that no tag interrupts (comments, instructions and CDATA sections do not
 * end a run: `UNI<!-- -->ON` is one word to a backend), and the whole text of every element that mixes text and
 * elements. Each once. Work is linear in the body but for nested mixed content, whose sum is bounded by
 * `repeatedBytesMax`.
 */
export class XmlText {
  private readonly pieces: string[] = [];
  private readonly found = new Set<string>();
  private readonly open_: OpenText[] = [];
  private runFrom = 0;
  private bytesLeft: number;
  /** More values, or more text in them, than the limits allow: the rest is only in the whole. */
  isTooMuch = false;

  constructor(bodyBytes: number) {
    this.bytesLeft = repeatedBytesMax(bodyBytes);
  }

  add(text: string): void {
    this.pieces.push(text);
    const innermost = this.open_[this.open_.length - 1];
    if (innermost !== undefined && !innermost.hasOwn && !isBlank(text)) innermost.hasOwn = true;
  }

  /** An element begins. */
  open(): OpenText {
    this.endRun();
    const text = { from: this.pieces.length, hasOwn: false };
    this.open_.push(text);
    return text;
  }

  /** The innermost element ends. */
  close(text: OpenText): void {
    const wasLeaf = this.runFrom === text.from;
    this.endRun();
    this.open_.pop();
    if (text.hasOwn && !wasLeaf) this.keep(text.from);
  }

  /** The text of an element so far, or of one that has just been closed. */
  of(text: OpenText): string {
    return this.pieces.slice(text.from).join('');
  }

  /** The whole first, then the others in the order in which they ended. */
  values(): string[] {
    this.endRun();
    const whole = this.pieces.join('');
    this.found.delete(whole.trim());
    return [whole, ...this.found];
  }

  private endRun(): void {
    if (this.runFrom < this.pieces.length) this.keep(this.runFrom);
    this.runFrom = this.pieces.length;
  }

  /** White space around a text is layout; backends and rules read past it. */
  private keep(from: number): void {
    if (this.isTooMuch) return;
    const value = (
      from === this.pieces.length - 1 ? (this.pieces[from] as string) : this.pieces.slice(from).join('')
    ).trim();
    if (value === '' || this.found.has(value)) return;
    this.bytesLeft -= value.length;
    if (this.found.size >= valuesMax || this.bytesLeft < 0) this.isTooMuch = true;
    else this.found.add(value);
  }
}
