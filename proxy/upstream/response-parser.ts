// HTTP/1.1 responses from upstreams, pushed in as they arrive. Strict on purpose: whatever two parsers could read in
// two ways (both length and chunking, folded lines, bare line feeds, spaces before the colon) is refused, because the
// client behind us would be the second parser.
import { ProxyError } from '../contract/errors.js';
import { isTokenByte } from '../http/header-fields.js';

export interface UpstreamHead {
  readonly status: number;
  readonly reason: string;
  /** `HTTP/1.1` or `HTTP/1.0`. */
  readonly protocol: string;
  /** Flat, latin1, as sent, hop-by-hop fields included. */
  readonly headers: string[];
  /** Declared bytes of the body; null when only its end will tell. 0 when the message can have none. */
  readonly bodyBytes: number | null;
  /** Content-Length as declared even where no body follows (HEAD, 304), else null. */
  readonly declaredBytes: number | null;
}

export interface ResponseSink {
  /** A 1xx response other than 101; the response itself is still to come. */
  onInterim(head: UpstreamHead): void;
  onHead(head: UpstreamHead): void;
  /** `chunk` is borrowed: valid during the call only. */
  onData(chunk: Buffer): void;
  /**
   * `reusable`: the connection may take a next request. Never when more bytes came in the same packet: nobody asked for
   * them, and a request that waits for this connection would be begun here and read them as its answer.
   * `trailers`: flat, latin1, as sent; null when there are none.
   */
  onEnd(reusable: boolean, trailers: readonly string[] | null): void;
}

const enum State {
  Head,
  Length,
  UntilClose,
  ChunkSize,
  ChunkData,
  ChunkDataEnd,
  Trailers,
  Tunnel,
  Done,
}

const headBytesMax = 64 * 1024; // beyond this a response head is an attack or a fault → 502
const fieldsMax = 256;
const trailerBytesMax = 16 * 1024;
const chunkSizeDigitsMax = 12;
const chunkLineBytesMax = 1024;
const interimResponsesMax = 16;
const CR = 13;
const LF = 10;

function malformed(what: string): ProxyError {
  return new ProxyError('PXY_UPSTREAM_MALFORMED', `the upstream's response is not acceptable: ${what}`);
}

export class ResponseParser {
  private state = State.Head;
  private pending: Buffer | null = null;
  private remainingBytes = 0;
  private sizeDigits = 0;
  private lineBytes = 0;
  private lineState: 'size' | 'extension' | 'lf' = 'size';
  private trailerBytes = 0;
  private trailerLineBytes = 0;
  private trailerText = '';
  private previousCr = false;
  private keepAlive = false;
  private interim = 0;
  private isHead = false;

  constructor(private readonly sink: ResponseSink) {}

  /** Prepares for the response to one request. */
  begin(requestMethod: string): void {
    this.state = State.Head;
    this.pending = null;
    this.interim = 0;
    this.isHead = requestMethod === 'HEAD';
  }

  get isTunnel(): boolean {
    return this.state === State.Tunnel;
  }
  get isDone(): boolean {
    return this.state === State.Done;
  }
  get hasHead(): boolean {
    return this.state !== State.Head;
  }

  /**
   * Takes borrowed bytes; returns how many were used (fewer only after the message's end). Throws
   * PXY_UPSTREAM_MALFORMED.
   */
  push(chunk: Buffer): number {
    let offset = 0;
    while (offset < chunk.length) {
      const before = this.state;
      switch (this.state) {
        case State.Head:
          offset = this.pushHead(chunk, offset);
          break;
        case State.Length:
        case State.ChunkData: {
          const end = Math.min(chunk.length, offset + this.remainingBytes);
          this.remainingBytes -= end - offset;
          const isLast = this.remainingBytes === 0;
          if (isLast) this.state = before === State.Length ? State.Done : State.ChunkDataEnd;
          this.previousCr = false;
          this.sink.onData(offset === 0 && end === chunk.length ? chunk : chunk.subarray(offset, end));
          offset = end;
          if (isLast && before === State.Length) this.sink.onEnd(this.keepAlive && end === chunk.length, null);
          break;
        }
        case State.UntilClose:
        case State.Tunnel:
          this.sink.onData(offset === 0 ? chunk : chunk.subarray(offset));
          return chunk.length;
        case State.ChunkSize:
          offset = this.pushChunkSize(chunk, offset);
          break;
        case State.ChunkDataEnd:
          offset = this.pushChunkDataEnd(chunk, offset);
          break;
        case State.Trailers:
          offset = this.pushTrailers(chunk, offset);
          break;
        case State.Done:
          return offset;
      }
    }
    return offset;
  }

  /** The upstream closed its side. True when that is how this message ends. */
  finish(): boolean {
    if (this.state !== State.UntilClose) return this.state === State.Done;
    this.state = State.Done;
    this.sink.onEnd(false, null);
    return true;
  }

  private pushHead(chunk: Buffer, offset: number): number {
    const held = this.pending;
    const bytes =
      held === null ? (offset === 0 ? chunk : chunk.subarray(offset)) : Buffer.concat([held, chunk.subarray(offset)]);
    const end = bytes.indexOf('\r\n\r\n', held === null ? 0 : Math.max(0, held.length - 3), 'latin1');
    if (end === -1 ? bytes.length > headBytesMax : end > headBytesMax)
      throw malformed(`its head is longer than ${headBytesMax} bytes`);
    if (end === -1) {
      // borrowed bytes must be copied; a concatenation is ours
      this.pending = held === null ? Buffer.from(bytes) : bytes;
      return chunk.length;
    }
    this.pending = null;
    const used = end + 4 - (held === null ? 0 : held.length);
    const head = parseHead(bytes.toString('latin1', 0, end), this.isHead);
    this.takeHead(head, offset + used === chunk.length);
    return offset + used;
  }

  private takeHead(parsed: ParsedHead, isAll: boolean): void {
    const { head } = parsed;
    if (head.status >= 100 && head.status < 200 && head.status !== 101) {
      this.interim += 1;
      if (this.interim > interimResponsesMax) throw malformed(`more than ${interimResponsesMax} interim responses`);
      this.sink.onInterim(head);
      return;
    }
    this.keepAlive = parsed.keepAlive;
    if (head.status === 101) this.state = State.Tunnel;
    else if (head.bodyBytes === 0) this.state = State.Done;
    else if (parsed.isChunked) {
      this.state = State.ChunkSize;
      this.resetChunkLine();
    } else if (head.bodyBytes !== null) {
      this.state = State.Length;
      this.remainingBytes = head.bodyBytes;
    } else {
      this.state = State.UntilClose;
      this.keepAlive = false;
    }
    const isDone = this.state === State.Done;
    this.sink.onHead(head);
    if (isDone) this.sink.onEnd(this.keepAlive && isAll, null);
  }

  private resetChunkLine(): void {
    this.remainingBytes = 0;
    this.sizeDigits = 0;
    this.lineBytes = 0;
    this.lineState = 'size';
  }

  private pushChunkSize(chunk: Buffer, start: number): number {
    let offset = start;
    while (offset < chunk.length) {
      const code = chunk[offset] as number;
      offset += 1;
      this.lineBytes += 1;
      if (this.lineBytes > chunkLineBytesMax)
        throw malformed(`a chunk-size line is longer than ${chunkLineBytesMax} bytes`);
      if (this.lineState === 'lf') {
        if (code !== LF) throw malformed('a bare carriage return in a chunk-size line');
        if (this.remainingBytes === 0) {
          this.state = State.Trailers;
          this.trailerBytes = 0;
          this.trailerLineBytes = 0;
          this.trailerText = '';
          this.previousCr = false;
        } else this.state = State.ChunkData;
        return offset;
      }
      const digit = this.lineState === 'size' ? hexDigit(code) : -1;
      if (digit >= 0) {
        this.sizeDigits += 1;
        if (this.sizeDigits > chunkSizeDigitsMax) throw malformed('a chunk size has too many digits');
        this.remainingBytes = this.remainingBytes * 16 + digit;
        continue;
      }
      if (this.sizeDigits === 0) throw malformed('a chunk without a size');
      if (code === CR) this.lineState = 'lf';
      else if (code === LF || code === 0) throw malformed('a bare line feed in a chunk-size line');
      else if (this.lineState === 'size' && code !== 0x3b && code !== 0x20 && code !== 0x09)
        throw malformed('a chunk size that is not hexadecimal');
      else this.lineState = 'extension';
    }
    return offset;
  }

  private pushChunkDataEnd(chunk: Buffer, offset: number): number {
    const code = chunk[offset] as number;
    if (!this.previousCr) {
      if (code !== CR) throw malformed('a chunk longer than its size');
      this.previousCr = true;
      return offset + 1;
    }
    if (code !== LF) throw malformed('a chunk that does not end with CRLF');
    this.state = State.ChunkSize;
    this.resetChunkLine();
    return offset + 1;
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
          this.state = State.Done;
          this.sink.onEnd(
            this.keepAlive && offset === chunk.length,
            this.trailerBytes === 2 ? null : parseTrailers(this.trailerText + chunk.toString('latin1', start, offset)),
          );
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

interface ParsedHead {
  readonly head: UpstreamHead;
  readonly isChunked: boolean;
  readonly keepAlive: boolean;
}

/** Parses a whole head (without its final blank line), latin1. */
function parseHead(text: string, isHead: boolean): ParsedHead {
  let lineEnd = text.indexOf('\r\n');
  if (lineEnd === -1) lineEnd = text.length;
  const protocol = text.slice(0, 8);
  if (protocol !== 'HTTP/1.1' && protocol !== 'HTTP/1.0')
    throw malformed('its status line does not begin with HTTP/1.1 or HTTP/1.0');
  const status = parseStatus(text, lineEnd);
  const reason = lineEnd > 13 ? text.slice(13, lineEnd) : '';
  if (!isFieldText(reason)) throw malformed('control characters in its reason phrase');

  const headers: string[] = [];
  let declared: number | null = null;
  let transferEncoding: string | null = null;
  let keepAlive = protocol === 'HTTP/1.1';
  let start = lineEnd + 2;
  while (start < text.length) {
    let end = text.indexOf('\r\n', start);
    if (end === -1) end = text.length;
    takeField(text, start, end, headers);
    const name = headers[headers.length - 2] as string;
    const value = headers[headers.length - 1] as string;
    const length = name.length;
    if (length === 14 && name.toLowerCase() === 'content-length') {
      const bytes = parseLength(value);
      if (declared !== null && declared !== bytes) throw malformed('two different Content-Length fields');
      declared = bytes;
    } else if (length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (transferEncoding !== null) throw malformed('two Transfer-Encoding fields');
      transferEncoding = value.toLowerCase();
    } else if (length === 10 && name.toLowerCase() === 'connection') {
      const lower = value.toLowerCase();
      if (lower.includes('close')) keepAlive = false;
      else if (lower.includes('keep-alive')) keepAlive = true;
    }
    start = end + 2;
  }
  if (transferEncoding !== null) {
    if (transferEncoding !== 'chunked')
      throw malformed(`Transfer-Encoding "${transferEncoding.slice(0, 40)}" (only chunked is understood)`);
    if (declared !== null) throw malformed('both Content-Length and Transfer-Encoding');
    if (protocol === 'HTTP/1.0') throw malformed('Transfer-Encoding in an HTTP/1.0 response');
  }
  const isBodyless = isHead || status === 204 || status === 304 || (status >= 100 && status < 200);
  // Announced where none can be, as some applications do: what comes of it would be read as the answer to the next
  // request.
  if (!isHead && isBodyless && (transferEncoding !== null || (status === 204 && declared !== null && declared > 0)))
    keepAlive = false;
  const bodyBytes = isBodyless ? 0 : declared;
  const head: UpstreamHead = { status, reason, protocol, headers, bodyBytes, declaredBytes: declared };
  return { head, isChunked: transferEncoding !== null && !isBodyless, keepAlive };
}

/** One field line, from `start` to before its line end, appended to `fields`. */
function takeField(text: string, start: number, end: number, fields: string[]): void {
  const colon = text.indexOf(':', start);
  if (colon <= start || colon >= end) throw malformed('a header line without a name (or a folded line)');
  const name = text.slice(start, colon);
  if (!isToken(name)) throw malformed('a header name with a space or control character');
  const value = trimmed(text, colon + 1, end);
  if (!isFieldText(value)) throw malformed(`control characters in its header "${name}"`);
  fields.push(name, value);
  if (fields.length > fieldsMax * 2) throw malformed(`more than ${fieldsMax} header fields`);
}

/** Field lines, each with its line end, and the blank line behind them. */
function parseTrailers(text: string): string[] {
  const fields: string[] = [];
  for (let start = 0, end = text.indexOf('\r\n'); end > start; start = end + 2, end = text.indexOf('\r\n', start))
    takeField(text, start, end, fields);
  return fields;
}

function parseStatus(text: string, lineEnd: number): number {
  const hundreds = text.charCodeAt(9) - 48;
  const tens = text.charCodeAt(10) - 48;
  const ones = text.charCodeAt(11) - 48;
  const isShaped = text.charCodeAt(8) === 32 && (lineEnd === 12 || text.charCodeAt(12) === 32);
  if (!isShaped || !(hundreds >= 1 && hundreds <= 9) || !(tens >= 0 && tens <= 9) || !(ones >= 0 && ones <= 9))
    throw malformed('its status is not three digits');
  return hundreds * 100 + tens * 10 + ones;
}

/** Digits only, at most 15 of them (beyond that a double is not exact). */
function parseLength(value: string): number {
  if (value.length === 0 || value.length > 15) throw malformed('a Content-Length that is not a number');
  let bytes = 0;
  for (let index = 0; index < value.length; index += 1) {
    const digit = value.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) throw malformed('a Content-Length that is not a number');
    bytes = bytes * 10 + digit;
  }
  return bytes;
}

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function isToken(name: string): boolean {
  for (let index = 0; index < name.length; index += 1) if (!isTokenByte(name.charCodeAt(index))) return false;
  return true;
}

/**
 * No control characters but tab: a bare CR, LF or NUL would let an upstream write header lines of its own to the
 * client.
 */
export function isFieldText(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) return false;
  }
  return true;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  if (lower >= 0x61 && lower <= 0x66) return lower - 0x61 + 10;
  return -1;
}
