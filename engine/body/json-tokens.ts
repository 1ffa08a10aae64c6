// The words of JSON: blanks, strings, numbers and literals of RFC 8259, read off a body at a cursor.
import { readHex4, unescapeByte, utf8Length, writeUtf8 } from './json-bytes.js';

const quote = 0x22;
const backslash = 0x5c;

export class JsonTokens {
  at = 0;
  /** The first thing that was wrong; null = nothing yet. */
  error: string | null = null;
  /** The body as a string, for `cut`. */
  private readonly text: string;
  /** Decoded bytes of a string with escapes. */
  private unescaped = Buffer.alloc(0);

  constructor(readonly body: Buffer) {
    this.text = body.toString('latin1');
  }

  /** Always answers false, so that a step can end with `return tokens.fail(…)`. */
  fail(what: string): false {
    this.error ??= `JSON parsing error: ${what} at byte ${this.at}`;
    return false;
  }

  /**
   * Bytes as a string that does not keep the body alive: V8 copies slices below 13 characters, which costs a sixth of
   * a call into the Buffer; longer slices would point into `text`, and values outlive the request in the engine's memo.
   */
  cut(start: number, end: number): string {
    return end - start < 13 ? this.text.slice(start, end) : this.body.toString('latin1', start, end);
  }

  skipBlanks(): void {
    const { body } = this;
    let at = this.at;
    for (; at < body.length; at += 1) {
      const byte = body[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    }
    this.at = at;
  }

  skipWord(word: string): boolean {
    const { body, at } = this;
    for (let index = 0; index < word.length; index += 1) {
      if (body[at + index] !== word.charCodeAt(index)) return this.fail('invalid literal');
    }
    this.at = at + word.length;
    return true;
  }

  skipNumber(): boolean {
    const { body } = this;
    if (body[this.at] === 0x2d) this.at += 1;
    if (body[this.at] === 0x30) this.at += 1;
    else if (!this.skipDigits()) return false;
    if (body[this.at] === 0x2e) {
      this.at += 1;
      if (!this.skipDigits()) return false;
    }
    const exponent = body[this.at];
    if (exponent !== 0x65 && exponent !== 0x45) return true;
    this.at += 1;
    const sign = body[this.at];
    if (sign === 0x2b || sign === 0x2d) this.at += 1;
    return this.skipDigits();
  }

  private skipDigits(): boolean {
    const { body } = this;
    const start = this.at;
    let at = start;
    for (; at < body.length; at += 1) {
      const byte = body[at] as number;
      if (byte < 0x30 || byte > 0x39) break;
    }
    this.at = at;
    return at > start || this.fail('malformed number');
  }

  /** Reads the string whose opening quote is at the cursor; its UTF-8 bytes as latin1, or false after an error. */
  readString(): string | false {
    const { body } = this;
    const start = this.at + 1;
    let at = start;
    for (; at < body.length; ) {
      const byte = body[at] as number;
      if (byte === quote) {
        this.at = at + 1;
        return this.cut(start, at);
      }
      if (byte === backslash) return this.readEscapedString(start, at);
      if (byte < 0x20) {
        this.at = at;
        return this.fail('invalid character inside string');
      }
      if (byte < 0x80) at += 1;
      else {
        const length = utf8Length(body, at);
        if (length === 0) {
          this.at = at;
          return this.fail('invalid bytes in UTF-8 string');
        }
        at += length;
      }
    }
    this.at = body.length;
    return this.fail('unterminated string');
  }

  /** The slow half of readString: `firstEscape` is the position of the first backslash. */
  private readEscapedString(start: number, firstEscape: number): string | false {
    const { body } = this;
    // Every escape is at least as long as the bytes it stands for, so the rest of the body bounds the output.
    if (this.unescaped.length === 0) this.unescaped = Buffer.allocUnsafeSlow(body.length);
    const out = this.unescaped;
    let size = body.copy(out, 0, start, firstEscape);
    let at = firstEscape;
    while (at < body.length) {
      const byte = body[at] as number;
      if (byte === quote) {
        this.at = at + 1;
        return out.toString('latin1', 0, size);
      }
      if (byte === backslash) {
        const escape = body[at + 1] ?? 0;
        if (escape === 0x75) {
          const code = readHex4(body, at + 2);
          this.at = at;
          if (code < 0) return this.fail('\\u needs four hexadecimal digits');
          const low =
            code >= 0xd800 && code <= 0xdbff && body[at + 6] === backslash && body[at + 7] === 0x75
              ? readHex4(body, at + 8)
              : -1;
          const isPair = low >= 0xdc00 && low <= 0xdfff;
          size = writeUtf8(out, size, isPair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : code);
          at += isPair ? 12 : 6;
          continue;
        }
        const plain = unescapeByte(escape);
        if (plain < 0) {
          this.at = at;
          return this.fail('invalid escape inside string');
        }
        out[size] = plain;
        size += 1;
        at += 2;
        continue;
      }
      const length = byte < 0x20 ? 0 : byte < 0x80 ? 1 : utf8Length(body, at);
      if (length === 0) {
        this.at = at;
        return this.fail('invalid character inside string');
      }
      for (let index = 0; index < length; index += 1) out[size + index] = body[at + index] as number;
      size += length;
      at += length;
    }
    this.at = body.length;
    return this.fail('unterminated string');
  }
}
