// Text in UTF-16 or UTF-32. Readers of XML and of JSON tell it by its first bytes (XML 1.0 appendix F, RFC 4627 §3) and
// read it whatever the type says, while rules look for bytes that stand side by side.

/** What a document begins with, where nothing says how it is encoded: `<`, `{`, `[`, `"`. */
const beginnings: ReadonlySet<number> = new Set([0x3c, 0x7b, 0x5b, 0x22]);

interface Wide {
  readonly unitBytes: 2 | 4;
  readonly isLittleEndian: boolean;
  /** Where the text begins, behind a byte order mark. */
  readonly start: number;
}

const kinds: readonly Omit<Wide, 'start'>[] = [
  { unitBytes: 4, isLittleEndian: true },
  { unitBytes: 4, isLittleEndian: false },
  { unitBytes: 2, isLittleEndian: true },
  { unitBytes: 2, isLittleEndian: false },
];

function unitAt(body: Buffer, at: number, { unitBytes, isLittleEndian }: Omit<Wide, 'start'>): number {
  if (at + unitBytes > body.length) return -1;
  return isLittleEndian ? body.readUIntLE(at, unitBytes) : body.readUIntBE(at, unitBytes);
}

/** A byte order mark and ASCII behind it (a mark alone begins pictures and sounds, too), or a document at once. */
function wideKind(body: Buffer): Wide | null {
  const [first = 1, second = 1] = body;
  if (first !== 0 && second !== 0 && first + second !== 0xfe + 0xff) return null;
  for (const kind of kinds) {
    const unit = unitAt(body, 0, kind);
    if (beginnings.has(unit)) return { ...kind, start: 0 };
    const next = unit === 0xfeff ? unitAt(body, kind.unitBytes, kind) : 0;
    if (next > 0 && next < 0x80) return { ...kind, start: kind.unitBytes };
  }
  return null;
}

function fromUtf32(body: Buffer, { start, isLittleEndian }: Wide): Buffer {
  const text = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = start; at + 4 <= body.length; at += 4) {
    const code = isLittleEndian ? body.readUInt32LE(at) : body.readUInt32BE(at);
    if (code < 0x80) text[length++] = code;
    else length += text.write(code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code), length, 'utf8');
  }
  return text.subarray(0, length);
}

/** The body in UTF-8 where it begins as text in UTF-16 or UTF-32 does, without its mark; else the body itself. */
export function asNarrowText(body: Buffer): Buffer {
  const wide = wideKind(body);
  if (wide === null) return body;
  if (wide.unitBytes === 4) return fromUtf32(body, wide);
  const units = body.subarray(wide.start, body.length - ((body.length - wide.start) % 2));
  const text = wide.isLittleEndian ? units : Buffer.from(units).swap16();
  return Buffer.from(text.toString('utf16le'), 'utf8');
}
