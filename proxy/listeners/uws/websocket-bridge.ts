// uWebSockets.js keeps the client's socket to itself after a handshake, so raw bytes cannot be tunnelled: messages are
// taken from one side and framed anew for the other (RFC 6455). No extensions are offered to the upstream, hence no
// compression.
import type { WebSocket } from 'uWebSockets.js';
import type { MessageInspector, TunnelAcceptance, TunnelClient } from '../listener.js';
import { LongMessage } from '../long-message.js';
import { decodeFrame, encodeFrame, isSendableCode, opcode, type Frame } from './websocket-frame.js';

const unsentBytesMax = 16 * 1024 * 1024;

/** The library hands messages over whole. */
function takeLong(inspector: MessageInspector, payload: Buffer): 'passes' | 'too-big' | 'blocked' {
  const message = new LongMessage(inspector);
  for (let at = 0; at < payload.length; at += inspector.messageBytesMax) {
    const outcome = message.take(payload.subarray(at, at + inspector.messageBytesMax));
    if (outcome !== 'passes') return outcome;
  }
  return 'passes';
}

export class WebSocketBridge implements TunnelClient {
  private socket: WebSocket<unknown> | null = null;
  private early: Buffer[] = [];
  private pending: Buffer = Buffer.alloc(0);
  private isFragmented = false;
  private isOver = false;

  constructor(
    private readonly tunnel: TunnelAcceptance,
    private readonly onDrained: () => void,
  ) {}

  opened(socket: WebSocket<unknown>): void {
    this.socket = socket;
    this.tunnel.opened(this);
    for (const bytes of this.early.splice(0)) this.send(bytes);
  }

  message(payload: Buffer, isBinary: boolean): void {
    if (this.isOver) return;
    const { inspector } = this.tunnel;
    if (inspector !== null) {
      const { messageBytesMax } = inspector;
      if (payload.length <= messageBytesMax) {
        if (!inspector.mayPass(payload, isBinary)) return this.fail(1008, '');
      } else {
        const outcome = isBinary ? takeLong(inspector, payload) : 'too-big';
        if (outcome === 'blocked') return this.fail(1008, '');
        if (outcome === 'too-big') return this.fail(1009, 'the message is too big');
      }
    }
    this.tunnel.sendUpstream(encodeFrame(isBinary ? opcode.binary : opcode.text, payload));
    // The library cannot be told to read less: an application that does not keep up loses the connection, not our
    // memory.
    if (this.tunnel.unsentUpstreamBytes() > unsentBytesMax) this.fail(1013, 'the application does not keep up');
  }
  ping(_payload: Buffer): void {
    // answered by the library; the upstream's own pings measure the whole way
  }
  pong(payload: Buffer): void {
    this.tunnel.sendUpstream(encodeFrame(opcode.pong, payload));
  }
  drained(): void {
    this.onDrained();
  }
  closed(code: number, reason: Buffer): void {
    if (this.isOver) return;
    this.isOver = true;
    const payload = Buffer.alloc(2 + reason.length);
    payload.writeUInt16BE(isSendableCode(code) ? code : 1001, 0);
    reason.copy(payload, 2);
    this.tunnel.sendUpstream(encodeFrame(opcode.close, payload));
    this.tunnel.closeUpstream();
  }

  /** Frames of the upstream; borrowed bytes. */
  send(bytes: Buffer): boolean {
    if (this.socket === null) {
      this.early.push(Buffer.from(bytes));
      return true;
    }
    this.pending = this.pending.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.pending, bytes]);
    let isFlowing = true;
    while (!this.isOver) {
      const frame = decodeFrame(this.pending);
      if (frame === 'more') break;
      if (frame === 'invalid') {
        this.fail(1002, 'the application sent a frame that is not valid');
        break;
      }
      this.pending = this.pending.subarray(frame.usedBytes);
      isFlowing = this.relay(frame) && isFlowing;
    }
    return isFlowing;
  }

  private relay(frame: Frame): boolean {
    const { socket } = this;
    if (socket === null) return true;
    switch (frame.opcode) {
      case opcode.text:
      case opcode.binary: {
        const isBinary = frame.opcode === opcode.binary;
        if (frame.isFinal) {
          const outcome = socket.send(frame.payload, isBinary); // 1 sent, 0 buffered, 2 dropped
          if (outcome === 2) this.fail(1013, 'the client does not keep up');
          return outcome === 1;
        }
        this.isFragmented = true;
        return socket.sendFirstFragment(frame.payload, isBinary);
      }
      case opcode.continuation:
        if (!this.isFragmented) {
          this.fail(1002, 'a continuation of nothing');
          return true;
        }
        if (!frame.isFinal) return socket.sendFragment(frame.payload);
        this.isFragmented = false;
        return socket.sendLastFragment(frame.payload);
      case opcode.ping:
        socket.ping(frame.payload);
        return true;
      case opcode.close: {
        this.isOver = true;
        const code = frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1000;
        socket.end(isSendableCode(code) ? code : 1000, frame.payload.subarray(2));
        this.tunnel.sendUpstream(encodeFrame(opcode.close, frame.payload.subarray(0, 2)));
        this.tunnel.closeUpstream();
        return true;
      }
      default:
        return true; // pong, and opcodes of extensions nobody negotiated
    }
  }

  private fail(code: number, reason: string): void {
    this.isOver = true;
    this.socket?.end(code, reason);
    this.tunnel.closeUpstream();
  }

  /** The upstream's connection ended. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.socket?.close();
  }
}
