// One request of a connection and its response, which is written by hand. What is said in one turn of the event loop
// leaves in one write (see Channel.write).
import type { RequestHead } from '#engine';
import type { Framing, Refusal } from '../../http/framing.js';
import type { ActiveMember } from '../../worker/active-list.js';
import type { ClientTls } from '../front/connection-facts.js';
import type { Exchange, TunnelAcceptance, TunnelClient } from '../listener.js';
import type { OpenRequests } from '../open-requests.js';
import { WebSocketGate } from '../websocket-gate.js';
import { handshakeFields } from '../websocket-handshake.js';
import { hasField, headText, type DateField } from './response-text.js';

/** Text up to here is joined into one write: a gathering write costs more than copying. */
const joinedBytesMax = 16 * 1024;

/** The connection, as far as a response needs it. */
export interface Channel {
  /** null: it is a plain connection. */
  readonly tls: ClientTls | null;
  /** Latin1; leaves at the end of this turn at the latest. False: the client is slow. */
  write(text: string): boolean;
  /** Two parts in one write, behind what was said before. */
  writeBoth(text: string, bytes: Buffer): boolean;
  /** Written and not taken by the system yet. */
  readonly waitingBytes: number;
  /** Bytes of the request's body, as they come. */
  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void;
  pauseReading(): void;
  resumeReading(): void;
  /** The response is written. `isLast`: so is the connection's last. */
  answered(isLast: boolean): void;
  /** Cuts the connection; `isReset`: in a way that no client takes for an orderly end. */
  cut(isReset: boolean): void;
  /** From now on the client's bytes are those of another protocol. */
  beginTunnel(onBytes: (bytes: Buffer) => void): void;
  /** The end of a tunnel. */
  end(): void;
}

/** What every exchange of a listener shares. */
export interface ExchangeHome {
  readonly open: OpenRequests<NetExchange>;
  readonly date: DateField;
}

/** What the head of a request says about its connection. */
export interface ConnectionWishes {
  readonly keepAlive: boolean;
  /** It waits for 100 Continue before it sends its body. */
  readonly isExpectant: boolean;
  /** Sec-WebSocket-Key of a handshake that can be carried on; else null. */
  readonly webSocketKey: string | null;
}

export class NetExchange implements Exchange, ActiveMember {
  onAbort: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  onBodyFault: ((reason: string) => void) | null = null;
  readonly tunnelsRawBytes = true;
  isOver = false;
  place = -1;
  private isExpectant: boolean;
  private isHeadBegun = false;
  private isLast = false;
  private isChunked = false;
  private declaredBytes: number | null = null;
  private writtenBytes = 0;

  constructor(
    private readonly channel: Channel,
    private readonly home: ExchangeHome,
    readonly head: RequestHead,
    readonly framing: Framing,
    readonly refusal: Refusal | null,
    private readonly wishes: ConnectionWishes,
  ) {
    this.isExpectant = wishes.isExpectant;
  }

  get tls(): ClientTls | null {
    return this.channel.tls;
  }

  get isTls(): boolean {
    return this.channel.tls !== null;
  }

  get isUpgrade(): boolean {
    return this.wishes.webSocketKey !== null;
  }

  /** HTTP/1.0 knows neither chunks nor interim responses. */
  get relaysTrailers(): boolean {
    return this.head.protocol === 'HTTP/1.1';
  }

  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    if (this.isExpectant) this.channel.write('HTTP/1.1 100 Continue\r\n\r\n');
    this.isExpectant = false;
    this.channel.readBody((chunk, isLast) => {
      if (!this.isOver) onChunk(chunk, isLast);
    });
  }
  pauseBody(): void {
    if (!this.isOver) this.channel.pauseReading();
  }
  resumeBody(): void {
    if (!this.isOver) this.channel.resumeReading();
  }

  respond(status: number, headers: readonly string[], body: string | Buffer, closeConnection: boolean): void {
    if (this.isOver) return;
    this.settleConnection(closeConnection);
    const head = this.finalHead(status, '', headers, body.length);
    this.finish();
    if (this.head.method === 'HEAD') this.channel.write(head);
    else if (typeof body === 'string') this.channel.write(head + body);
    else if (body.length <= joinedBytesMax) this.channel.write(head + body.toString('latin1'));
    else this.channel.writeBoth(head, body);
    this.channel.answered(this.isLast);
  }

  relayInterim(status: number, reason: string, headers: readonly string[]): void {
    if (this.isOver || this.isHeadBegun || !this.relaysTrailers) return;
    this.channel.write(`${headText(status, reason, headers)}\r\n`);
  }

  startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void {
    if (this.isOver) return;
    const isOld = this.head.protocol !== 'HTTP/1.1';
    this.settleConnection(isOld && bodyBytes === null);
    this.declaredBytes = bodyBytes;
    this.isChunked = bodyBytes === null && !isOld;
    this.channel.write(this.finalHead(status, reason, headers, bodyBytes));
  }

  respondBodyless(status: number, reason: string, headers: readonly string[], declaredBytes: number | null): void {
    if (this.isOver) return;
    this.settleConnection(false);
    const head = this.finalHead(status, reason, headers, status === 204 ? null : declaredBytes);
    this.finish();
    this.channel.write(head);
    this.channel.answered(this.isLast);
  }

  /**
   * Whether the connection ends with this response. A client that was not told to go on may send its body or leave it:
   * nothing that follows could be read with certainty.
   */
  private settleConnection(isToEnd: boolean): void {
    const { home } = this;
    this.isLast =
      isToEnd ||
      !this.wishes.keepAlive ||
      this.isExpectant ||
      this.refusal !== null ||
      home.open.isStopping ||
      home.open.isCrowded();
  }

  private finalHead(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): string {
    this.isHeadBegun = true;
    let text = headText(status, reason, headers);
    if (bodyBytes !== null) text += `Content-Length: ${bodyBytes}\r\n`;
    else if (this.isChunked) text += 'Transfer-Encoding: chunked\r\n';
    if (this.isLast) text += 'Connection: close\r\n';
    else if (!this.relaysTrailers) text += 'Connection: keep-alive\r\n';
    if (!hasField(headers, 'date')) text += this.home.date.line;
    return `${text}\r\n`;
  }

  write(chunk: Buffer): boolean {
    if (this.isOver || chunk.length === 0) return true;
    this.writtenBytes += chunk.length;
    if (this.declaredBytes !== null && this.writtenBytes > this.declaredBytes) {
      this.close();
      return true;
    }
    const before = this.isChunked ? `${chunk.length.toString(16)}\r\n` : '';
    const behind = this.isChunked ? '\r\n' : '';
    if (chunk.length <= joinedBytesMax) return this.channel.write(before + chunk.toString('latin1') + behind);
    // Borrowed bytes, which the socket may hold; the line end goes along with what follows.
    const isFlowing = this.channel.writeBoth(before, Buffer.from(chunk));
    if (behind !== '') this.channel.write(behind);
    return isFlowing;
  }

  get unsentBytes(): number {
    return this.channel.waitingBytes;
  }

  endResponse(trailers: readonly string[] | null): void {
    if (this.isOver) return;
    if (this.declaredBytes !== null && this.writtenBytes !== this.declaredBytes) {
      this.close();
      return;
    }
    this.finish();
    if (this.isChunked) this.channel.write(`0\r\n${trailerText(trailers)}\r\n`);
    this.channel.answered(this.isLast);
  }

  close(): void {
    if (this.isOver) return;
    this.finish();
    // Where the end of the connection is the end of the body, an orderly one would say that this was all.
    this.channel.cut(this.isHeadBegun && this.declaredBytes === null && !this.isChunked);
  }

  acceptTunnel(tunnel: TunnelAcceptance): void {
    const { webSocketKey: key } = this.wishes;
    if (this.isOver || key === null) {
      tunnel.closeUpstream();
      this.close();
      return;
    }
    const { channel } = this;
    channel.write(`${headText(101, 'Switching Protocols', handshakeFields(key, tunnel))}\r\n`);
    const client: TunnelClient = {
      send: (bytes) => channel.writeBoth('', Buffer.from(bytes)),
      end: () => {
        this.finish();
        channel.end();
      },
    };
    const { inspector } = tunnel;
    const gate = inspector === null ? null : new WebSocketGate(tunnel, inspector, client);
    tunnel.opened(gate ?? client);
    channel.beginTunnel((bytes) => {
      if (!(gate === null ? tunnel.sendUpstream(bytes) : gate.push(bytes))) channel.pauseReading();
    });
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.home.open.delete(this);
  }

  /** The client went away. */
  aborted(): void {
    if (this.isOver) return;
    this.finish();
    this.onAbort?.();
  }

  get isAnswerBegun(): boolean {
    return this.isHeadBegun;
  }

  /** What comes is not the body that the head announced. True: the road has answered that. */
  bodyFault(reason: string): boolean {
    if (!this.isOver && !this.isHeadBegun) this.onBodyFault?.(reason);
    return this.isOver;
  }
}

function trailerText(trailers: readonly string[] | null): string {
  let text = '';
  if (trailers !== null)
    for (let index = 0; index < trailers.length; index += 2) text += `${trailers[index]}: ${trailers[index + 1]}\r\n`;
  return text;
}
