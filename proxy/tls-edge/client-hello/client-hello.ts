// What a ClientHello says (RFC 8446 section 4.1.2), as far as fingerprints are made of it. Lists keep the order of the
// wire, and values that only test servers' tolerance (GREASE, RFC 8701) are in them.

export interface ClientHello {
  /** `legacy_version`, such as 0x0303. */
  readonly legacyVersion: number;
  readonly ciphers: readonly number[];
  /** Types, in order. */
  readonly extensions: readonly number[];
  /** Extension 0, as sent; latin1. null: there is none, or none that is a name. */
  readonly serverName: string | null;
  /** The first protocol of extension 16; null: there is none. */
  readonly firstAlpn: Buffer | null;
  /** Extension 10. */
  readonly groups: readonly number[];
  /** Extension 11. */
  readonly pointFormats: readonly number[];
  /** Extension 13. */
  readonly signatureAlgorithms: readonly number[];
  /** Extension 43. */
  readonly supportedVersions: readonly number[];
}

/** Values by which clients find servers that do not ignore what they do not know: both bytes are equal and end in A. */
export const isGrease = (value: number): boolean => (value & 0x0f0f) === 0x0a0a && value >>> 8 === (value & 0xff);

/** Reads lengths and what they span; every step fails where the bytes end earlier. */
class Cursor {
  at = 0;
  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  number(width: 1 | 2): number {
    const end = this.at + width;
    if (end > this.bytes.length) throw new RangeError('the message ends within a number');
    const value = this.bytes.readUIntBE(this.at, width);
    this.at = end;
    return value;
  }

  span(length: number): Buffer {
    const end = this.at + length;
    if (end > this.bytes.length) throw new RangeError('the message ends within a list');
    const part = this.bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }

  /** Behind its length. */
  vector(width: 1 | 2): Buffer {
    return this.span(this.number(width));
  }
}

function numbers(list: Buffer, width: 1 | 2): number[] {
  const values: number[] = [];
  const cursor = new Cursor(list);
  while (!cursor.isAtEnd) values.push(cursor.number(width));
  return values;
}

function firstName(data: Buffer): string | null {
  const list = new Cursor(new Cursor(data).vector(2));
  const isHostName = list.number(1) === 0;
  const name = list.vector(2);
  return isHostName ? name.toString('latin1') : null;
}

/** `body` as HelloReader gives it; null: it is no ClientHello (whoever answers the handshake refuses it). */
export function parseClientHello(body: Buffer): ClientHello | null {
  try {
    return parse(body);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function parse(body: Buffer): ClientHello {
  const cursor = new Cursor(body);
  const legacyVersion = cursor.number(2);
  cursor.span(32); // random
  cursor.vector(1); // session id
  const ciphers = numbers(cursor.vector(2), 2);
  cursor.vector(1); // compression methods
  const data = new Map<number, Buffer>();
  const extensions: number[] = [];
  const list = new Cursor(cursor.isAtEnd ? Buffer.alloc(0) : cursor.vector(2));
  while (!list.isAtEnd) {
    const type = list.number(2);
    const content = list.vector(2);
    extensions.push(type);
    if (!data.has(type)) data.set(type, content);
  }
  const listOf = (type: number, lengthWidth: 1 | 2, width: 1 | 2): number[] => {
    const content = data.get(type);
    return content === undefined ? [] : numbers(new Cursor(content).vector(lengthWidth), width);
  };
  const name = data.get(0);
  const alpn = data.get(16);
  return {
    legacyVersion,
    ciphers,
    extensions,
    serverName: name === undefined || name.length === 0 ? null : firstName(name),
    firstAlpn: alpn === undefined || alpn.length === 0 ? null : new Cursor(new Cursor(alpn).vector(2)).vector(1),
    groups: listOf(10, 2, 2),
    pointFormats: listOf(11, 1, 1),
    signatureAlgorithms: listOf(13, 2, 2),
    supportedVersions: listOf(43, 1, 2),
  };
}
