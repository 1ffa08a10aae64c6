// application/json → ARGS: one pass over the bytes, no recursion, no intermediate tree. The grammar is RFC 8259; where
// it leaves freedom (empty keys, null, lone surrogates) the choice is ModSecurity v3's, checked against libmodsecurity
// 3.0.9. Values found before an error stay in the sink, as there: the rules see them beside REQBODY_ERROR.
import type { Collection } from '../transaction/collection.js';
import type { BodyLimits, BodyOutcome, BodyProcessor, BodySink } from './body.js';
import { JsonTokens } from './json-tokens.js';
import { repeatedBytesMax } from './repeated.js';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** The error of a document that is complete while something else stands behind it. */
export const trailingGarbage = 'trailing garbage';

/** What the grammar allows next; an explicit state instead of the call stack of a recursive parser. */
const enum Expect {
  Value,
  ValueOrCloseArray,
  Key,
  KeyOrCloseObject,
  CommaOrClose,
}

/** One parse. A class because the names, the open containers and the sink are shared by all steps. */
class JsonReader {
  private readonly tokens: JsonTokens;
  private truncated = false;
  private nameBytesLeft: number;
  private added = 0;
  // The open containers: their names (ropes that share their prefix, built once per container) and, for arrays, the
  // index of the next element; -1 marks an object.
  private readonly containerNames: string[] = [];
  private readonly nextIndex: number[] = [];

  constructor(
    body: Buffer,
    private readonly into: Collection,
    private readonly limits: BodyLimits,
    private readonly isSequence: boolean,
  ) {
    this.tokens = new JsonTokens(body);
    this.nameBytesLeft = limits.nameBytesMax ?? repeatedBytesMax(body.length);
  }

  read(): BodyOutcome {
    const { tokens } = this;
    do this.readDocument();
    while (this.isSequence && tokens.error === null && tokens.at < tokens.body.length);
    return { error: tokens.error, truncated: this.truncated };
  }

  /** Leaves the cursor behind the document and the blanks that follow it. */
  private readDocument(): void {
    const { tokens } = this;
    const { body } = tokens;
    let expect = Expect.Value;
    let name = 'json';
    for (;;) {
      tokens.skipBlanks();
      if (tokens.at >= body.length) return void tokens.fail('premature end');
      const byte = body[tokens.at] as number;
      if (expect === Expect.CommaOrClose) {
        const isArray = (this.nextIndex[this.nextIndex.length - 1] as number) >= 0;
        if (byte === comma) {
          tokens.at += 1;
          expect = isArray ? Expect.Value : Expect.Key;
          if (isArray) name = this.nextElementName();
          continue;
        }
        if (byte !== (isArray ? closeArray : closeObject))
          return void tokens.fail('expected a comma or the end of the container');
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
        const key = byte === quote ? tokens.readString() : tokens.fail('invalid object key, must be a string');
        if (key === false) return;
        tokens.skipBlanks();
        if (body[tokens.at] !== colon) return void tokens.fail('object key and value must be separated by a colon');
        tokens.at += 1;
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

  private open(name: string, isArray: boolean): boolean {
    if (this.containerNames.length >= this.limits.jsonDepthMax) {
      this.truncated = true;
      return this.tokens.fail(`depth limit of ${this.limits.jsonDepthMax} exceeded`);
    }
    this.containerNames.push(name);
    this.nextIndex.push(isArray ? 0 : -1);
    this.tokens.at += 1;
    return true;
  }

  /** Takes the closing bracket; true when the document is complete (or what follows it is wrong). */
  private close(): boolean {
    this.tokens.at += 1;
    this.containerNames.pop();
    this.nextIndex.pop();
    if (this.containerNames.length > 0) return false;
    this.finish();
    return true;
  }

  private finish(): void {
    this.tokens.skipBlanks();
    if (this.tokens.at < this.tokens.body.length && !this.isSequence) this.tokens.fail(trailingGarbage);
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
      return this.tokens.fail(`more than ${this.limits.argumentsMax} arguments`);
    }
    this.nameBytesLeft -= name.length;
    if (this.nameBytesLeft < 0) {
      this.truncated = true;
      return this.tokens.fail('names too long in total');
    }
    this.into.add(name, value);
    this.added += 1;
    return true;
  }

  private readScalar(byte: number, name: string): boolean {
    if (byte === quote) {
      const value = this.tokens.readString();
      return value !== false && this.add(name, value);
    }
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const start = this.tokens.at;
      return this.tokens.skipNumber() && this.add(name, this.tokens.cut(start, this.tokens.at));
    }
    if (byte === 0x74) return this.tokens.skipWord('true') && this.add(name, 'true');
    if (byte === 0x66) return this.tokens.skipWord('false') && this.add(name, 'false');
    if (byte === 0x6e) return this.tokens.skipWord('null') && this.add(name, '');
    return this.tokens.fail('invalid character');
  }
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
 * `argumentsMax` values; names longer in total than `repeatedBytesMax`. The last three set `truncated`.
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
