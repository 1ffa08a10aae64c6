// Linear counting (Whang, Vander-Zanden and Taylor, 1990): how many different things set so many bits. Sets of several
// workers and nodes are put together bit by bit.

/** Of the largest set that nodes send. */
const bytesMax = 64;

export class Bits {
  private bytes: Buffer | null = null;

  /** In base64. What is longer than any set of a node is left out. */
  addText(text: string): void {
    this.merge(Buffer.from(text, 'base64'));
  }

  add({ bytes }: Bits): void {
    if (bytes !== null) this.merge(bytes);
  }

  private merge(bytes: Buffer): void {
    if (bytes.length === 0 || bytes.length > bytesMax) return;
    if (this.bytes === null || this.bytes.length !== bytes.length) {
      this.bytes = Buffer.from(bytes);
      return;
    }
    for (const [at, byte] of bytes.entries()) this.bytes[at] = (this.bytes[at] as number) | byte;
  }

  /** Whole; a full set says the most that it can. */
  get distinct(): number {
    if (this.bytes === null) return 0;
    let free = 0;
    for (const byte of this.bytes) for (let bit = 1; bit < 256; bit <<= 1) if ((byte & bit) === 0) free += 1;
    const size = this.bytes.length * 8;
    return Math.round(-size * Math.log(Math.max(1, free) / size));
  }
}
