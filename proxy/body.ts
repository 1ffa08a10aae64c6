// Bounded collection of a body that is to be inspected whole. Chunks from the listener are borrowed, so they are copied
// once; a claimed Content-Length reserves nothing, only bytes that arrived take memory.
export class BodyCollector {
  private chunks: Buffer[] = [];
  bytes = 0;

  constructor(readonly bytesMax: number) {}

  /** How many of the chunk's bytes fit and were kept. Borrowed bytes. */
  add(chunk: Buffer): number {
    const taken = Math.min(chunk.length, this.bytesMax - this.bytes);
    if (taken > 0) this.keep(taken === chunk.length ? chunk : chunk.subarray(0, taken));
    return taken;
  }

  private keep(chunk: Buffer): void {
    this.chunks.push(Buffer.from(chunk));
    this.bytes += chunk.length;
  }

  /** All bytes as one buffer; null when there were none. */
  take(): Buffer | null {
    const { chunks } = this;
    this.chunks = [];
    if (chunks.length === 0) return null;
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.bytes);
  }
}
