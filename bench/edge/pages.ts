// The application behind the attacked node, a process of its own: short pages, and below /big one of 16 MB, in pieces
// as they are taken.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isPart, startPart, untilFinish } from './part.js';

const bigPageBytes = 16_000_000;
const pieceBytes = 64_000;

export interface Backend {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startPages(): Promise<Backend> {
  const part = startPart<{ readonly port: number }>(import.meta.url, {});
  const { port } = await part.told;
  return { port, stop: () => part.end() };
}

/** The whole of it at once would be a copy for every reader, and one write that holds up the others. */
function writePieces(reply: ServerResponse, piece: Buffer, left: number): void {
  if (left === 0) reply.end();
  else if (reply.write(piece)) setImmediate(writePieces, reply, piece, left - 1);
  else reply.once('drain', () => writePieces(reply, piece, left - 1));
}

function serve(): void {
  untilFinish();
  const piece = Buffer.alloc(pieceBytes, 'the quick brown fox. ');
  const small = Buffer.from('ok');
  const server = createServer((request, reply) => {
    request.resume();
    const isBig = request.url?.startsWith('/big') === true;
    // no type of text: such a page goes through as it comes and is held nowhere
    reply.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': isBig ? bigPageBytes : small.length,
    });
    if (isBig) writePieces(reply, piece, bigPageBytes / pieceBytes);
    else reply.end(small);
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

if (isPart(import.meta.url)) serve();
