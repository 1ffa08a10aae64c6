// A request that offers another protocol: the library hands over the bare socket, so its body is counted and its
// response written here. A WebSocket handshake becomes a tunnel of bytes.
import type { Socket } from 'node:net';
import type { RequestHead } from '#engine';
import { findField } from '../../http/header-fields.js';
import type { CheckedHead } from '../../http/request-syntax.js';
import type { TunnelAcceptance, TunnelClient } from '../listener.js';
import type { OpenRequests } from '../open-requests.js';
import { WebSocketGate } from '../websocket-gate.js';
import { handshakeFields } from '../websocket-handshake.js';
import { NodeExchange, noBytes } from './exchange.js';
import { headText } from './head-text.js';

/** Of a client that talks WebSocket before it was told that it may. */
const earlyBytesMax = 64 * 1024;

export class UpgradeExchange extends NodeExchange {
  readonly relaysTrailers = false; // after a refused handshake the body ends with the connection
  private endsWithConnection = false;
  private readonly early: Buffer[] = [];
  private earlyBytes = 0;
  private onBytes = (chunk: Buffer): void => this.keep(chunk);

  constructor(
    private readonly socket: Socket,
    early: Buffer,
    head: RequestHead,
    checked: CheckedHead,
    private readonly key: string,
    /**
     * False: another protocol (h2c…), which may be ignored. The request is answered as if it had not asked, and the
     * connection ends.
     */
    readonly isUpgrade: boolean,
    private readonly stallMs: number,
    open: OpenRequests<NodeExchange>,
  ) {
    super(head, checked, open);
    socket.on('error', () => this.aborted());
    socket.on('close', () => this.aborted());
    socket.on('drain', () => {
      socket.setTimeout(0);
      this.onDrain?.();
    });
    if (early.length > 0) this.keep(early);
    // Read, so that a client that leaves is noticed.
    socket.on('data', (chunk) => this.onBytes(chunk));
    socket.on('end', () => socket.destroy());
    socket.on('timeout', () => socket.destroy()); // set only while a write waits; one listener, however often one does
  }

  /** What comes before anybody wants it. */
  private keep(chunk: Buffer): void {
    this.early.push(chunk);
    this.earlyBytes += chunk.length;
    if (this.earlyBytes > earlyBytesMax) this.socket.pause();
  }

  private takeOver(onBytes: (chunk: Buffer) => void): void {
    this.onBytes = onBytes;
    for (const chunk of this.early.splice(0)) onBytes(chunk);
    this.socket.resume();
  }

  /**
   * The library hands over the bare socket, so a body is counted here; what follows it is no request of ours any more.
   */
  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    if (this.head.protocol === 'HTTP/1.1' && findField(this.head.headers, 'expect') !== null)
      this.socket.write('HTTP/1.1 100 Continue\r\n\r\n'); // no other expectation gets here
    let leftBytes = this.framing.kind === 'length' ? this.framing.bytes : 0;
    const take = (bytes: Buffer): void => {
      if (this.isOver || leftBytes === 0) return;
      const chunk = bytes.subarray(0, leftBytes);
      leftBytes -= chunk.length;
      onChunk(chunk, leftBytes === 0);
    };
    queueMicrotask(() => this.takeOver(take));
  }
  pauseBody(): void {
    this.socket.pause();
  }
  resumeBody(): void {
    this.socket.resume();
  }

  respond(status: number, headers: readonly string[], body: string | Buffer): void {
    if (this.isOver) return;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    this.finish();
    this.socket.write(
      headText(status, '', [...headers, 'Content-Length', String(bytes.length), 'Connection', 'close']),
      'latin1',
    );
    this.socket.end(this.head.method === 'HEAD' ? noBytes : bytes);
  }
  relayInterim(status: number, reason: string, headers: readonly string[]): void {
    if (!this.isOver && this.head.protocol !== 'HTTP/1.0')
      this.socket.write(headText(status, reason, headers), 'latin1');
  }
  startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void {
    if (this.isOver) return;
    this.endsWithConnection = bodyBytes === null;
    const length = bodyBytes === null ? [] : ['Content-Length', String(bodyBytes)];
    this.socket.write(headText(status, reason, [...headers, ...length, 'Connection', 'close']), 'latin1');
  }
  respondBodyless(status: number, reason: string, headers: readonly string[], declaredBytes: number | null): void {
    if (this.isOver) return;
    this.finish();
    const length = declaredBytes === null || status === 204 ? [] : ['Content-Length', String(declaredBytes)];
    this.socket.end(headText(status, reason, [...headers, ...length, 'Connection', 'close']), 'latin1');
  }
  write(chunk: Buffer): boolean {
    if (this.isOver) return true;
    const isFlowing = this.socket.write(Buffer.from(chunk));
    if (!isFlowing) this.socket.setTimeout(this.stallMs);
    return isFlowing;
  }
  get unsentBytes(): number {
    return this.socket.writableLength;
  }
  endResponse(_trailers: readonly string[] | null): void {
    if (this.isOver) return;
    this.finish();
    this.socket.end();
  }
  close(): void {
    if (this.isOver) return;
    this.finish();
    if (this.endsWithConnection)
      this.socket.resetAndDestroy(); // an orderly end would say that this was all
    else this.socket.destroy();
  }

  acceptTunnel(tunnel: TunnelAcceptance): void {
    if (this.isOver) {
      tunnel.closeUpstream();
      return;
    }
    const { socket } = this;
    socket.write(headText(101, 'Switching Protocols', handshakeFields(this.key, tunnel)), 'latin1');
    socket.setTimeout(0);
    const client: TunnelClient = {
      send: (bytes) => socket.write(Buffer.from(bytes)),
      end: () => {
        this.finish();
        socket.end();
      },
    };
    const { inspector } = tunnel;
    const gate = inspector === null ? null : new WebSocketGate(tunnel, inspector, client);
    tunnel.opened(gate ?? client);
    this.takeOver((chunk) => {
      if (!(gate === null ? tunnel.sendUpstream(chunk) : gate.push(chunk))) socket.pause();
    });
  }
}
