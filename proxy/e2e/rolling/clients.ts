// Clients of a service that is upgraded, each asking until it is told to stop, and what became of their requests. What
// the protocols foresee is no failure: a connection whose answer said "close", a session that was told to go away, a
// WebSocket that was closed with "going away". Everything else is.
import { createServer, request, type Server } from 'node:http';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { codeOf, frame, open, opcode, type Client } from '../websocket-client.js';
import { until } from '../waiting.js';

export interface Tally {
  done: number;
  /** What went wrong, in words. */
  readonly failures: string[];
}

export interface Asking {
  readonly tally: Tally;
  stop(): Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

function asking(clients: number, ask: (isOver: () => boolean, tally: Tally) => Promise<void>): Asking {
  const tally: Tally = { done: 0, failures: [] };
  let isOver = false;
  const all = Array.from({ length: clients }, () => ask(() => isOver, tally));
  return {
    tally,
    async stop() {
      isOver = true;
      await Promise.all(all);
    },
  };
}

/** Says how many bytes it was sent; what is asked for with `slow` takes half a second. */
export async function startCounting(t: Test): Promise<string> {
  const server: Server = createServer((asked, answer) => {
    let bytes = 0;
    asked.on('data', (piece: Buffer) => (bytes += piece.length));
    asked.on('end', () => {
      const end = (): void => void answer.end(String(bytes));
      if (asked.url?.includes('slow') === true) setTimeout(end, 500);
      else end();
    });
    asked.on('error', () => {});
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Bodies of `bytes` in twenty pieces over a second. */
function upload(port: number, bytes: number): Promise<string> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', method: 'POST', path: '/app/upload', agent: false });
    asked.setHeader('content-type', 'application/octet-stream');
    asked.setHeader('content-length', bytes);
    asked.once('error', (error) => resolve(error.message));
    asked.once('response', (answer) => {
      let text = '';
      answer.on('data', (piece: Buffer) => (text += piece.toString()));
      answer.once('end', () => resolve(answer.statusCode === 200 && text === String(bytes) ? '' : `answer ${text}`));
      answer.once('error', (error) => resolve(error.message));
    });
    const send = async (): Promise<void> => {
      for (let piece = 0; piece < 20 && !asked.destroyed; piece += 1) {
        asked.write(Buffer.alloc(bytes / 20, 120));
        await pause(50);
      }
      asked.end();
    };
    void send();
  });
}

export const uploads = (port: number, clients: number): Asking =>
  asking(clients, async (isOver, tally) => {
    while (!isOver()) {
      const problem = await upload(port, 200_000);
      if (problem === '') tally.done += 1;
      else tally.failures.push(`an upload: ${problem}`);
    }
  });

/** By which a client knows that its stream was not read. */
const mayAskAgain = /ERR_HTTP2_GOAWAY_SESSION|ERR_HTTP2_INVALID_SESSION|NGHTTP2_REFUSED_STREAM/;

/** One stream; rejects with what cut it. */
function askStream(session: ClientHttp2Session, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ':authority': 'a.test', 'user-agent': 'test', accept: '*/*' });
    let status = 0;
    let text = '';
    stream.once('response', (head) => (status = Number(head[':status'])));
    stream.on('data', (piece: Buffer) => (text += piece.toString()));
    stream.once('error', reject);
    stream.once('close', () => {
      resolve(status === 200 && text === '0' ? '' : `status ${status}, text ${text}, code ${stream.rstCode}`);
    });
    stream.end();
  });
}

/** Streams of sessions that last as long as the node lets them. */
export const sessions = (port: number, clients: number): Asking =>
  asking(clients, async (isOver, tally) => {
    let session: ClientHttp2Session | null = null;
    let isLast = false;
    for (let number = 0; !isOver(); number += 1) {
      if (session === null || isLast || session.destroyed || session.closed) {
        session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
        isLast = false;
        session.on('error', (error) => tally.failures.push(`a session of HTTP/2: ${error.message}`));
        session.once('goaway', () => (isLast = true));
      }
      try {
        const problem = await askStream(session, `/app/${number % 5 === 0 ? 'slow' : 'quick'}?n=${number}`);
        if (problem === '') tally.done += 1;
        else tally.failures.push(`a stream of HTTP/2: ${problem}`);
      } catch (error) {
        // a client may send it again: the server said that it did not read it (RFC 9113 section 8.7)
        const { code, message } = error as NodeJS.ErrnoException;
        if (!mayAskAgain.test(`${code ?? ''} ${message}`))
          tally.failures.push(`a stream of HTTP/2: ${code ?? ''} ${message}`);
        isLast = true;
      }
      await pause(10);
    }
    session?.close();
  });

/** Talks until the other side closes; says what was wrong with that, '' where nothing was. */
async function talk(client: Client, isOver: () => boolean, tally: Tally): Promise<string> {
  for (let number = 0; !isOver() && !client.isClosed && codeOf(client) === 0; number += 1) {
    const before = client.heard.length;
    client.socket.write(frame(opcode.text, `word ${number}`));
    await until(() => client.heard.length > before || client.isClosed);
    if (codeOf(client) === 0 && client.heard.length > before) tally.done += 1;
    await pause(50);
  }
  if (isOver() && !client.isClosed) return '';
  return codeOf(client) === 1001 ? '' : `closed with ${codeOf(client) || 'no word'}`;
}

/** WebSockets that stay open. */
export const talks = (t: Test, port: number, clients: number): Asking =>
  asking(clients, async (isOver, tally) => {
    while (!isOver()) {
      const client = await open(t, port).catch((error: Error) => error);
      if (client instanceof Error) {
        tally.failures.push(`a WebSocket: ${client.message}`);
        continue;
      }
      const problem = await talk(client, isOver, tally);
      if (problem !== '') tally.failures.push(`a WebSocket: ${problem}`);
      client.socket.destroy();
    }
  });
