// uWebSockets.js keeps the client's socket to itself after a handshake, so raw bytes cannot be tunnelled: messages are
// taken from one side and framed anew for the other (RFC 6455). No extensions are offered to the upstream, hence no
// compression.
import { randomFillSync } from 'node:crypto';
import type { WebSocket } from 'uWebSockets.js';
import type { TunnelAcceptance, TunnelClient } from '../listener.js';

const payloadBytesMax = 16 * 1024 * 1024; // per frame from the upstream; beyond, the connection is closed with 1009
const unsentBytesMax = 16 * 1024 * 1024;
const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

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

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
  readonly usedBytes: number;
}

/** Codes a peer may put on the wire (RFC 6455 section 7.4). */
function isSendableCode(code: number): boolean {
  return (
    (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999)
  );
}

/** A server's frame: unmasked. */
export function decodeFrame(bytes: Buffer): Frame | 'more' | 'invalid' {
  if (bytes.length < 2) return 'more';
  const first = bytes[0] as number;
  const second = bytes[1] as number;
  if ((second & 0x80) !== 0 || (first & 0x70) !== 0) return 'invalid';
  let length = second & 0x7f;
  let offset = 2;
  if (length === 126) {
    if (bytes.length < 4) return 'more';
    length = bytes.readUInt16BE(2);
    offset = 4;
  } else if (length === 127) {
    if (bytes.length < 10) return 'more';
    const high = bytes.readUInt32BE(2);
    if (high !== 0) return 'invalid';
    length = bytes.readUInt32BE(6);
    offset = 10;
  }
  const code = first & 0x0f;
  const isFinal = (first & 0x80) !== 0;
  if (length > payloadBytesMax || (code >= 8 && (length > 125 || !isFinal))) return 'invalid';
  if (bytes.length < offset + length) return 'more';
  return { opcode: code, isFinal, payload: bytes.subarray(offset, offset + length), usedBytes: offset + length };
}

/** A client's frame: whole message, masked. */
function encodeFrame(code: number, payload: Buffer): Buffer {
  const { length } = payload;
  const headBytes = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headBytes + 4 + length);
  frame[0] = 0x80 | code;
  if (length < 126) frame[1] = 0x80 | length;
  else if (length < 65_536) {
    frame[1] = 0x80 | 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 0x80 | 127;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
  const mask = frame.subarray(headBytes, headBytes + 4);
  randomFillSync(mask);
  for (let index = 0; index < length; index += 1)
    frame[headBytes + 4 + index] = (payload[index] as number) ^ (mask[index & 3] as number);
  return frame;
}
