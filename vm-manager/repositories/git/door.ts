// The only way that `git` gets out by: a proxy on the loopback interface, for one fetch, to one host. It has git's
// connections opened by the guarded client, which judges the addresses of the name, counts what comes back, and takes
// nobody who does not know its word.
import { createServer, request as plainRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { WayOut } from '../../host.js';

const connectMsMax = 10_000;
/** Git asks a few times, one after the other. */
const connectionsMax = 32;

export interface Door {
  /** With its word, for `http.proxy`. */
  readonly url: string;
  /** Why it has let nothing through, or no more; null: it has. */
  refusal(): unknown;
  close(): void;
}

const isSame = (given: string, word: string): boolean =>
  given.length === word.length && timingSafeEqual(Buffer.from(given), Buffer.from(word));

class Guard {
  readonly #target: URL;
  readonly #connect: NonNullable<WayOut['connect']>;
  readonly #word: string;
  readonly #sockets = new Set<Duplex>();
  #left: number;
  #connections = 0;
  #isClosed = false;
  refusal: unknown = null;

  constructor(target: URL, connect: NonNullable<WayOut['connect']>, bytesMax: number, word: string) {
    this.#target = target;
    this.#connect = connect;
    this.#left = bytesMax;
    this.#word = `Basic ${Buffer.from(`gatehouse:${word}`).toString('base64')}`;
  }

  port(): number {
    return Number(this.#target.port) || (this.#target.protocol === 'https:' ? 443 : 80);
  }

  admits(request: IncomingMessage, host: string): boolean {
    const isTarget = host === `${this.#target.hostname}:${this.port()}` || host === this.#target.host;
    return isTarget && isSame(request.headers['proxy-authorization'] ?? '', this.#word);
  }

  /** Rejects with what the guarded client says. */
  async open(): Promise<Socket> {
    if (++this.#connections > connectionsMax) throw new Error('too many connections for one fetch');
    try {
      const host = this.#target.hostname.replace(/^\[|\]$/g, '');
      const socket = await this.#connect({ transport: 'tcp', host, port: this.port(), timeoutMs: connectMsMax });
      this.keep(socket);
      if (this.#isClosed) {
        socket.destroy();
        throw new Error('the fetch is over');
      }
      socket.on('data', (chunk: Buffer) => {
        this.#left -= chunk.length;
        if (this.#left >= 0) return;
        this.refusal = 'too large';
        this.close();
      });
      return socket;
    } catch (error) {
      this.refusal = error;
      throw error;
    }
  }

  keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** Whoever is still on the way to the host is let go when they are there. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** `https`: a tunnel, whose other end git itself checks. */
async function tunnel(guard: Guard, request: IncomingMessage, client: Duplex): Promise<void> {
  guard.keep(client);
  if (!guard.admits(request, request.url ?? '')) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  try {
    const server = await guard.open();
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    server.pipe(client);
    client.pipe(server);
    server.once('close', () => client.destroy());
    client.once('close', () => server.destroy());
  } catch {
    client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  }
}

/** `http`, of hosts that the operator has allowed: the request goes on as it is, without what is for the proxy. */
async function pass(guard: Guard, request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const target = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : null;
  if (target === null || target.protocol !== 'http:' || !guard.admits(request, target.host))
    return void reply.writeHead(403).end();
  try {
    const socket = await guard.open();
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !/^(?:proxy-.*|connection|keep-alive)$/.test(name)),
    );
    const path = `${target.pathname}${target.search}`;
    const asked = plainRequest({ createConnection: () => socket, method: request.method, path, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
      answer.once('error', () => reply.destroy());
    });
    asked.once('error', () => reply.destroy());
    request.pipe(asked);
  } catch {
    reply.writeHead(502).end();
  }
}

export async function openDoor(target: URL, connect: NonNullable<WayOut['connect']>, bytesMax: number): Promise<Door> {
  const word = randomBytes(24).toString('hex');
  const guard = new Guard(target, connect, bytesMax, word);
  const server = createServer((request, reply) => void pass(guard, request, reply));
  server.on('connect', (request, socket) => void tunnel(guard, request, socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://gatehouse:${word}@127.0.0.1:${port}`,
    refusal: () => guard.refusal,
    close: () => {
      guard.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
