// WebSocket frames (RFC 6455 section 5): those of a server are read, those of a client are written. Pure.
import { randomFillSync } from 'node:crypto';

const payloadBytesMax = 16 * 1024 * 1024; // per frame from the upstream; beyond, the connection is closed with 1009
export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
  readonly usedBytes: number;
}

/** Codes a peer may put on the wire (RFC 6455 section 7.4). */
export function isSendableCode(code: number): boolean {
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
export function encodeFrame(code: number, payload: Buffer): Buffer {
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
