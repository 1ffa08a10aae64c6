// Load over kept connections, and what stands behind: as little as can answer.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createTraffic } from './traffic.js';

const answer = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok', 'latin1');
const headEnd = '\r\n\r\n';

/** Whole messages at the beginning of `text`: how many, and how many characters they take. By Content-Length alone. */
export function wholeMessages(text: string): { readonly count: number; readonly length: number; statuses: number[] } {
  const statuses: number[] = [];
  let at = 0;
  for (;;) {
    const end = text.indexOf(headEnd, at);
    if (end === -1) break;
    const head = text.slice(at, end);
    const body = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (text.length < end + headEnd.length + body) break;
    statuses.push(Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0));
    at = end + headEnd.length + body;
  }
  return { count: statuses.length, length: at, statuses };
}

export interface Backend {
  readonly port: number;
  close(): void;
}

/** Answers every request at once with two bytes, on a free port of the loopback. */
export async function openBackend(): Promise<Backend> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let waiting = '';
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1');
      const { count, length } = wholeMessages(waiting);
      waiting = waiting.slice(length);
      for (let index = 0; index < count; index += 1) socket.write(answer);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

export interface Loaded {
  readonly requests: number;
  /** Answers that were not 2xx; what is refused costs less than what is served. */
  readonly refused: number;
  /** Connections that broke before the end. */
  readonly broken: number;
}

/** On a machine that is so busy that hardly anything is served, it goes on until there is something to count. */
const leastRequests = 500;
const longestMs = 60_000;
const lookEveryMs = 50;

/** Asks on so many connections, one request at a time on each, for so long. */
export async function load(port: number, connections: number, ms: number): Promise<Loaded> {
  const next = createTraffic();
  let requests = 0;
  let refused = 0;
  let broken = 0;
  let isOver = false;
  const sockets = Array.from({ length: connections }, () => connect({ port, host: '127.0.0.1', noDelay: true }));
  for (const socket of sockets) {
    let waiting = '';
    socket.on('connect', () => socket.write(next(), 'latin1'));
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1');
      const { count, length, statuses } = wholeMessages(waiting);
      if (count === 0) return;
      waiting = waiting.slice(length);
      requests += count;
      for (const status of statuses) if (status < 200 || status > 299) refused += 1;
      if (!isOver) socket.write(next(), 'latin1');
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (!isOver) broken += 1;
    });
  }
  await pause(ms);
  for (let late = 0; requests < leastRequests && late < longestMs && broken < connections; late += lookEveryMs)
    await pause(lookEveryMs);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return { requests, refused, broken };
}
