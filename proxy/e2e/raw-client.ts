// A client that sends exactly the bytes it is told to, for tests.
import { connect, type Socket } from 'node:net';
import { patienceMs } from './waiting.js';

export interface RawReply {
  readonly text: string;
  readonly isClosed: boolean;
}

/**
 * Sends pieces with a pause between, collects what comes until `isDone` says so, the peer closes, or `waitMs` passed.
 */
export function sendRaw(
  port: number,
  pieces: string | readonly string[],
  waitMs = patienceMs,
  isDone?: (text: string) => boolean,
): Promise<RawReply> {
  const all = typeof pieces === 'string' ? [pieces] : pieces;
  const isHead = all[0]?.startsWith('HEAD ') === true;
  const isEnough = isDone ?? ((text: string) => isWhole(text, isHead));
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let isSent = false;
    const finish = (isClosed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, isClosed });
    };
    const timer = setTimeout(() => finish(false), waitMs);
    socket.setNoDelay(true);
    socket.on('error', () => finish(true)); // a reset is one way of closing
    socket.on('close', () => finish(true));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (isSent && isEnough(text)) finish(false);
    });
    void sendPieces(socket, all).then(() => {
      isSent = true;
      if (isEnough(text)) finish(false);
    });
  });
}

async function sendPieces(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, 15));
    if (socket.destroyed) return;
    socket.write(Buffer.from(piece, 'latin1'));
  }
}

/** One complete response with a Content-Length (or none at all, as 204); after HEAD the head is all of it. */
function isWhole(text: string, isHead: boolean): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  if (text.startsWith('HTTP/1.1 100')) return isWhole(text.slice(end + 4), isHead);
  if (isHead) return true;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end));
  if (length !== null) return text.length >= end + 4 + Number(length[1]) || / 304 | 204 /.test(text.slice(0, 15));
  if (/\r\ntransfer-encoding: chunked/i.test(text.slice(0, end))) return text.endsWith('0\r\n\r\n');
  return true;
}

export function statusOf(text: string): number {
  const match = /^HTTP\/1\.[01] (\d{3})/.exec(
    text.startsWith('HTTP/1.1 100') ? text.slice(text.indexOf('\r\n\r\n') + 4) : text,
  );
  return match === null ? 0 : Number(match[1]);
}

export function bodyOf(text: string): string {
  const start = text.startsWith('HTTP/1.1 100') ? text.slice(text.indexOf('\r\n\r\n') + 4) : text;
  return start.slice(start.indexOf('\r\n\r\n') + 4);
}
