// A chunked body of a response, taken in as it arrives, and the trailers behind it. As strict as the head: bare line
// feeds, sizes that are no number, chunks longer than their size are refused.
import { malformed, parseTrailers } from './response-head.js';

const enum Part {
  Size,
  /** Behind the size on the same line; read over. */
  Extension,
  /** Of the size's line. */
  LineFeed,
  Data,
  DataEnd,
  Trailers,
  Done,
}

const sizeDigitsMax = 12;
const lineBytesMax = 1024;
const trailerBytesMax = 16 * 1024;
const CR = 13;
const LF = 10;

export class ChunkedBody {
  private part = Part.Done;
  private remainingBytes = 0;
  private sizeDigits = 0;
  private lineBytes = 0;
  private trailerBytes = 0;
  private trailerLineBytes = 0;
  private trailerText = '';
  private previousCr = false;
  /** Set when all of it was read: flat, latin1, as sent; null when there are none. */
  trailers: string[] | null = null;

  /** `onData` gets borrowed bytes. */
  constructor(private readonly onData: (bytes: Buffer) => void) {}

  begin(): void {
    this.trailers = null;
    this.beginSize();
  }

  get isDone(): boolean {
    return this.part === Part.Done;
  }

  /** Takes bytes from `offset` on, up to the next seam; returns where it stopped. Throws PXY_UPSTREAM_MALFORMED. */
  push(chunk: Buffer, offset: number): number {
    switch (this.part) {
      case Part.Size:
      case Part.Extension:
      case Part.LineFeed:
        return this.pushSize(chunk, offset);
      case Part.Data: {
        const end = Math.min(chunk.length, offset + this.remainingBytes);
        this.remainingBytes -= end - offset;
        if (this.remainingBytes === 0) {
          this.part = Part.DataEnd;
          this.previousCr = false;
        }
        this.onData(offset === 0 && end === chunk.length ? chunk : chunk.subarray(offset, end));
        return end;
      }
      case Part.DataEnd:
        return this.pushDataEnd(chunk, offset);
      case Part.Trailers:
        return this.pushTrailers(chunk, offset);
      case Part.Done:
        return offset;
    }
  }

  private beginSize(): void {
    this.part = Part.Size;
    this.remainingBytes = 0;
    this.sizeDigits = 0;
    this.lineBytes = 0;
  }

  private pushSize(chunk: Buffer, start: number): number {
    let offset = start;
    while (offset < chunk.length) {
      const code = chunk[offset] as number;
      offset += 1;
      this.lineBytes += 1;
      if (this.lineBytes > lineBytesMax) throw malformed(`a chunk-size line is longer than ${lineBytesMax} bytes`);
      if (this.part === Part.LineFeed) {
        if (code !== LF) throw malformed('a bare carriage return in a chunk-size line');
        if (this.remainingBytes === 0) this.beginTrailers();
        else this.part = Part.Data;
        return offset;
      }
      const digit = this.part === Part.Size ? hexDigit(code) : -1;
      if (digit >= 0) {
        this.sizeDigits += 1;
        if (this.sizeDigits > sizeDigitsMax) throw malformed('a chunk size has too many digits');
        this.remainingBytes = this.remainingBytes * 16 + digit;
        continue;
      }
      if (this.sizeDigits === 0) throw malformed('a chunk without a size');
      if (code === CR) this.part = Part.LineFeed;
      else if (code === LF || code === 0) throw malformed('a bare line feed in a chunk-size line');
      else if (this.part === Part.Size && code !== 0x3b && code !== 0x20 && code !== 0x09)
        throw malformed('a chunk size that is not hexadecimal');
      else this.part = Part.Extension;
    }
    return offset;
  }

  private pushDataEnd(chunk: Buffer, offset: number): number {
    const code = chunk[offset] as number;
    if (!this.previousCr) {
      if (code !== CR) throw malformed('a chunk longer than its size');
      this.previousCr = true;
      return offset + 1;
    }
    if (code !== LF) throw malformed('a chunk that does not end with CRLF');
    this.beginSize();
    return offset + 1;
  }

  private beginTrailers(): void {
    this.part = Part.Trailers;
    this.trailerBytes = 0;
    this.trailerLineBytes = 0;
    this.trailerText = '';
    this.previousCr = false;
  }

  private pushTrailers(chunk: Buffer, start: number): number {
    let offset = start;
    while (offset < chunk.length) {
      const code = chunk[offset] as number;
      offset += 1;
      this.trailerBytes += 1;
      if (this.trailerBytes > trailerBytesMax) throw malformed(`its trailers are longer than ${trailerBytesMax} bytes`);
      if (this.previousCr) {
        if (code !== LF) throw malformed('a bare carriage return in the trailers');
        this.previousCr = false;
        if (this.trailerLineBytes === 0) {
          this.part = Part.Done;
          if (this.trailerBytes > 2)
            this.trailers = parseTrailers(this.trailerText + chunk.toString('latin1', start, offset));
          return offset;
        }
        this.trailerLineBytes = 0;
      } else if (code === CR) this.previousCr = true;
      else if (code === LF || code === 0) throw malformed('a bare line feed in the trailers');
      else this.trailerLineBytes += 1;
    }
    this.trailerText += chunk.toString('latin1', start, offset);
    return offset;
  }
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  if (lower >= 0x61 && lower <= 0x66) return lower - 0x61 + 10;
  return -1;
}
