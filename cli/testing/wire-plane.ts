// A data plane on the wire for the CRS regression suite: the suite's backend, one worker with one listener in front of
// it, a client that sends bytes as they are, and what the audit log says of each request.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveProxyConfig } from '#proxy/contract';
import { startDataPlane } from '#proxy/main';
import { reflect } from '../inspect/reflect.js';
import type { WireListener } from './wire-stage.js';

export type { WireListener } from './wire-stage.js';

export interface WireReply {
  /** Everything that came, latin1. */
  readonly text: string;
  /** 0: nothing that begins like a response. */
  readonly status: number;
  /** answered; closed without an answer; silent: no whole answer and no end came in the time given. */
  readonly outcome: 'answered' | 'closed' | 'silent';
  /** The data plane's own, or null where the listener's library answered. */
  readonly requestId: string | null;
}

export interface WirePlane {
  readonly port: number;
  /** X-Request-Id of every request that arrived behind the data plane. */
  readonly forwarded: ReadonlySet<string>;
  /** Ends everything; the audit log's transactions by request id. */
  finish(): Promise<ReadonlyMap<string, AuditTransaction>>;
}

export interface AuditTransaction {
  readonly messages: readonly {
    readonly message: string;
    readonly details: { readonly ruleId: string; readonly data: string; readonly match: string };
  }[];
}

/** The suite's backend. What it is sent is inspected bytes, so its parser takes whatever the proxy forwards. */
async function startBackend(forwarded: Set<string>): Promise<{ readonly url: string; close(): void }> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      forwarded.add(String(request.headers['x-request-id']));
      const { head, body } = reflect(
        {
          method: request.method ?? '',
          uri: request.url ?? '',
          protocol: 'HTTP/1.1',
          headers: request.rawHeaders,
          clientIp: '',
          clientPort: 0,
          serverIp: '',
          serverPort: 0,
        },
        Buffer.concat(chunks),
      );
      response.sendDate = false;
      response.writeHead(head.status, head.headers as unknown as string[]);
      response.end(body);
    });
  };
  const server = createServer(
    { insecureHTTPParser: true, maxHeaderSize: 1024 * 1024, keepAliveTimeout: 60_000 },
    answer,
  );
  // Methods that Node's parser does not know: an application that knows them would answer, and the suite only asks
  // whether it was asked.
  server.on('clientError', (error: Error & { readonly rawPacket?: Buffer }, socket) => {
    const id = /\r\nx-request-id: *([^\r]+)/i.exec(error.rawPacket?.toString('latin1') ?? '')?.[1];
    if (id !== undefined && error.message.includes('Invalid method')) forwarded.add(id);
    socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Without the self-test: rules of the suite run at a paranoia level where its ordinary requests are flagged too. */
export async function startWirePlane(listener: WireListener, artifact: Uint8Array): Promise<WirePlane> {
  const forwarded = new Set<string>();
  const backend = await startBackend(forwarded);
  const { config, problems } = resolveProxyConfig(
    {
      mode: 'On',
      sites: [{ name: 'suite', prefix: '/', upstream: backend.url, protected: true }],
      timeouts: { drain_ms: 300, client_head_ms: 10_000, client_body_idle_ms: 10_000 },
    },
    { customer: backend.url, payment: backend.url },
  );
  if (config === null) throw new Error(JSON.stringify(problems));
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-wire-'));
  const plane = await startDataPlane({
    host: '127.0.0.1',
    port: 0,
    adminHost: '127.0.0.1',
    adminPort: 0,
    adminToken: 'wire-test-token',
    workers: 1,
    listener,
    dataDir,
    initial: { config, artifact, selfTest: 'skip' },
    resume: false,
    reread: null,
    handlesSignals: false,
    logLevel: 'silent',
  });
  const finish = async (): Promise<ReadonlyMap<string, AuditTransaction>> => {
    await plane.stop(); // the log is written to its end
    backend.close();
    const text = await readFile(join(dataDir, 'log/audit.jsonl'), 'utf8');
    await rm(dataDir, { recursive: true, force: true });
    const lines = text.split('\n').filter((line) => line !== '');
    return new Map(
      lines
        .map((line) => (JSON.parse(line) as { transaction: AuditTransaction & { unique_id: string } }).transaction)
        .map((transaction) => [transaction.unique_id, transaction]),
    );
  };
  return { port: plane.ports.http, forwarded, finish };
}

/** Whether a response is whole; `isHead` = no body follows whatever its fields say. */
function isWhole(text: string, isHead: boolean): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = text.slice(0, end);
  const status = Number(head.slice(9, 12));
  if (status >= 100 && status < 200) return isWhole(text.slice(end + 4), isHead);
  if (isHead || status === 204 || status === 304) return true;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length !== null) return text.length >= end + 4 + Number(length[1]);
  return /\r\ntransfer-encoding: *chunked/i.test(head) ? text.endsWith('0\r\n\r\n') : false;
}

/** One connection, these bytes, what comes back until it is whole, the connection ends, or `waitMs` passed. */
export function exchange(port: number, bytes: Buffer, waitMs: number): Promise<WireReply> {
  const isHead = bytes.toString('latin1', 0, 5) === 'HEAD ';
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = (outcome: 'closed' | 'silent'): void => {
      clearTimeout(timer);
      socket.destroy();
      const isStatus = /^HTTP\/1\.[01] \d{3}/.test(text);
      const requestId = /\r\nx-request-id: *([^\r]*)\r\n/i.exec(text)?.[1] ?? null;
      resolve({
        text,
        status: isStatus ? Number(text.slice(9, 12)) : 0,
        outcome: isStatus && outcome === 'closed' ? 'answered' : outcome,
        requestId,
      });
    };
    const timer = setTimeout(() => done('silent'), waitMs);
    socket.setNoDelay(true);
    socket.on('connect', () => socket.write(bytes));
    socket.on('error', () => done('closed')); // a reset is one way of closing
    socket.on('close', () => done('closed'));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (isWhole(text, isHead)) done('closed');
    });
  });
}
