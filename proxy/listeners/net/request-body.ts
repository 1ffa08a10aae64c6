// The body of a request behind its head: counted by its length, or by its chunks (RFC 9112 section 7.1). Of a chunk
// extension only its form is looked at; trailers are read to find the end and dropped, as RFC 9110 section 6.5 lets
// intermediaries. Whatever a second parser could count otherwise (a space or a bare line feed behind a size, a chunk
// longer than its size) is a fault.
import { isTokenByte } from '../../http/header-fields.js';
import type { Framing } from '../../http/framing.js';

const enum Part {
  Data,
  /** Of a chunked body: its data are counted, too. */
  ChunkData,
  Size,
  Extension,
  SizeLf,
  DataCr,
  DataLf,
  TrailerLine,
  TrailerName,
  TrailerValue,
  TrailerLf,
  EndLf,
  Done,
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 0x20;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** 12 hexadecimal digits are 256 TiB, and exact in a double. */
const sizeDigitsMax = 12;
const extensionBytesMax = 1024;
/** Of one body: a chunk of one byte with a long extension costs its sender little and a reader much. */
const allExtensionBytesMax = 16 * 1024;
const trailerBytesMax = 16 * 1024;

const noBytes = Buffer.alloc(0);

export class RequestBodyReader {
  /** What is wrong with the body; null while nothing is. */
  fault: string | null = null;
  private part: Part;
  private leftBytes = 0;
  private sizeDigits = 0;
  private extensionBytes = 0;
  private allExtensionBytes = 0;
  private isQuoted = false;
  private isEscaped = false;
  private trailerBytes = 0;

  constructor(framing: Framing) {
    this.part = framing.kind === 'length' ? Part.Data : framing.kind === 'chunked' ? Part.Size : Part.Done;
    if (framing.kind === 'length') this.leftBytes = framing.bytes;
  }

  private get isInData(): boolean {
    return this.part === Part.Data || this.part === Part.ChunkData;
  }

  get isDone(): boolean {
    return this.part === Part.Done;
  }

  /**
   * Takes bytes up to the next seam; returns how many. `onChunk` gets borrowed bytes, and once `isLast`. A fault ends
   * it.
   */
  push(bytes: Buffer, onChunk: (chunk: Buffer, isLast: boolean) => void): number {
    if (this.isInData) return this.pushData(bytes, onChunk);
    let at = 0;
    while (at < bytes.length && this.fault === null) {
      this.step(bytes[at] as number);
      at += 1;
      if (this.isDone) onChunk(noBytes, true);
      if (this.isDone || this.isInData) return at;
    }
    return at;
  }

  private pushData(bytes: Buffer, onChunk: (chunk: Buffer, isLast: boolean) => void): number {
    const used = Math.min(bytes.length, this.leftBytes);
    this.leftBytes -= used;
    if (this.leftBytes === 0) this.part = this.part === Part.Data ? Part.Done : Part.DataCr;
    onChunk(used === bytes.length ? bytes : bytes.subarray(0, used), this.isDone);
    return used;
  }

  /** One byte between the data. */
  private step(code: number): void {
    switch (this.part) {
      case Part.Size:
        this.stepSize(code);
        return;
      case Part.Extension:
        this.stepExtension(code);
        return;
      case Part.SizeLf:
        if (this.leftBytes > 0) this.expect(code, LF, Part.ChunkData, 'a bare carriage return behind a chunk size');
        else this.expect(code, LF, Part.TrailerLine, 'a bare carriage return behind a chunk size');
        return;
      case Part.DataCr:
        this.expect(code, CR, Part.DataLf, 'a chunk longer than its size');
        return;
      case Part.DataLf:
        this.sizeDigits = 0;
        this.extensionBytes = 0;
        this.expect(code, LF, Part.Size, 'a chunk that does not end with CRLF');
        return;
      default:
        this.stepTrailer(code);
    }
  }

  private expect(code: number, wanted: number, next: Part, fault: string): void {
    if (code === wanted) this.part = next;
    else this.fault = fault;
  }

  private stepSize(code: number): void {
    const digit = hexDigit(code);
    if (digit >= 0) {
      this.sizeDigits += 1;
      if (this.sizeDigits > sizeDigitsMax) this.fault = 'a chunk size with too many digits';
      this.leftBytes = this.leftBytes * 16 + digit;
    } else if (this.sizeDigits === 0) this.fault = 'a chunk without a size';
    else if (code === CR) this.part = Part.SizeLf;
    else if (code === SEMICOLON) this.part = Part.Extension;
    else this.fault = 'a chunk size that is not hexadecimal';
  }

  private stepExtension(code: number): void {
    this.extensionBytes += 1;
    this.allExtensionBytes += 1;
    if (this.extensionBytes > extensionBytesMax || this.allExtensionBytes > allExtensionBytesMax)
      this.fault = `chunk extensions longer than ${extensionBytesMax} bytes`;
    else if (this.isQuoted) this.stepQuoted(code);
    else if (code === CR) this.part = Part.SizeLf;
    else if (code === QUOTE) this.isQuoted = true;
    else if (!isTokenByte(code) && code !== SEMICOLON && code !== EQUALS)
      this.fault = 'a chunk extension that is no list of names and values';
  }

  /** Within a quoted string, where a backslash takes its meaning from a quote (RFC 9110 section 5.6.4). */
  private stepQuoted(code: number): void {
    if ((code < SPACE && code !== TAB) || code === 0x7f) this.fault = 'a control character in a chunk extension';
    else if (this.isEscaped) this.isEscaped = false;
    else if (code === BACKSLASH) this.isEscaped = true;
    else if (code === QUOTE) this.isQuoted = false;
  }

  private stepTrailer(code: number): void {
    this.trailerBytes += 1;
    if (this.trailerBytes > trailerBytesMax) {
      this.fault = `trailers longer than ${trailerBytesMax} bytes`;
      return;
    }
    switch (this.part) {
      case Part.TrailerLine:
        if (code === CR) this.part = Part.EndLf;
        else if (isTokenByte(code)) this.part = Part.TrailerName;
        else this.fault = 'a trailer without a name';
        return;
      case Part.TrailerName:
        if (code === COLON) this.part = Part.TrailerValue;
        else if (!isTokenByte(code)) this.fault = 'a trailer whose name is not a token';
        return;
      case Part.TrailerValue:
        if (code === CR) this.part = Part.TrailerLf;
        else if ((code < SPACE && code !== TAB) || code === 0x7f) this.fault = 'a control character in a trailer';
        return;
      case Part.TrailerLf:
        this.expect(code, LF, Part.TrailerLine, 'a bare carriage return in a trailer');
        return;
      default:
        this.expect(code, LF, Part.Done, 'a bare carriage return behind the trailers');
    }
  }
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}
