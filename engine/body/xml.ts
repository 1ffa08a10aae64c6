// XML 1.0 bodies: one iterative pass over the bytes, no tree. Nothing is fetched, no entity is expanded but the five
// predefined ones and character references; a reference to any other is an error (a backend may expand what we would
// not see), and what a DTD declares for entities is handed to the rules as text. Well-formedness is checked as far as
// two parsers could disagree on structure; validity, namespaces and the content of comments are nobody's business here.
import { isUtf8 } from 'node:buffer';
import type { BodyLimits, BodyOutcome, BodySink } from './body.js';
import { externalOfAttribute, externalOfInstruction } from './xml/external.js';
import { readEncoding, skipDoctype } from './xml/prolog.js';
import { endOfReference, referenced } from './xml/references.js';
import { repeatedBytesMax } from './repeated.js';
import { XmlText, type OpenText } from './xml/text.js';

/** Open elements at a time, libxml2's default. */
const depthMax = 256;
/** Attributes in the document; XML bodies of real services have some hundreds. */
const attributesMax = 10_000;
/** The first says all that a rule asks; the others are there for people. */
const externalMax = 16;
const shownBytesMax = 256;

const lessThan = 0x3c;
const greaterThan = 0x3e;

/** A byte of an XML name. Bytes from 0x80 on are taken as letters: UTF-8 names are checked as UTF-8 only. */
function isNameByte(byte: number): boolean {
  return (
    byte >= 0x80 ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x3a) || // digits and the colon
    byte === 0x5f ||
    byte === 0x2d ||
    byte === 0x2e
  );
}

function isXmlSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isNameStart(byte: number): boolean {
  return isNameByte(byte) && !((byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e);
}

/** Line ends become \n (XML 1.0 §2.11). */
function normalizeLineEnds(text: string): string {
  return text.indexOf('\r') < 0 ? text : text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}

/** An attribute's literal white space becomes blanks (§3.3.3); line ends first. */
function normalizeAttribute(text: string): string {
  if (text.indexOf('\n') < 0 && text.indexOf('\r') < 0 && text.indexOf('\t') < 0) return text;
  return text.replaceAll('\r\n', ' ').replaceAll('\r', ' ').replaceAll('\n', ' ').replaceAll('\t', ' ');
}

interface OpenElement {
  readonly name: string;
  readonly path: string;
  readonly text: OpenText;
  hasChild: boolean;
}

class XmlReader {
  private at = 0;
  private error: string | null = null;
  private truncated = false;
  private attributes = 0;
  private readonly open: OpenElement[] = [];
  private readonly text: XmlText;
  /** Attribute names of the tag at hand. */
  private readonly seen = new Set<string>();
  private hasRoot = false;
  private hasDoctype = false;
  private arguments = 0;
  private nameBytesLeft: number;
  /** The body as Latin1, where pieces are cut and searched: crossing into a buffer for each cost 100 ns a piece. */
  private readonly source: string;

  constructor(
    private readonly body: Buffer,
    private readonly sink: BodySink,
    private readonly limits: BodyLimits,
  ) {
    this.nameBytesLeft = repeatedBytesMax(body.length);
    this.text = new XmlText(body.length);
    this.source = body.toString('latin1');
  }

  read(): BodyOutcome {
    const { body } = this;
    const encoding = readEncoding(body);
    this.at = encoding.contentStart;
    if (encoding.error !== null) this.fail(encoding.error);
    else {
      while (this.at < body.length && this.step());
      if (this.error === null && (this.open.length > 0 || !this.hasRoot)) this.fail('document ends too early');
    }
    if (this.hasRoot) this.sink.xmlText.unshift(...this.text.values());
    if (this.text.isTooMuch) this.failLimit('too many texts');
    // Looked for last, so that the rules see the values beside the error.
    if (this.error === null && encoding.isUtf8 && !isUtf8(body)) this.fail('invalid UTF-8');
    if (this.error === null) this.refuseControlBytes();
    return { error: this.error, truncated: this.truncated };
  }

  private fail(what: string): false {
    this.error ??= `XML parsing error: ${what} near byte ${this.at}`;
    return false;
  }

  private failLimit(what: string): false {
    this.truncated = true;
    return this.fail(what);
  }

  private refuseControlBytes(): void {
    const { body } = this;
    for (let at = 0; at < body.length; at += 1) {
      if ((body[at] as number) < 0x20 && !isXmlSpace(body[at] as number)) {
        this.at = at;
        this.fail('forbidden control character');
        return;
      }
    }
  }

  private startsWith(word: string): boolean {
    const { body, at } = this;
    for (let index = 0; index < word.length; index += 1) if (body[at + index] !== word.charCodeAt(index)) return false;
    return true;
  }

  /** One piece of markup or text; false ends the parse. */
  private step(): boolean {
    const { body } = this;
    if (body[this.at] !== lessThan) return this.readText();
    const next = body[this.at + 1] ?? 0;
    if (next === 0x2f) return this.readEndTag();
    if (next === 0x3f) return this.skipInstruction();
    if (next !== 0x21) return this.readStartTag();
    if (this.startsWith('<!--')) return this.skipComment();
    if (this.startsWith('<![CDATA[')) return this.readCdata();
    if (!this.startsWith('<!DOCTYPE')) return this.fail('malformed markup');
    if (this.hasDoctype || this.hasRoot) return this.fail('misplaced DOCTYPE');
    this.hasDoctype = true;
    const doctype = skipDoctype(body, this.at);
    for (const literal of doctype.literals) this.sink.xmlText.push(literal);
    this.sink.xmlExternal.push(...doctype.external);
    this.at = doctype.end;
    for (const raw of doctype.attributeDefaults) {
      const value = this.decode(normalizeAttribute(raw));
      if (value === null) return false;
      this.sink.xmlAttributes.push(value);
      // Its name is not known here, so the default counts as that of any attribute that would fetch.
      this.noteExternal('xmlns', value);
    }
    if (doctype.isTooLong) this.truncated = true;
    return doctype.error === null || this.fail(doctype.error);
  }

  private readText(): boolean {
    const { body, at: start } = this;
    const next = this.source.indexOf('<', start);
    const end = next < 0 ? body.length : next;
    this.at = end;
    if (this.open.length === 0) {
      for (let at = start; at < end; at += 1) {
        if (isXmlSpace(body[at] as number)) continue;
        this.at = at;
        return this.fail('text outside the root element');
      }
      return true;
    }
    const raw = this.source.slice(start, end);
    const decoded = this.decode(normalizeLineEnds(raw));
    if (decoded !== null) this.text.add(decoded);
    if (raw.includes(']]>')) return this.fail('"]]>" in text');
    return decoded !== null;
  }

  /**
   * Resolves references in text or an attribute value; null after an error (the text before it is lost, the raw text is
   * kept by the caller's error).
   */
  private decode(raw: string): string | null {
    let ampersand = raw.indexOf('&');
    if (ampersand < 0) return raw;
    const pieces: string[] = [];
    let from = 0;
    while (ampersand >= 0) {
      if (ampersand > from) pieces.push(raw.slice(from, ampersand));
      const semicolon = endOfReference(raw, ampersand);
      const resolved = semicolon < 0 ? null : referenced(raw, ampersand + 1, semicolon);
      if (resolved === null) {
        // The raw remainder still goes to the rules.
        this.text.add(`${pieces.join('')}${raw.slice(ampersand)}`);
        this.fail('malformed reference or reference to an entity that is not predefined');
        return null;
      }
      pieces.push(resolved);
      from = semicolon + 1;
      ampersand = raw.indexOf('&', from);
    }
    pieces.push(raw.slice(from));
    return pieces.join('');
  }

  private skipComment(): boolean {
    const end = this.source.indexOf('--', this.at + 4);
    if (end < 0 || this.body[end + 2] !== greaterThan) return this.fail('malformed comment');
    this.at = end + 3;
    return true;
  }

  private skipInstruction(): boolean {
    const { body, at } = this;
    const end = this.source.indexOf('?>', at + 2);
    if (end < 0) return this.fail('processing instruction not closed');
    const target = this.source.slice(at + 2, Math.min(end, at + 6)).toLowerCase();
    const external = externalOfInstruction(this.source.slice(at + 2, Math.min(end, at + 2 + shownBytesMax)));
    if (external !== null) this.sink.xmlExternal.push(external);
    if (!isNameStart(body[at + 2] as number)) return this.fail('processing instruction without a target');
    // `<?xml …?>` may only stand at the very beginning, where the prolog has already taken it.
    if (target.startsWith('xml') && (end === at + 5 || !isNameByte(target.charCodeAt(3))))
      return this.fail('misplaced XML declaration');
    this.at = end + 2;
    return true;
  }

  private readCdata(): boolean {
    const { at } = this;
    if (this.open.length === 0) return this.fail('CDATA outside the root element');
    const end = this.source.indexOf(']]>', at + 9);
    if (end < 0) return this.fail('CDATA not closed');
    this.text.add(normalizeLineEnds(this.source.slice(at + 9, end)));
    this.at = end + 3;
    return true;
  }

  private readName(): string | null {
    const { body, at: start } = this;
    let at = start;
    if (at >= body.length || !isNameStart(body[at] as number)) return null;
    while (at < body.length && isNameByte(body[at] as number)) at += 1;
    this.at = at;
    return this.source.slice(start, at);
  }

  /** Returns whether there was any. */
  private skipSpace(): boolean {
    const { body, at: start } = this;
    let at = start;
    while (at < body.length && isXmlSpace(body[at] as number)) at += 1;
    this.at = at;
    return at > start;
  }

  private readStartTag(): boolean {
    const { body } = this;
    if (this.open.length === 0 && this.hasRoot) return this.fail('second root element');
    this.at += 1;
    const name = this.readName();
    if (name === null) return this.fail('malformed element name');
    this.hasRoot = true;
    if (this.open.length >= depthMax) return this.failLimit(`more than ${depthMax} nested elements`);
    const parent = this.open[this.open.length - 1];
    if (parent !== undefined) parent.hasChild = true;
    const path = `${parent?.path ?? 'xml'}.${name}`;
    this.open.push({ name, path, text: this.text.open(), hasChild: false });
    this.seen.clear();
    for (;;) {
      const hasSpace = this.skipSpace();
      const byte = body[this.at] ?? 0;
      if (byte === greaterThan) {
        this.at += 1;
        return true;
      }
      if (byte === 0x2f) {
        if (body[this.at + 1] !== greaterThan) return this.fail('malformed empty-element tag');
        this.at += 2;
        return this.closeElement();
      }
      if (!hasSpace) return this.fail('malformed start tag');
      if (!this.readAttribute()) return false;
    }
  }

  private readAttribute(): boolean {
    const { body } = this;
    const name = this.readName();
    if (name === null) return this.fail('malformed attribute name');
    this.skipSpace();
    if (body[this.at] !== 0x3d) return this.fail('attribute without a value');
    this.at += 1;
    this.skipSpace();
    const quote = body[this.at] ?? 0;
    if (quote !== 0x22 && quote !== 0x27) return this.fail('attribute value not quoted');
    const end = this.source.indexOf(quote === 0x22 ? '"' : "'", this.at + 1);
    if (end < 0) return this.fail('attribute value not closed');
    const raw = this.source.slice(this.at + 1, end);
    this.at = end + 1;
    const value = this.decode(normalizeAttribute(raw));
    if (value === null) return false;
    this.noteExternal(name, value);
    // Namespace declarations are no attributes to XPath.
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) {
      this.attributes += 1;
      if (this.attributes > attributesMax) return this.failLimit(`more than ${attributesMax} attributes`);
      this.sink.xmlAttributes.push(value);
    }
    if (raw.includes('<')) return this.fail('"<" in an attribute value');
    if (this.seen.has(name)) return this.fail('duplicate attribute');
    this.seen.add(name);
    return true;
  }

  private noteExternal(name: string, value: string): void {
    const external = externalOfAttribute(name, value);
    if (external !== null && this.sink.xmlExternal.length < externalMax) this.sink.xmlExternal.push(external);
  }

  private readEndTag(): boolean {
    this.at += 2;
    const name = this.readName();
    this.skipSpace();
    const element = this.open[this.open.length - 1];
    if (name === null || this.body[this.at] !== greaterThan || element?.name !== name)
      return this.fail('end tag does not match');
    this.at += 1;
    return this.closeElement();
  }

  private closeElement(): boolean {
    const element = this.open.pop() as OpenElement;
    this.text.close(element.text);
    if (this.limits.parseXmlIntoArgs !== true || element.hasChild) return true;
    this.arguments += 1;
    this.nameBytesLeft -= element.path.length;
    if (this.arguments > this.limits.argumentsMax || this.nameBytesLeft < 0)
      return this.failLimit('too many arguments');
    this.sink.argsPost.add(element.path, this.text.of(element.text));
    return true;
  }
}

/**
 * XML → xmlText, xmlAttributes, and with `parseXmlIntoArgs` the texts of leaf elements → argsPost (`xml.root.child`).
 *
 * `XML:/*` in libmodsecurity is the text content of the root element (all text and CDATA below it in document order,
 * comments and instructions left out) as ONE value, so xmlText[0] is that, '' for a root without text. Further entries
 * (not in libmodsecurity) are the texts as an application reads them one by one, see xml/text.ts, and the literals of
 * the document type. What the document refers to outside of itself is in xmlExternal, see xml/external.ts. `XML://@*`
 * is one value for each attribute in document order, namespace declarations excluded, behind the defaults that the
 * document type declares. Line ends, attribute white space and references are resolved as XML 1.0 says; character
 * references become UTF-8 bytes.
 *
 * Errors: not well-formed (also an empty body, as in ModSecurity v3), invalid UTF-8 where the encoding is UTF-8, an
 * encoding that is no superset of ASCII by bytes (UTF-16 among them: refused, not decoded), references to declared
 * entities, parameter entities, 256 levels, 10,000 attributes, 64 KiB of DTD. What was found before stays. Bytes of
 * single-byte encodings are kept as they are.
 */
export function processXml(body: Buffer, _contentType: string, sink: BodySink, limits: BodyLimits): BodyOutcome {
  return new XmlReader(body, sink, limits).read();
}
