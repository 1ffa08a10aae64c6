// Card numbers in a body that comes in pieces: masked at their length, wherever the pieces are cut. Taken are 13 to 19
// digits of an issuer in use with their check digit (ISO/IEC 7812), whole or in groups (the first of three and more)
// with one space or hyphen between them, that stand by themselves: behind a letter or a decimal point they are part of
// something else.
//
// Memory: at most `carryBytesMax` bytes are kept between two pieces. What is no part of a number leaves as it came.
import { isCard } from '../masking/personal-data.js';

/** json: escapes are read, and numbers outside of strings stay numbers. html: the same for scripts. */
export type TextKind = 'json' | 'html' | 'text';

const digitsMin = 13;
const digitsMax = 19;
/** Of the first group. */
const groupDigitsMin = 3;
/** A number with its separators and what follows it; a longer run of digits is decided without being kept. */
const carryBytesMax = 64;

const empty = Buffer.alloc(0);
const asterisk = 0x2a;
const zero = 0x30;
const one = 0x31;
const quote = 0x22;
const backslash = 0x5c;
const percent = 0x25;
const lessThan = 0x3c;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isHex = (byte: number | undefined): boolean =>
  isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
const isWord = (byte: number | undefined): boolean =>
  byte !== undefined && (isDigit(byte) || byte === 0x5f || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a));
const isSeparator = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x2d;

/** What stands before the place that is looked at. decimal: a point behind a digit. */
type Before = 'nothing' | 'word' | 'decimal';

export class CardMasker {
  private carry: Buffer = empty;
  private before: Before = 'nothing';
  private isInString = false;
  private isInScript = false;
  /** Numbers that were masked. */
  masked = 0;

  constructor(private readonly kind: TextKind) {}

  /** What can leave after this piece. `chunk` is borrowed; the answer is a copy where anything was masked or kept. */
  push(chunk: Buffer): Buffer {
    return this.run(this.carry.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.carry, chunk]), false);
  }

  /** What was kept: the body ends here. */
  flush(): Buffer {
    return this.run(this.carry, true);
  }

  private run(bytes: Buffer, isLast: boolean): Buffer {
    let at = 0;
    while (at < bytes.length) {
      const next = this.step(bytes, at, isLast);
      if (next === at) break;
      at = next;
    }
    this.carry = at < bytes.length ? Buffer.from(bytes.subarray(at)) : empty;
    return bytes.subarray(0, at);
  }

  /** The next place; the same one: more has to come before anything can be said. */
  private step(bytes: Buffer, at: number, isLast: boolean): number {
    const byte = bytes[at] as number;
    if (isDigit(byte)) return this.digits(bytes, at, isLast);
    if (byte === percent || (byte === backslash && this.kind !== 'text')) return this.escape(bytes, at, isLast);
    if (byte === quote && this.kind === 'json') this.isInString = !this.isInString;
    if (byte === lessThan && this.kind === 'html') {
      if (!isLast && bytes.length - at < 8) return at;
      const tag = bytes.toString('latin1', at, at + 8).toLowerCase();
      if (tag.startsWith('<script')) this.isInScript = true;
      else if (tag === '</script') this.isInScript = false;
    }
    this.before = isWord(byte) ? 'word' : 'nothing';
    return at + 1;
  }

  /** `\n`, `\u00a0`, `%20`: their letters and digits belong to nothing beside them. */
  private escape(bytes: Buffer, at: number, isLast: boolean): number {
    const isPercent = bytes[at] === percent;
    const next = bytes[at + 1];
    if (next === undefined && !isLast) return at;
    const hexDigits = isPercent ? 2 : next === 0x75 ? 4 : 0;
    const from = at + (isPercent ? 1 : 2);
    if (!isLast && bytes.length < from + hexDigits) return at;
    let to = from;
    while (to < from + hexDigits && isHex(bytes[to])) to += 1;
    this.before = 'nothing';
    if (to < from + hexDigits) return at + 1; // none: a percent sign, a path of Windows
    return Math.min(to, bytes.length);
  }

  private digits(bytes: Buffer, start: number, isLast: boolean): number {
    const before = this.before;
    let at = start;
    let digits = '';
    let found = -1;
    for (;;) {
      const groupStart = at;
      while (isDigit(bytes[at]) && at - groupStart <= digitsMax) at += 1;
      if (at === bytes.length && !isLast) {
        if (at - start < carryBytesMax && at - groupStart <= digitsMax) return start;
      }
      const isWhole = !isDigit(bytes[at]);
      const length = at - groupStart;
      if (!isWhole || length > digitsMax) break;
      digits += bytes.toString('latin1', groupStart, at);
      if (digits.length > digitsMax) break;
      const isEnd = this.endsNumber(bytes, at, isLast);
      if (isEnd === null) return start;
      if (isEnd && digits.length >= digitsMin && isCard(digits)) {
        found = at;
        break;
      }
      if (!isSeparator(bytes[at]) || (groupStart === start && length < groupDigitsMin)) break;
      if (at + 1 >= bytes.length && !isLast) return start;
      if (!isDigit(bytes[at + 1])) break;
      at += 1;
    }
    if (found !== -1 && before === 'nothing') {
      this.mask(bytes, start, found);
      this.before = 'word';
      return found;
    }
    return this.skipGroup(bytes, start);
  }

  /** Over the first group alone: the next one may begin a number. */
  private skipGroup(bytes: Buffer, start: number): number {
    let at = start;
    while (isDigit(bytes[at])) at += 1;
    this.before = 'word';
    if (bytes[at] !== 0x2e || !isDigit(bytes[at + 1])) return at;
    this.before = 'decimal';
    return at + 1;
  }

  /** Whether nothing that belongs to the number follows; null: that is not known yet. */
  private endsNumber(bytes: Buffer, at: number, isLast: boolean): boolean | null {
    if (at >= bytes.length) return isLast ? true : null;
    if (isWord(bytes[at])) return false;
    if (bytes[at] !== 0x2e) return true;
    if (at + 1 >= bytes.length) return isLast ? true : null;
    return !isDigit(bytes[at + 1]);
  }

  /** Only the last four digits stay; where a number has to stay one it begins with 1, and zeros stand between. */
  private mask(bytes: Buffer, from: number, to: number): void {
    const isNumber = (this.kind === 'json' && !this.isInString) || this.isInScript;
    let left = 0;
    for (let at = from; at < to; at += 1) if (isDigit(bytes[at])) left += 1;
    for (let at = from; at < to; at += 1) {
      if (!isDigit(bytes[at])) continue;
      if (left > 4) bytes[at] = !isNumber ? asterisk : at === from ? one : zero;
      left -= 1;
    }
    this.masked += 1;
  }
}
