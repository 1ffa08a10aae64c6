// A client that speaks WebSocket frame by frame, for tests.
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { until } from './harness.js';

export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9 } as const;

interface FrameShape {
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  readonly bits?: number;
}

/** A client's frame, up to 64 KiB. */
export function frame(
  code: number,
  text: string,
  { isFinal = true, isMasked = true, bits = 0 }: FrameShape = {},
): Buffer {
  const payload = Buffer.from(text, 'latin1');
  const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);
  const second = isMasked ? 0x80 : 0;
  const first = (isFinal ? 0x80 : 0) | bits | code;
  const head =
    payload.length < 126
      ? Buffer.from([first, second | payload.length])
      : Buffer.from([first, second | 126, payload.length >> 8, payload.length & 255]);
  if (!isMasked) return Buffer.concat([head, payload]);
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ (mask[index & 3] as number))]);
}

/** Bytes without a pattern, as of compressed data; the same ones every time. */
export function noise(bytes: number): string {
  let state = 1;
  return Array.from({ length: bytes }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return String.fromCharCode(state >>> 24);
  }).join('');
}

export interface Client {
  readonly socket: Socket;
  /** Everything that came behind the 101. */
  heard: string;
  head: string;
  isClosed: boolean;
}

/** Resolves when the application has greeted, or the node has closed it in order; rejects where it ends otherwise. */
export async function open(t: Test, port: number, path = '/chat', extra = ''): Promise<Client> {
  const client: Client = { socket: connect(port, '127.0.0.1'), heard: '', head: '', isClosed: false };
  t.teardown(() => client.socket.destroy());
  client.socket.on('error', () => {});
  client.socket.on('close', () => (client.isClosed = true));
  client.socket.on('data', (chunk) => {
    const text = client.head + client.heard + chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    client.head = end === -1 ? text : text.slice(0, end + 4);
    client.heard = end === -1 ? '' : text.slice(end + 4);
  });
  client.socket.write(
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${extra}\r\n`,
  );
  const isGreeted = (): boolean => client.heard.includes('welcome') || codeOf(client) !== 0;
  if (!(await until(() => isGreeted() || client.isClosed)) || !isGreeted())
    throw new Error(`no WebSocket: ${client.head}`);
  return client;
}

/** Of the close frame at the end of what was heard; 0 = there is none. */
export function codeOf({ heard }: Client): number {
  const bytes = Buffer.from(heard, 'latin1');
  const at = bytes.lastIndexOf(0x88);
  return at === -1 || at + 3 >= bytes.length ? 0 : bytes.readUInt16BE(at + 2);
}
