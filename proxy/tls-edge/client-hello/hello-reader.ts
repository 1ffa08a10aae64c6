// The first message of a TLS client, put together from the bytes of a connection before node:tls has them: a message
// may lie in several records (RFC 8446 section 5.1), and a record in several segments. Each byte is looked at once.

/** Longest message that is gathered; real ones take 200 to 2,000 bytes, with keys against quantum computers too. */
export const helloBytesMax = 16 * 1024;
/** All that a client may send for it: a message of one byte a record is six times as long. */
export const helloWireBytesMax = 6 * helloBytesMax;

const recordHeadBytes = 5;
const messageHeadBytes = 4;
const handshakeRecord = 22;
const clientHelloMessage = 1;
const recordBytesMax = 16 * 1024; // RFC 8446 section 5.1

export type HelloReading =
  | { readonly kind: 'more' }
  /** `body`: of the message, without its four bytes of type and length. */
  | { readonly kind: 'hello'; readonly body: Buffer }
  /** `not_tls`: the bytes are none of this protocol. `too_long`: longer than `helloBytesMax`. */
  | { readonly kind: 'refused'; readonly reason: 'not_tls' | 'too_long' };

const more: HelloReading = { kind: 'more' };
const notTls: HelloReading = { kind: 'refused', reason: 'not_tls' };
const tooLong: HelloReading = { kind: 'refused', reason: 'too_long' };

export class HelloReader {
  private message = Buffer.allocUnsafe(2048);
  private length = 0;
  private readonly head = Buffer.alloc(recordHeadBytes);
  private headLength = 0;
  /** Of the record that is being read. */
  private left = 0;
  private wireBytes = 0;

  /** Bytes of the connection, in order. Not to be called again after anything but `more`. */
  push(chunk: Buffer): HelloReading {
    let at = 0;
    this.wireBytes += chunk.length;
    while (at < chunk.length) {
      if (this.left === 0) {
        const taken = Math.min(recordHeadBytes - this.headLength, chunk.length - at);
        chunk.copy(this.head, this.headLength, at, at + taken);
        this.headLength += taken;
        at += taken;
        if (!this.isHeadFine()) return notTls;
        if (this.headLength < recordHeadBytes) break;
        this.left = this.head.readUInt16BE(3);
        this.headLength = 0;
        continue;
      }
      const taken = Math.min(this.left, chunk.length - at);
      this.gather(chunk.subarray(at, at + taken));
      this.left -= taken;
      at += taken;
      const reading = this.look();
      if (reading !== more) return reading;
    }
    return this.wireBytes > helloWireBytesMax ? tooLong : more;
  }

  /** As far as it came: handshake, a version 3.x, and a length that is none of an empty record. */
  private isHeadFine(): boolean {
    const { head, headLength } = this;
    if (headLength >= 1 && head[0] !== handshakeRecord) return false;
    if (headLength >= 2 && head[1] !== 3) return false;
    if (headLength < recordHeadBytes) return true;
    const length = head.readUInt16BE(3);
    return length > 0 && length <= recordBytesMax;
  }

  private gather(bytes: Buffer): void {
    const length = this.length + bytes.length;
    if (length > this.message.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.message.length * 2));
      this.message.copy(larger, 0, 0, this.length);
      this.message = larger;
    }
    bytes.copy(this.message, this.length);
    this.length = length;
  }

  private look(): HelloReading {
    const { message, length } = this;
    if (length >= 1 && message[0] !== clientHelloMessage) return notTls;
    if (length < messageHeadBytes) return more;
    const end = messageHeadBytes + message.readUIntBE(1, 3);
    if (end > helloBytesMax) return tooLong;
    return length < end ? more : { kind: 'hello', body: message.subarray(messageHeadBytes, end) };
  }
}
