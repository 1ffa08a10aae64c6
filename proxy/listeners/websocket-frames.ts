// Frames of WebSockets as they lie on the wire (RFC 6455 section 5): where each begins and ends, and the one that
// closes.

export const enum Opcode {
  Continuation,
  Text,
  Binary,
  Close = 8,
  Ping,
  Pong,
}

/** Two bytes, eight of length, four of the mask. */
const headBytesMax = 14;

export interface FrameHead {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly hasExtensionBits: boolean;
  /** Where the mask begins; 0 = there is none. */
  readonly maskAt: number;
  readonly headBytes: number;
  readonly payloadBytes: number;
}

/** Null: more bytes are needed. A length beyond 2^53 is no length. */
export function readHead(bytes: Buffer): FrameHead | null | 'invalid' {
  if (bytes.length < 2) return null;
  const first = bytes[0] as number;
  const second = bytes[1] as number;
  const isMasked = (second & 0x80) !== 0;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const headBytes = 2 + lengthBytes + (isMasked ? 4 : 0);
  if (bytes.length < headBytes) return null;
  let payloadBytes = short;
  if (lengthBytes === 2) payloadBytes = bytes.readUInt16BE(2);
  else if (lengthBytes === 8) payloadBytes = bytes.readUInt32BE(2) * 2 ** 32 + bytes.readUInt32BE(6);
  if (!Number.isSafeInteger(payloadBytes)) return 'invalid';
  return {
    opcode: first & 0x0f,
    isFinal: (first & 0x80) !== 0,
    hasExtensionBits: (first & 0x70) !== 0,
    maskAt: isMasked ? 2 + lengthBytes : 0,
    headBytes,
    payloadBytes,
  };
}

/** Where frames of one direction begin and end; nothing is held but heads. */
export class FrameBorders {
  private head: Buffer = Buffer.alloc(0);
  private leftBytes = 0;
  /** What came is no frame: nobody knows any more where one would begin. */
  private isLost = false;

  get isBetween(): boolean {
    return !this.isLost && this.head.length === 0 && this.leftBytes === 0;
  }

  push(bytes: Buffer): void {
    if (this.isLost) return;
    let rest = bytes;
    while (rest.length > 0) {
      const passed = Math.min(rest.length, this.leftBytes);
      this.leftBytes -= passed;
      rest = rest.subarray(passed);
      if (rest.length === 0) return;
      const before = this.head.length;
      const next = rest.subarray(0, headBytesMax);
      const begun = before === 0 ? next : Buffer.concat([this.head, next]);
      const head = readHead(begun);
      if (head === null) {
        this.head = Buffer.from(begun); // the bytes are borrowed
        return;
      }
      if (head === 'invalid') {
        this.isLost = true;
        this.head = Buffer.alloc(0);
        return;
      }
      this.head = Buffer.alloc(0);
      this.leftBytes = head.payloadBytes;
      rest = rest.subarray(head.headBytes - before);
    }
  }
}

/** Of a server, so without a mask; `code`: of RFC 6455 section 7.4.1. */
export function closeFrame(code: number): Buffer {
  return Buffer.from([0x80 | Opcode.Close, 2, code >> 8, code & 0xff]);
}
