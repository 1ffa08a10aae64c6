// application/json → ARGS: one pass over the bytes, no recursion, no intermediate tree. The grammar is RFC 8259; where
// it leaves freedom (empty keys, null, lone surrogates) the choice is ModSecurity v3's, checked against libmodsecurity
// 3.0.9. Values found before an error stay in the sink, as there: the rules see them beside REQBODY_ERROR.
import type { Collection } from '../transaction/collection.js';
import type { BodyLimits, BodyOutcome, BodyProcessor, BodySink } from './body.js';

/**
 * Budget for the names handed out, in bytes: names repeat their whole path, so that one 400 KB key above a thousand
 * values would make 400 MB of a body of half a megabyte. Beyond it the body is refused like one with too many
 * arguments.
 */
const nameBytesMin = 1_048_576;
const nameBytesPerBodyByte = 4;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** What the grammar allows next; an explicit state instead of the call stack of a recursive parser. */
const enum Expect {
  Value,
  ValueOrCloseArray,
  Key,
  KeyOrCloseObject,
  CommaOrClose,
}

/** One parse. A class because the cursor, the name stack and the sink are shared by all steps. */
class JsonReader {
  private at = 0;
  private error: string | null = null;
  private truncated = false;
  private nameBytesLeft: number;
  private added = 0;
  // The open containers: their names (ropes that share their prefix, built once per container) and, for arrays, the
  // index of the next element; -1 marks an object.
  private readonly containerNames: string[] = [];
  private readonly nextIndex: number[] = [];
  /** The body as a string, for `cut`. */
  private readonly text: string;
  /** Decoded bytes of a string with escapes. */
  private unescaped = Buffer.alloc(0);

  constructor(
    private readonly body: Buffer,
    private readonly into: Collection,
    private readonly limits: BodyLimits,
    private readonly isSequence: boolean,
  ) {
    this.nameBytesLeft = Math.max(nameBytesMin, body.length * nameBytesPerBodyByte);
    this.text = body.toString('latin1');
  }

  read(): BodyOutcome {
    do this.readDocument();
    while (this.isSequence && this.error === null && this.at < this.body.length);
    return { error: this.error, truncated: this.truncated };
  }

  /** Always answers false, so that a step can end with `return this.fail(…)`. */
  private fail(what: string): false {
    this.error ??= `JSON parsing error: ${what} at byte ${this.at}`;
    return false;
  }

  /**
   * Bytes as a string that does not keep the body alive: V8 copies slices below 13 characters, which costs a sixth of
   * a call into the Buffer; longer slices would point into `text`, and values outlive the request in the engine's memo.
   */
  private cut(start: number, end: number): string {
    return end - start < 13 ? this.text.slice(start, end) : this.body.toString('latin1', start, end);
  }

  /** Leaves the cursor behind the document and the blanks that follow it. */
  private readDocument(): void {
    const { body } = this;
    let expect = Expect.Value;
    let name = 'json';
    for (;;) {
      this.skipBlanks();
      if (this.at >= body.length) return void this.fail('premature end');
      const byte = body[this.at] as number;
      if (expect === Expect.CommaOrClose) {
        const isArray = (this.nextIndex[this.nextIndex.length - 1] as number) >= 0;
        if (byte === comma) {
          this.at += 1;
          expect = isArray ? Expect.Value : Expect.Key;
          if (isArray) name = this.nextElementName();
          continue;
        }
        if (byte !== (isArray ? closeArray : closeObject))
          return void this.fail('expected a comma or the end of the container');
        if (this.close()) return;
        continue;
      }
      if (expect === Expect.Key || expect === Expect.KeyOrCloseObject) {
        if (byte === closeObject && expect === Expect.KeyOrCloseObject) {
          if (!this.addEmpty()) return;
          if (this.close()) return;
          expect = Expect.CommaOrClose;
          continue;
        }
        const key = byte === quote ? this.readString() : this.fail('invalid object key, must be a string');
        if (key === false) return;
        this.skipBlanks();
        if (body[this.at] !== colon) return void this.fail('object key and value must be separated by a colon');
        this.at += 1;
        name = `${this.containerNames[this.containerNames.length - 1] as string}.${key === '' ? 'empty-key' : key}`;
        expect = Expect.Value;
        continue;
      }
      if (byte === closeArray && expect === Expect.ValueOrCloseArray) {
        if (!this.addEmpty()) return;
        if (this.close()) return;
        expect = Expect.CommaOrClose;
        continue;
      }
      if (byte === openArray || byte === openObject) {
        if (!this.open(name, byte === openArray)) return;
        if (byte === openArray) {
          name = this.nextElementName();
          expect = Expect.ValueOrCloseArray;
        } else expect = Expect.KeyOrCloseObject;
        continue;
      }
      if (!this.readScalar(byte, name)) return;
      if (this.containerNames.length === 0) return this.finish();
      expect = Expect.CommaOrClose;
    }
  }

  private skipBlanks(): void {
    const { body } = this;
    let at = this.at;
    for (; at < body.length; at += 1) {
      const byte = body[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    }
    this.at = at;
  }

  private open(name: string, isArray: boolean): boolean {
    if (this.containerNames.length >= this.limits.jsonDepthMax) {
      this.truncated = true;
      return this.fail(`depth limit of ${this.limits.jsonDepthMax} exceeded`);
    }
    this.containerNames.push(name);
    this.nextIndex.push(isArray ? 0 : -1);
    this.at += 1;
    return true;
  }

  /** Takes the closing bracket; true when the document is complete (or what follows it is wrong). */
  private close(): boolean {
    this.at += 1;
    this.containerNames.pop();
    this.nextIndex.pop();
    if (this.containerNames.length > 0) return false;
    this.finish();
    return true;
  }

  private finish(): void {
    this.skipBlanks();
    if (this.at < this.body.length && !this.isSequence) this.fail('trailing garbage');
  }

  /** The innermost container is empty: its key would be seen by nobody else. `{"password":{"$ne":{}}}` is an attack. */
  private addEmpty(): boolean {
    const innermost = this.containerNames.length - 1;
    return innermost === 0 || this.add(this.containerNames[innermost] as string, '');
  }

  private nextElementName(): string {
    const top = this.nextIndex.length - 1;
    const index = this.nextIndex[top] as number;
    this.nextIndex[top] = index + 1;
    return `${this.containerNames[top] as string}.${this.limits.jsonArrayPrefix ?? ''}${index}`;
  }

  private add(name: string, value: string): boolean {
    if (this.added >= this.limits.argumentsMax) {
      // The rest is neither collected nor validated: ModSecurity v3 stops here too, and the error already refuses the
      // body wherever the recommended rules run.
      this.truncated = true;
      return this.fail(`more than ${this.limits.argumentsMax} arguments`);
    }
    this.nameBytesLeft -= name.length;
    if (this.nameBytesLeft < 0) {
      this.truncated = true;
      return this.fail('names too long in total');
    }
    this.into.add(name, value);
    this.added += 1;
    return true;
  }

  private readScalar(byte: number, name: string): boolean {
    if (byte === quote) {
      const value = this.readString();
      return value !== false && this.add(name, value);
    }
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const start = this.at;
      return this.skipNumber() && this.add(name, this.cut(start, this.at));
    }
    if (byte === 0x74) return this.skipWord('true') && this.add(name, 'true');
    if (byte === 0x66) return this.skipWord('false') && this.add(name, 'false');
    if (byte === 0x6e) return this.skipWord('null') && this.add(name, '');
    return this.fail('invalid character');
  }

  private skipWord(word: string): boolean {
    const { body, at } = this;
    for (let index = 0; index < word.length; index += 1) {
      if (body[at + index] !== word.charCodeAt(index)) return this.fail('invalid literal');
    }
    this.at = at + word.length;
    return true;
  }

  private skipNumber(): boolean {
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
  private readString(): string | false {
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

function unescapeByte(escape: number): number {
  switch (escape) {
    case quote:
    case backslash:
    case 0x2f:
      return escape;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return -1;
  }
}

/**
 * Length of the UTF-8 sequence at `at`, or 0. Overlong forms are refused (RFC 3629 §3; ModSecurity v3 lets them pass):
 * Jackson reads C0 A7 as an apostrophe that no rule would see. Surrogates pass, they stand for no ASCII character.
 */
function utf8Length(body: Buffer, at: number): number {
  const lead = body[at] as number;
  const length =
    lead >= 0xc0 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf8 ? 4 : 0;
  for (let index = 1; index < length; index += 1) {
    const byte = body[at + index] ?? 0;
    if ((byte & 0xc0) !== 0x80) return 0;
  }
  const second = body[at + 1] ?? 0;
  if (lead < 0xc2 || (lead === 0xe0 && second < 0xa0) || (lead === 0xf0 && second < 0x90)) return 0;
  return length;
}

function readHex4(body: Buffer, at: number): number {
  let code = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = body[at + index] ?? 0;
    const lower = byte | 0x20;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

/**
 * Writes a code point; returns the new size. A lone high surrogate becomes `?`, a lone low one its three bytes:
 * ModSecurity v3 (yajl).
 */
function writeUtf8(out: Buffer, size: number, code: number): number {
  if (code >= 0xd800 && code <= 0xdbff) {
    out[size] = 0x3f;
    return size + 1;
  }
  if (code < 0x80) {
    out[size] = code;
    return size + 1;
  }
  if (code < 0x800) {
    out[size] = 0xc0 | (code >> 6);
    out[size + 1] = 0x80 | (code & 0x3f);
    return size + 2;
  }
  if (code < 0x10000) {
    out[size] = 0xe0 | (code >> 12);
    out[size + 1] = 0x80 | ((code >> 6) & 0x3f);
    out[size + 2] = 0x80 | (code & 0x3f);
    return size + 3;
  }
  out[size] = 0xf0 | (code >> 18);
  out[size + 1] = 0x80 | ((code >> 12) & 0x3f);
  out[size + 2] = 0x80 | ((code >> 6) & 0x3f);
  out[size + 3] = 0x80 | (code & 0x3f);
  return size + 4;
}

/**
 * JSON (RFC 8259, UTF-8) → argsPost. Names: `json`, then `.key` for each object and `.index` for each array on the
 * way (`json.a.b.0`; see `BodyLimits.jsonArrayPrefix`); the empty key is `empty-key`; a scalar document is `json`.
 * Values: strings unescaped (UTF-8 bytes as latin1), numbers as written, `true`, `false`, null as ''. An empty
 * container below another gives '' (in ModSecurity v3 nothing, so that its key was not inspected); duplicate keys give
 * one argument each. An empty body is no error. `application/x-ndjson` is a sequence of documents, all named alike.
 *
 * Errors (each ends the parse, what was found before stays): not well-formed, also a BOM, comments, trailing commas
 * and bytes that are not UTF-8 inside strings; nesting over `jsonDepthMax` (containers, the outermost is 1); more than
 * `argumentsMax` values; names of more than 1 MiB or four times the body in total. The last three set `truncated`.
 */
export const processJson: BodyProcessor = (
  body: Buffer,
  contentType: string,
  sink: BodySink,
  limits: BodyLimits,
): BodyOutcome =>
  body.length === 0
    ? { error: null, truncated: false }
    : new JsonReader(body, sink.argsPost, limits, /^application\/x-ndjson/i.test(contentType)).read();
