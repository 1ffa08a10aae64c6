// Reading position in a pattern, with the escapes that mean one byte: shared by the parser of patterns and of classes.
import { RegexSyntaxError } from './node.js';

export class Cursor {
  at = 0;
  constructor(readonly source: string) {
    for (let index = 0; index < source.length; index++) {
      if (source.charCodeAt(index) > 0xff)
        throw new RegexSyntaxError(
          index,
          'A pattern is bytes and this character is none: give its UTF-8 bytes, for example \\xc3\\xa9',
        );
    }
  }
  get done(): boolean {
    return this.at >= this.source.length;
  }
  peek(ahead = 0): string {
    return this.source.charAt(this.at + ahead);
  }
  next(): string {
    return this.source.charAt(this.at++);
  }
  startsWith(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }
  /** Consumes `text` when it is next. */
  take(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.at += text.length;
    return true;
  }
  fail(message: string, offset = this.at): never {
    throw new RegexSyntaxError(offset, message);
  }
  /** The text up to `end`, which is consumed too. */
  until(end: string, what: string): string {
    const found = this.source.indexOf(end, this.at);
    if (found === -1) this.fail(`${what} is not closed: add ${end}`);
    const text = this.source.slice(this.at, found);
    this.at = found + end.length;
    return text;
  }
  digits(valid: string, most: number): string {
    let text = '';
    while (text.length < most && !this.done && valid.includes(this.peek())) text += this.next();
    return text;
  }
}

const octal = '01234567';
const hexadecimal = '0123456789abcdefABCDEF';
const controls: Readonly<Record<string, number>> = { a: 0x07, e: 0x1b, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09 };

function byteFrom(cursor: Cursor, digits: string, radix: number, start: number): number {
  const value = digits === '' ? 0 : parseInt(digits, radix);
  if (value > 0xff)
    cursor.fail('This number is larger than a byte: patterns are bytes, write a character as its UTF-8 bytes', start);
  return value;
}

/**
 * Reads a one-byte escape; the cursor is behind the backslash, on the letter. Null (nothing consumed) when the escape
 * is something else. Back-references must be handled by the caller before.
 */
export function readByteEscape(cursor: Cursor): number | null {
  const start = cursor.at - 1;
  const letter = cursor.peek();
  if (letter === '') cursor.fail('The pattern ends in a lone backslash: write \\\\ for a backslash', start);
  if (letter in controls) {
    cursor.at++;
    return controls[letter]!;
  }
  if (letter === 'x') {
    cursor.at++;
    if (cursor.peek() !== '{') return byteFrom(cursor, cursor.digits(hexadecimal, 2), 16, start);
    cursor.at++;
    const digits = cursor.until('}', '\\x{');
    if (digits === '' || [...digits].some((digit) => !hexadecimal.includes(digit)))
      cursor.fail('\\x{…} needs hexadecimal digits', start);
    return byteFrom(cursor, digits, 16, start);
  }
  if (letter === 'o' && cursor.peek(1) === '{') {
    cursor.at += 2;
    const digits = cursor.until('}', '\\o{');
    if (digits === '' || [...digits].some((digit) => !octal.includes(digit)))
      cursor.fail('\\o{…} needs octal digits', start);
    return byteFrom(cursor, digits, 8, start);
  }
  if (letter === 'c') {
    const control = cursor.peek(1);
    if (control === '' || control < ' ' || control > '~')
      cursor.fail('\\c needs a printable ASCII character behind it', start);
    cursor.at += 2;
    return control.toUpperCase().charCodeAt(0) ^ 0x40;
  }
  if (octal.includes(letter)) return byteFrom(cursor, cursor.digits(octal, 3), 8, start);
  if (/^[0-9A-Za-z]$/.test(letter)) return null;
  cursor.at++;
  return letter.charCodeAt(0);
}
