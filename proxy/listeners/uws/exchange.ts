// One request and its response on uWebSockets.js: what the library wants said once, in order and within a cork, and how
// it is told that a connection ends.
import type { HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import type { RequestHead } from '#engine';
import type { Framing, Refusal } from '../../http/framing.js';
import type { Exchange, TunnelAcceptance } from '../listener.js';
import type { OpenRequests } from '../open-requests.js';
import { statusLine } from '../status-text.js';
import { WebSocketBridge } from './websocket-bridge.js';

export interface Upgrade {
  readonly context: us_socket_context_t;
  readonly key: string;
}

/** The library copies own properties of the user data, so the bridge is held, not handed over. */
export interface Bridged {
  readonly bridge: WebSocketBridge;
}

/** Of a refused request's body that is read away, so that its client gets the answer. */
const discardBytesMax = 64 * 1024 * 1024;

export class UwsExchange implements Exchange {
  onAbort: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  onBodyFault: ((reason: string) => void) | null = null;
  readonly isTls = false;
  readonly tunnelsRawBytes = false;
  readonly relaysTrailers = false;
  isOver = false;
  /** In the listener's list of open requests. */
  place = -1;
  private isReading = false;
  private onChunk: ((chunk: Buffer, isLast: boolean) => void) | null = null;
  private readonly early: { readonly chunk: Buffer; readonly isLast: boolean }[] = [];
  private isReadingPaused = false;
  private isHeadWritten = false;
  private status = '';
  private headers: readonly string[] = [];
  private totalBytes: number | null = null;
  private rest: Buffer | null = null;
  private restOffset = 0;
  /** Of a body of unknown length: what the library keeps, at most. */
  private keptBytes = 0;

  constructor(
    private readonly res: HttpResponse,
    readonly head: RequestHead,
    readonly framing: Framing,
    readonly refusal: Refusal | null,
    private readonly upgrade: Upgrade | null,
    private readonly open: OpenRequests<UwsExchange>,
  ) {
    res.onAborted(() => {
      if (this.isOver) return;
      this.finish();
      this.onAbort?.();
    });
  }

  get isUpgrade(): boolean {
    return this.upgrade !== null;
  }

  /** The listener is stopping: the client is asked not to come back on this connection. */
  private get isLast(): boolean {
    return this.open.isStopping;
  }

  private finish(): void {
    this.isOver = true;
    this.open.delete(this);
  }

  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    this.onChunk = onChunk;
    if (!this.isReading) this.beginReading();
    for (const { chunk, isLast } of this.early.splice(0)) if (!this.isOver) onChunk(chunk, isLast);
  }

  /** The library wants to be asked for the body at once; what comes before somebody reads it is kept. */
  private beginReading(): void {
    this.isReading = true;
    this.res.onData((chunk, isLast) => {
      if (this.isOver) return;
      if (this.onChunk === null) this.early.push({ chunk: Buffer.copyBytesFrom(new Uint8Array(chunk)), isLast });
      else this.onChunk(Buffer.from(chunk), isLast);
    });
  }
  pauseBody(): void {
    if (this.isOver || this.isReadingPaused) return;
    if (!this.isReading) this.beginReading();
    this.isReadingPaused = true;
    this.res.pause();
  }
  resumeBody(): void {
    if (this.isOver || !this.isReadingPaused) return;
    this.isReadingPaused = false;
    this.res.resume();
  }

  respond(status: number, headers: readonly string[], body: string | Buffer, closeConnection: boolean): void {
    if (this.isOver) return;
    this.resumeBody(); // a connection left paused would hear nothing any more, not even its own end
    this.res.cork(() => {
      this.writeHead(statusLine(status, ''), headers);
      const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
      if (this.head.method === 'HEAD') this.endBodyless(bytes.length, closeConnection);
      else if (closeConnection && this.isRestWorthReading(status))
        this.res.writeHeader('Connection', 'close').end(bytes);
      else this.res.end(bytes, closeConnection || this.isLast); // which writes "Connection: close" itself
    });
    this.finish();
  }

  relayInterim(_status: number, _reason: string, _headers: readonly string[]): void {
    // The library writes one status line per request and nothing before it; see differences.ts.
  }

  /**
   * The library closes at once when told to, and what the client is still sending comes back as a reset that takes the
   * answer away from it. So what is left of a body is read away, and the client closes; after 408 there is nothing on
   * its way.
   */
  private isRestWorthReading(status: number): boolean {
    const { framing } = this;
    return framing.kind === 'length' && framing.bytes <= discardBytesMax && this.refusal === null && status !== 408;
  }

  startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void {
    this.status = statusLine(status, reason);
    this.headers = headers;
    this.totalBytes = bodyBytes;
  }

  respondBodyless(status: number, reason: string, headers: readonly string[], declaredBytes: number | null): void {
    if (this.isOver) return;
    this.resumeBody();
    this.res.cork(() => {
      this.writeHead(statusLine(status, reason), headers);
      this.endBodyless(status === 204 ? null : declaredBytes, false);
    });
    this.finish();
  }

  /**
   * A length given to `endWithoutBody` the library takes for bytes that are still to come: it cuts the client's next
   * request.
   * That is good enough for a connection that is to end, and it is the only way to tell it so; otherwise the length is
   * our own.
   */
  private endBodyless(declaredBytes: number | null, closeConnection: boolean): void {
    const { res } = this;
    if (closeConnection && declaredBytes !== null) {
      res.endWithoutBody(declaredBytes, true);
      return;
    }
    if (this.isLast) res.writeHeader('Connection', 'close');
    if (declaredBytes !== null) res.writeHeader('Content-Length', String(declaredBytes));
    res.endWithoutBody();
  }

  /** Of a response that goes on; where the library ends it, it is told to close and writes so itself. */
  private writeStreamHead(): void {
    this.writeHead(this.status, this.headers);
    if (this.isLast) this.res.writeHeader('Connection', 'close');
  }

  private writeHead(status: string, headers: readonly string[]): void {
    const { res } = this;
    this.isHeadWritten = true;
    res.writeStatus(isAscii(status) ? status : Buffer.from(status, 'latin1'));
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      if (name.length === 4 && name.toLowerCase() === 'date') continue; // the library writes its own, always
      const value = headers[index + 1] as string;
      res.writeHeader(name, isAscii(value) ? value : Buffer.from(value, 'latin1'));
    }
  }

  write(chunk: Buffer): boolean {
    if (this.isOver) return true;
    if (this.rest !== null) {
      this.rest = Buffer.concat([this.rest.subarray(this.restSent()), chunk]);
      this.restOffset = this.res.getWriteOffset();
      return false;
    }
    let isFlowing = true;
    this.res.cork(() => {
      if (!this.isHeadWritten) this.writeStreamHead();
      if (this.totalBytes === null) {
        isFlowing = this.res.write(chunk);
        if (!isFlowing) {
          this.keptBytes += chunk.length;
          this.awaitDrain();
        }
        return;
      }
      const offset = this.res.getWriteOffset();
      if (offset + chunk.length >= this.totalBytes) this.resumeBody();
      const [taken, isDone] = this.res.tryEnd(chunk, this.totalBytes);
      if (isDone) this.finish();
      else if (!taken) {
        isFlowing = false;
        this.rest = Buffer.from(chunk);
        this.restOffset = offset;
        this.awaitDrain();
      }
    });
    return isFlowing;
  }

  get unsentBytes(): number {
    if (this.isOver) return 0;
    return this.rest === null ? this.keptBytes : this.rest.length - this.restSent();
  }

  private restSent(): number {
    return this.res.getWriteOffset() - this.restOffset;
  }

  /** The client takes bytes again: first what was left over, then the road is told. */
  private awaitDrain(): void {
    this.res.onWritable(() => {
      if (this.isOver) return true;
      this.keptBytes = 0;
      if (this.rest !== null && this.totalBytes !== null) {
        const left = this.rest.subarray(this.restSent());
        const offset = this.res.getWriteOffset();
        if (offset + left.length >= this.totalBytes) this.resumeBody();
        const [taken, isDone] = this.res.tryEnd(left, this.totalBytes);
        if (isDone) {
          this.finish();
          return true;
        }
        if (!taken) {
          this.rest = left;
          this.restOffset = offset;
          return false;
        }
        this.rest = null;
      }
      this.onDrain?.();
      return true;
    });
  }

  endResponse(_trailers: readonly string[] | null): void {
    if (this.isOver) return;
    this.resumeBody();
    // One of known length is ended by tryEnd when its last byte is out; an empty one needs a word of its own.
    if (this.totalBytes !== null && this.totalBytes !== 0 && this.isHeadWritten) return;
    this.res.cork(() => {
      if (!this.isHeadWritten) this.writeStreamHead();
      this.res.end();
    });
    this.finish();
  }

  close(): void {
    if (this.isOver) return;
    this.resumeBody();
    this.finish();
    this.res.close();
  }

  acceptTunnel(tunnel: TunnelAcceptance): void {
    if (this.isOver || this.upgrade === null) {
      tunnel.closeUpstream();
      return;
    }
    const { key, context } = this.upgrade;
    const bridge = new WebSocketBridge(tunnel, () => this.onDrain?.());
    this.finish();
    this.res.cork(() => {
      this.res.writeStatus('101 Switching Protocols');
      for (let index = 0; index < tunnel.headers.length; index += 2) {
        const name = (tunnel.headers[index] as string).toLowerCase();
        if (name.startsWith('sec-websocket-') || name === 'date') continue;
        this.res.writeHeader(tunnel.headers[index] as string, tunnel.headers[index + 1] as string);
      }
      this.res.upgrade<Bridged>({ bridge }, key, tunnel.protocol ?? '', '', context);
    });
  }
}

function isAscii(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) if (value.charCodeAt(index) > 0x7f) return false;
  return true;
}
