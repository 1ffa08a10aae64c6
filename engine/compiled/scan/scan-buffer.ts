// The bytes of the texts that one native call will scan. Copying a text is also the one pass over it: its byte groups
// and its hash are read off on the way.
import { writeLatin1 } from '../../parse/latin1.js';
import { hashByte } from '../../parse/seen-once.js';

const bytesStart = 64 * 1024;
/** A larger buffer, which a large body made, is not kept. */
const bytesKeptMax = 1 << 20;

export class ScanBuffer {
  data = Buffer.allocUnsafe(bytesStart);
  private used = 0;
  /** Of the text that `take` copied last: the OR of its bytes' group bits. */
  takenFlags = 0;
  /** Its hash. */
  takenHash = 0;

  /** `bitOf`: the group bit of each byte value. */
  constructor(private readonly bitOf: Int32Array) {}

  /** Copies a text, returns its offset. */
  take(text: string): number {
    const { length } = text;
    const offset = this.used;
    if (offset + length > this.data.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.data.length, offset + length));
      this.data.copy(larger, 0, 0, offset);
      this.data = larger;
    }
    const { data, bitOf } = this;
    let flags = 0;
    let hash = length;
    if (length <= 48) {
      // Below this a loop beats the call into the runtime.
      for (let index = 0; index < length; index += 1) {
        const byte = text.charCodeAt(index) & 255;
        data[offset + index] = byte;
        flags |= bitOf[byte] as number;
        hash = hashByte(hash, byte);
      }
    } else {
      writeLatin1(data, text, offset);
      const end = offset + length;
      for (let index = offset; index < end; index += 1) {
        const byte = data[index] as number;
        flags |= bitOf[byte] as number;
        hash = hashByte(hash, byte);
      }
    }
    this.takenFlags = flags;
    this.takenHash = hash;
    this.used = offset + length;
    return offset;
  }

  /** The text at `offset`, taken last, is not needed. */
  giveBack(offset: number): void {
    this.used = offset;
  }

  /** After the scan: nothing is needed any more. */
  clear(): void {
    this.used = 0;
    if (this.data.length > bytesKeptMax) this.data = Buffer.allocUnsafe(bytesStart);
  }
}
