// Bounded collection of a body that is to be inspected whole. Chunks from the listener are borrowed, so they are copied
// into one buffer that doubles as it fills: a claimed Content-Length reserves nothing, and a body that comes in single
// bytes costs no more than one that comes whole.
export class BodyCollector {
  private held: Buffer | null = null;
  bytes = 0;

  constructor(readonly bytesMax: number) {}

  /** How many of the chunk's bytes fit and were kept. Borrowed bytes. */
  add(chunk: Buffer): number {
    const taken = Math.min(chunk.length, this.bytesMax - this.bytes);
    if (taken > 0) this.keep(taken === chunk.length ? chunk : chunk.subarray(0, taken));
    return taken;
  }

  /** What it occupies: up to twice `bytes`. */
  get heldBytes(): number {
    return this.held?.length ?? 0;
  }

  private keep(chunk: Buffer): void {
    const bytes = this.bytes + chunk.length;
    if (this.held === null)
      this.held = Buffer.from(chunk); // most bodies come in one piece
    else {
      if (bytes > this.held.length) {
        const larger = Buffer.allocUnsafe(Math.min(this.bytesMax, Math.max(bytes, this.held.length * 2)));
        this.held.copy(larger, 0, 0, this.bytes);
        this.held = larger;
      }
      chunk.copy(this.held, this.bytes);
    }
    this.bytes = bytes;
  }

  /** All bytes as one buffer; null when there were none. */
  take(): Buffer | null {
    const { held } = this;
    this.held = null;
    return held === null || held.length === this.bytes ? held : held.subarray(0, this.bytes);
  }
}
