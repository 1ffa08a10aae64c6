// Receivers for tests, which speak the protocols of the real ones: their answers, their errors, and their being killed.
import { createSocket } from 'node:dgram';
import { createServer as createHttp, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTcp, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';

type Test = { teardown(done: () => unknown): void };

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export interface HttpReceiver {
  readonly url: string;
  readonly calls: Call[];
  /** Ends the server with its connections, as a process that is killed does. */
  kill(): Promise<void>;
  /** Listens again at the same address. */
  revive(): Promise<void>;
}

/** `answer` says what each call gets; null: the connection is cut after the call was read, without an answer. */
export async function receiveHttp(
  t: Test,
  answer: (call: Call) => Answer | null | Promise<Answer | null>,
): Promise<HttpReceiver> {
  const calls: Call[] = [];
  const make = (): Server =>
    createHttp((request, reply) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const call = {
          method: request.method ?? '',
          url: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        };
        calls.push(call);
        void Promise.resolve(answer(call)).then((told) => {
          if (told === null) return void request.socket.destroy();
          reply.writeHead(told.status, { 'content-type': 'application/json', ...told.headers });
          reply.end(told.body ?? '');
        });
      });
    });
  let server = make();
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.teardown(() => (server.listening ? kill() : undefined));
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    kill,
    async revive() {
      server = make();
      await listen(port);
    },
  };
}

export interface LineReceiver {
  readonly port: number;
  readonly messages: string[];
  /** Connections in the middle of which it is cut, by number of messages; null: none. */
  cutAfter: number | null;
  kill(): Promise<void>;
  revive(): Promise<void>;
}

/** Messages of RFC 6587 section 3.4.1 at the beginning of what has come: how many octets, a space, the octets. */
export function takeOctets(given: Buffer): { readonly messages: string[]; readonly rest: Buffer } {
  const messages: string[] = [];
  let rest = given;
  for (;;) {
    const space = rest.indexOf(0x20);
    if (space < 0) return { messages, rest };
    const digits = rest.toString('latin1', 0, space);
    if (!/^[1-9]\d{0,6}$/.test(digits)) throw new Error(`not a count of octets: ${digits.slice(0, 40)}`);
    const end = space + 1 + Number(digits);
    if (rest.length < end) return { messages, rest };
    messages.push(rest.toString('utf8', space + 1, end));
    rest = rest.subarray(end);
  }
}

/** A syslog receiver that reads to the end of a connection and then closes it, as the usual ones do. */
export async function receiveStream(t: Test, tls: { key: string; cert: string } | null = null): Promise<LineReceiver> {
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  const state = { cutAfter: null as number | null };
  const take = (socket: Socket): void => {
    sockets.add(socket);
    let rest: Buffer = Buffer.alloc(0);
    let count = 0;
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      const taken = takeOctets(Buffer.concat([rest, chunk]));
      rest = taken.rest;
      for (const message of taken.messages) {
        if (state.cutAfter !== null && count >= state.cutAfter) {
          state.cutAfter = null;
          socket.resetAndDestroy(); // as the system does for a process that is killed with bytes unread
          return;
        }
        count += 1;
        messages.push(message);
      }
    });
  };
  const make = (): TcpServer => (tls === null ? createTcp(take) : createTls(tls, take));
  let server = make();
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  t.teardown(() => (server.listening ? kill() : undefined));
  return {
    port,
    messages,
    get cutAfter() {
      return state.cutAfter;
    },
    set cutAfter(value) {
      state.cutAfter = value;
    },
    kill,
    async revive() {
      server = make();
      await listen(port);
    },
  };
}

export interface DatagramReceiver {
  readonly port: number;
  readonly messages: string[];
  kill(): Promise<void>;
  revive(): Promise<void>;
}

export async function receiveDatagrams(t: Test): Promise<DatagramReceiver> {
  const messages: string[] = [];
  let isOpen = true;
  const make = (port: number) =>
    new Promise<ReturnType<typeof createSocket>>((resolve) => {
      const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
      socket.on('message', (bytes) => messages.push(bytes.toString('utf8')));
      socket.bind(port, '127.0.0.1', () => resolve(socket));
    });
  let socket = await make(0);
  const { port } = socket.address();
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      isOpen = false;
      socket.close(() => resolve());
    });
  t.teardown(() => (isOpen ? kill() : undefined));
  return {
    port,
    messages,
    kill,
    async revive() {
      socket = await make(port);
      isOpen = true;
    },
  };
}
