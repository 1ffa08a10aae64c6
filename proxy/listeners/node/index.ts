// node:http behind the listener contract: slower by a quarter, byte-exact, with head timeouts. A second reading of HTTP
// beside the default (net/), for comparison and as a way out.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { checkRequestHead, upgradeWithBody } from '../../http/request-syntax.js';
import type { Listener, ListenerOptions, RequestHandler } from '../listener.js';
import { backlog, OpenRequests, takeWaiting } from '../open-requests.js';
import type { NodeExchange } from './exchange.js';
import { headText } from './head-text.js';
import { RequestExchange } from './request-exchange.js';
import { headOf } from './request-head.js';
import { Turns } from './turns.js';
import { UpgradeExchange } from './upgrade-exchange.js';

/** What the parser takes before the road's own, configurable limits are looked at; beyond → 431. */
const headBytesMax = 340 * 1024;

/** Several threads can listen on one port since Node 22.12 (`reusePort`); before, one thread does. */
export function canSharePort(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major > 22 || (major === 22 && minor >= 12)) && process.platform === 'linux';
}

/** What llhttp itself refuses never becomes a request: it is answered here and the connection closed. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, handler: RequestHandler): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const { headers, body } = handler.onUnreadable(status);
  const length = String(Buffer.byteLength(body));
  socket.end(headText(status, '', [...headers, 'Connection', 'close', 'Content-Length', length]) + body);
}

function isWebSocketHandshake(request: IncomingMessage): boolean {
  return (
    request.method === 'GET' &&
    (request.headers.upgrade ?? '').toLowerCase() === 'websocket' &&
    typeof request.headers['sec-websocket-key'] === 'string'
  );
}

interface Listening {
  readonly server: Server;
  readonly open: OpenRequests<NodeExchange>;
  /** Connections that the library handed over. */
  readonly bareSockets: Set<Socket>;
}

/** The library reads them whenever it looks, so what changes them counts at once. */
function followTimeouts(server: Server, { timeouts }: ListenerOptions): void {
  Object.defineProperty(server, 'headersTimeout', { get: () => timeouts.clientHeadMs });
  Object.defineProperty(server, 'keepAliveTimeout', { get: () => timeouts.clientIdleMs });
}

function createHttpServer(options: ListenerOptions): Server {
  const { timeouts } = options;
  const server = createServer({
    maxHeaderSize: headBytesMax,
    headersTimeout: timeouts.clientHeadMs,
    requestTimeout: 0, // bodies have their own idle timeout on the road
    keepAliveTimeout: timeouts.clientIdleMs,
    connectionsCheckingInterval: 1000,
    insecureHTTPParser: false,
    requireHostHeader: false, // checked with the rest, so that the answer carries a request id
    noDelay: true,
    joinDuplicateHeaders: false,
  });
  server.maxHeadersCount = 0;
  followTimeouts(server, options);
  return server;
}

function takeRequests({ server, open }: Listening, options: ListenerOptions): Turns {
  const turns = new Turns((request, response, isExpectant) => {
    const head = headOf(request);
    const checked = checkRequestHead(head.method, head.uri, head.protocol, head.headers, options.limits());
    const exchange = new RequestExchange(
      request,
      response,
      head,
      checked,
      isExpectant && checked.framing.kind !== 'none',
      options.timeouts.clientWriteMs ?? options.timeouts.clientIdleMs,
      open,
    );
    open.add(exchange);
    options.handler.onRequest(exchange);
    return exchange;
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => turns.take(request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    turns.take(request, response, true),
  );
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => turns.take(request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code?.startsWith('HPE_') === true && turns.outliveGarbage(socket)) return;
    refuseMalformed(error, socket, options.handler);
  });
  return turns;
}

/** Requests whose connection the library hands over: those that offer another protocol, and CONNECT. */
function takeBareSockets({ server, open, bareSockets }: Listening, turns: Turns, options: ListenerOptions): void {
  const take = (request: IncomingMessage, duplex: Socket, early: Buffer): void => {
    if (turns.isBusy(duplex)) {
      duplex.destroy(); // pipelined behind a request that is not answered yet: two would write into each other's answer
      return;
    }
    const head = headOf(request);
    const checked = checkRequestHead(head.method, head.uri, head.protocol, head.headers, options.limits());
    bareSockets.add(duplex);
    duplex.on('close', () => bareSockets.delete(duplex));
    const isHandshake = isWebSocketHandshake(request);
    // A length can be counted on the bare socket (clients that would like h2c send forms, too); chunks would need a
    // parser.
    const isUnreadable = checked.framing.kind === 'chunked' || (isHandshake && checked.framing.kind !== 'none');
    const refusal = checked.refusal ?? (isUnreadable ? upgradeWithBody : null);
    const exchange = new UpgradeExchange(
      duplex,
      early,
      head,
      { framing: checked.framing, refusal },
      String(request.headers['sec-websocket-key'] ?? ''),
      isHandshake,
      options.timeouts.clientWriteMs ?? options.timeouts.clientIdleMs,
      open,
    );
    open.add(exchange);
    options.handler.onRequest(exchange);
  };
  server.on('upgrade', take);
  // refused by its head; without this the library would close the connection and say nothing
  server.on('connect', take);
}

export function listenNode(options: ListenerOptions): Promise<Listener> {
  const listening: Listening = { server: createHttpServer(options), open: new OpenRequests(), bareSockets: new Set() };
  const { server, open, bareSockets } = listening;
  takeBareSockets(listening, takeRequests(listening, options), options);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    let taken = 0;
    const { share } = options;
    if (share !== undefined) open.isCrowded = () => share.isCrowded();
    server.on('connection', (socket: Socket) => {
      taken += 1;
      const left = options.guard?.enter(socket.remoteAddress ?? '');
      if (left === null) {
        socket.resetAndDestroy();
        return;
      }
      if (left !== undefined) socket.on('close', left);
      share?.opened();
      socket.on('close', () => share?.closed());
    });
    const { socket = null } = options;
    const where = {
      host: options.host,
      port: options.port,
      backlog,
      ...(options.sharedPort && canSharePort() ? { reusePort: true } : {}),
    };
    server.listen(socket === null ? where : { fd: socket }, () => {
      server.off('error', reject);
      // One connection could not be taken (no descriptor is left): it is closed, and the others are served on.
      server.on('error', () => {});
      const { port } = server.address() as AddressInfo;
      const stop = async (drainMs: number, onClosed?: () => void): Promise<void> => {
        open.isStopping = true;
        await takeWaiting(() => taken);
        // The library's own `close` would cut idle connections at once, with what may be on its way on them.
        NetServer.prototype.close.call(server, () => open.finish());
        onClosed?.();
        await open.drain(drainMs);
        for (const socket of bareSockets) socket.destroy();
        server.closeAllConnections();
      };
      resolve({ port, stop });
    });
  });
}
