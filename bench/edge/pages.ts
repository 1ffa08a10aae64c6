// The application behind the attacked node, a thread of its own: short pages, and below /big one of 16 MB.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const bigPageBytes = 16_000_000;

export interface Backend {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startPages(): Promise<Backend> {
  const worker = new Worker(new URL(import.meta.url));
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return { port, stop: async () => void (await worker.terminate()) };
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const big = Buffer.alloc(bigPageBytes, 'the quick brown fox. ');
  const small = Buffer.from('ok');
  const server = createServer((request, reply) => {
    request.resume();
    const body = request.url?.startsWith('/big') === true ? big : small;
    // no type of text: such a page goes through as it comes and is held nowhere
    reply.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.length }).end(body);
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () => port.postMessage((server.address() as AddressInfo).port));
}
