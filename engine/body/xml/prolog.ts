// What precedes the root element of an XML document: encoding and document type. Read only as far as needed to pass by.

export interface XmlEncoding {
  /** Behind the byte order mark and the XML declaration. */
  readonly contentStart: number;
  readonly isUtf8: boolean;
  readonly error: string | null;
}

/** Beginnings of the names of single-byte supersets of ASCII: markup reads the same, text bytes are kept. */
const singleBytePrefixes = ['iso-8859-', 'windows-125', 'latin1'];
const declarationBytesMax = 256;

/**
 * Reads byte order mark and `<?xml … encoding="…"?>`. Encodings in which markup is not ASCII (UTF-16, UTF-32, EBCDIC)
 * or may be written otherwise (UTF-7) are refused: the engine compares bytes and a decoder here would be one more place
 * where it and a backend disagree.
 */
export function readEncoding(body: Buffer): XmlEncoding {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  if (body.length === 0) return { contentStart: 0, isUtf8: true, error: 'empty document' };
  if (body[0] === 0xfe || body[0] === 0xff || body[0] === 0 || body[1] === 0)
    return { contentStart: 0, isUtf8: false, error: 'encoding is not ASCII-compatible' };
  const head = body.toString('latin1', start, start + declarationBytesMax);
  if (!head.startsWith('<?xml') || ' \t\r\n'.indexOf(head[5] ?? '') < 0 || head.length < 6)
    return { contentStart: start, isUtf8: true, error: null };
  const end = head.indexOf('?>');
  if (end < 0) return { contentStart: start, isUtf8: true, error: 'XML declaration too long or not closed' };
  const encoding = declaredEncoding(head.slice(0, end));
  const contentStart = start + end + 2;
  if (encoding === null || ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(encoding))
    return { contentStart, isUtf8: true, error: null };
  if (start === 0 && singleBytePrefixes.some((prefix) => encoding.startsWith(prefix)))
    return { contentStart, isUtf8: false, error: null };
  return { contentStart, isUtf8: false, error: 'encoding not supported' };
}

/** XML 1.0 §2.8, with a version that may be missing. Held against at most `declarationBytesMax` bytes. */
const declarationForm = new RegExp(
  ['^<\\?xml', optional('version'), optional('encoding'), optional('standalone'), '[ \\t\\r\\n]*$'].join(''),
);

/** A pseudo-attribute that may be missing; its value, quotes included, is a group. */
function optional(name: string): string {
  return `(?:[ \\t\\r\\n]+${name}[ \\t\\r\\n]*=[ \\t\\r\\n]*("[^"]*"|'[^']*'))?`;
}

/**
 * Lower-cased value of the encoding pseudo-attribute; null when there is none, '' when the declaration is malformed.
 */
function declaredEncoding(declaration: string): string | null {
  const match = declarationForm.exec(declaration);
  if (match === null) return '';
  const encoding = match[2];
  return encoding === undefined ? null : encoding.slice(1, -1).toLowerCase();
}

export interface Doctype {
  /** Behind the closing `>`, or where the error is. */
  readonly end: number;
  /**
   * Quoted strings outside of comments and instructions, less the document type's own public identifier: replacement
   * texts, system identifiers, attribute defaults.
   */
  readonly literals: string[];
  /** Those of `<!ATTLIST …>`: a backend adds these attributes to elements that lack them. References as written. */
  readonly attributeDefaults: string[];
  /** System identifiers, and declarations of parameter entities: what a reader would have to fetch or to put in. */
  readonly external: string[];
  readonly error: string | null;
  readonly isTooLong: boolean;
}

const doctypeBytesMax = 65_536;

/**
 * Passes by `<!DOCTYPE …>` at `start`. Declarations are not interpreted; quotes, comments and instructions are
 * respected, so that the end is where an XML parser finds it. A parameter entity reference in the internal subset is
 * an error: what it stands for is unknown.
 */
export function skipDoctype(body: Buffer, start: number): Doctype {
  const literals: string[] = [];
  const attributeDefaults: string[] = [];
  const external: string[] = [];
  const limit = Math.min(body.length, start + doctypeBytesMax);
  let inSubset = false;
  let inDeclaration = false;
  let inAttributeList = false;
  let at = start + 9;
  const found = (error: string | null, isTooLong = false): Doctype => ({
    end: at,
    literals,
    attributeDefaults,
    external,
    error,
    isTooLong,
  });
  while (at < limit) {
    const byte = body[at] as number;
    if (byte === 0x22 || byte === 0x27) {
      const close = body.indexOf(byte, at + 1);
      if (close < 0 || (inSubset && !inDeclaration)) return found('malformed DOCTYPE');
      const literal = body.toString('latin1', at + 1, Math.min(close, limit));
      const before = body.toString('latin1', Math.max(start, at - 64), at);
      const [, keyword] = /(PUBLIC|SYSTEM)[ \t\r\n]*$/i.exec(before) ?? [];
      if (keyword !== undefined) external.push(`${inSubset ? 'declaration' : 'DOCTYPE'} ${keyword} ${literal}`);
      if (inAttributeList && /schemaLocation[^"']*$/i.test(before)) external.push(`schemaLocation ${literal}`);
      // A public identifier is a name to look up, not content: "-//W3C//DTD XHTML 1.0 …" would only look like markup.
      if (inSubset || keyword !== 'PUBLIC') literals.push(literal);
      if (inAttributeList) attributeDefaults.push(literal);
      at = close + 1;
      continue;
    }
    if (byte === 0x3c) {
      const word = body.toString('latin1', at, at + 8);
      if (!inSubset || inDeclaration) return found('malformed DOCTYPE');
      if (word.startsWith('<!--') || word.startsWith('<?')) {
        const isComment = word.startsWith('<!--');
        const close = body.indexOf(isComment ? '-->' : '?>', at + 2, 'latin1');
        if (close < 0) return found('DOCTYPE not closed');
        at = close + (isComment ? 3 : 2);
        continue;
      }
      if (!word.startsWith('<!')) return found('malformed DOCTYPE');
      inDeclaration = true;
      inAttributeList = body.toString('latin1', at, at + 9) === '<!ATTLIST';
    } else if (byte === 0x3e) {
      if (inDeclaration) {
        inDeclaration = false;
        inAttributeList = false;
      } else if (inSubset) return found('malformed DOCTYPE');
      else {
        at += 1;
        return found(null);
      }
    } else if (byte === 0x5b) {
      if (inSubset) return found('malformed DOCTYPE');
      inSubset = true;
    } else if (byte === 0x5d) {
      if (!inSubset || inDeclaration) return found('malformed DOCTYPE');
      inSubset = false;
    } else if (byte === 0x25) {
      external.push('parameter entity');
      if (!inDeclaration) return found('parameter entity reference');
    }
    at += 1;
  }
  if (limit < body.length) return found('DOCTYPE too long', true);
  return found('DOCTYPE not closed');
}
