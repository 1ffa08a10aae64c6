// HTTP/1.1 responses from upstreams, pushed in as they arrive: a head (response-head.ts), then a body that a length,
// its chunks (chunked-body.ts) or the end of the connection delimits.
import { ChunkedBody } from './chunked-body.js';
import { malformed, parseHead, type ParsedHead, type UpstreamHead } from './response-head.js';

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
  Chunked,
  UntilClose,
  Tunnel,
  Done,
}

const headBytesMax = 64 * 1024; // beyond this a response head is an attack or a fault → 502
const interimResponsesMax = 16;

export class ResponseParser {
  private state = State.Head;
  private pending: Buffer | null = null;
  private remainingBytes = 0;
  private keepAlive = false;
  private interim = 0;
  /** What the last response said of idle connections, in seconds. */
  idleSeconds: number | null = null;
  private isHead = false;
  private readonly chunked: ChunkedBody;

  constructor(private readonly sink: ResponseSink) {
    this.chunked = new ChunkedBody((bytes) => sink.onData(bytes));
  }

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
      switch (this.state) {
        case State.Head:
          offset = this.pushHead(chunk, offset);
          break;
        case State.Length:
          offset = this.pushLength(chunk, offset);
          break;
        case State.Chunked:
          offset = this.chunked.push(chunk, offset);
          if (this.chunked.isDone) {
            this.state = State.Done;
            this.sink.onEnd(this.keepAlive && offset === chunk.length, this.chunked.trailers);
          }
          break;
        case State.UntilClose:
        case State.Tunnel:
          this.sink.onData(offset === 0 ? chunk : chunk.subarray(offset));
          return chunk.length;
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
    this.idleSeconds = parsed.idleSeconds;
    if (head.status === 101) this.state = State.Tunnel;
    else if (head.bodyBytes === 0) this.state = State.Done;
    else if (parsed.isChunked) {
      this.state = State.Chunked;
      this.chunked.begin();
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

  private pushLength(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + this.remainingBytes);
    this.remainingBytes -= end - offset;
    const isLast = this.remainingBytes === 0;
    if (isLast) this.state = State.Done;
    this.sink.onData(offset === 0 && end === chunk.length ? chunk : chunk.subarray(offset, end));
    if (isLast) this.sink.onEnd(this.keepAlive && end === chunk.length, null);
    return end;
  }
}
