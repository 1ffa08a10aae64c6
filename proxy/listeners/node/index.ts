// node:http behind the listener contract: slower by a quarter, byte-exact, with head timeouts. The fallback where
// uWebSockets.js has no binary, and the choice where its known differences matter.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { createHash } from 'node:crypto';
import type { RequestHead } from '#engine';
import { findField } from '../../http/header-fields.js';
import { checkRequestHead, upgradeWithBody, type CheckedHead } from '../../http/request-syntax.js';
import type { Exchange, Listener, ListenerOptions, RequestHandler, TunnelAcceptance } from '../listener.js';
import { oneTurn, OpenRequests } from '../open-requests.js';
import { statusLine } from '../status-text.js';

/** What the parser takes before the road's own, configurable limits are looked at; beyond → 431. */
const headBytesMax = 340 * 1024;

/** Connections that the kernel holds until they are taken. */
const backlog = 511;

/** RFC 6455 section 1.3. */
const handshakeGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Several threads can listen on one port since Node 22.12 (`reusePort`); before, one thread does. */
export function canSharePort(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major > 22 || (major === 22 && minor >= 12)) && process.platform === 'linux';
}

function headOf(request: IncomingMessage): RequestHead {
  const { socket } = request;
  let clientIp = socket.remoteAddress ?? '';
  if (clientIp.startsWith('::ffff:')) clientIp = clientIp.slice(7);
  return {
    method: request.method ?? '',
    uri: request.url ?? '',
    protocol: `HTTP/${request.httpVersion}`,
    headers: trimValues(request.rawHeaders),
    clientIp,
    clientPort: socket.remotePort ?? 0,
    serverIp: socket.localAddress ?? '',
    serverPort: socket.localPort ?? 0,
  };
}

/** llhttp trims spaces at the front only. */
function trimValues(raw: string[]): string[] {
  for (let index = 1; index < raw.length; index += 2) {
    const value = raw[index] as string;
    const last = value.charCodeAt(value.length - 1);
    if (last === 0x20 || last === 0x09) raw[index] = trimEnd(value);
  }
  return raw;
}

function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && (value.charCodeAt(end - 1) === 0x20 || value.charCodeAt(end - 1) === 0x09)) end -= 1;
  return value.slice(0, end);
}

abstract class NodeExchange implements Exchange {
  onAbort: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  readonly isTls = false;
  readonly tunnelsRawBytes = true;
  isOver = false;
  /** In the listener's roster. */
  place = -1;
  abstract readonly relaysTrailers: boolean;
  readonly framing;
  readonly refusal;

  constructor(
    readonly head: RequestHead,
    checked: CheckedHead,
    protected readonly open: OpenRequests<NodeExchange>,
  ) {
    this.framing = checked.framing;
    this.refusal = checked.refusal;
  }

  abstract readonly isUpgrade: boolean;
  abstract readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void;
  abstract pauseBody(): void;
  abstract resumeBody(): void;
  abstract respond(status: number, headers: readonly string[], body: string | Buffer, closeConnection: boolean): void;
  abstract relayInterim(status: number, reason: string, headers: readonly string[]): void;
  abstract startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void;
  abstract respondBodyless(
    status: number,
    reason: string,
    headers: readonly string[],
    declaredBytes: number | null,
  ): void;
  abstract write(chunk: Buffer): boolean;
  abstract endResponse(trailers: readonly string[] | null): void;
  abstract close(): void;
  abstract acceptTunnel(tunnel: TunnelAcceptance): void;

  protected finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.open.delete(this);
  }

  protected aborted(): void {
    if (this.isOver) return;
    this.finish();
    this.onAbort?.();
  }
}

class RequestExchange extends NodeExchange {
  readonly isUpgrade = false;
  private declaredBytes: number | null = null;
  private writtenBytes = 0;
  /** The client was told that its connection ends with this answer: what it sends behind it is no request any more. */
  isLastOfConnection = false;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    head: RequestHead,
    checked: CheckedHead,
    /** It waits for 100 Continue before it sends its body. */
    private isExpectant: boolean,
    private readonly stallMs: number,
    open: OpenRequests<NodeExchange>,
  ) {
    super(head, checked, open);
    response.on('close', () => this.aborted());
    response.on('drain', () => {
      this.limitStall(0);
      this.onDrain?.();
    });
    response.on('error', () => this.aborted());
    request.on('error', () => this.aborted());
  }

  /** Only now: a request that is refused by its head need not send its body. */
  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    if (this.isExpectant) this.response.writeContinue();
    this.isExpectant = false;
    this.request.on('data', (chunk: Buffer) => {
      if (!this.isOver) onChunk(chunk, false);
    });
    this.request.on('end', () => {
      if (!this.isOver) onChunk(noBytes, true);
    });
  }
  pauseBody(): void {
    this.request.pause();
  }
  resumeBody(): void {
    this.request.resume();
  }

  private flat(headers: readonly string[], extra: readonly string[]): string[] {
    return extra.length === 0 ? (headers as string[]) : [...headers, ...extra];
  }

  respond(status: number, headers: readonly string[], body: string | Buffer, closeConnection: boolean): void {
    if (this.isOver) return;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    const extra = ['Content-Length', String(bytes.length)];
    // A client that was not told to go on may send its body or leave it: nothing that follows could be read with
    // certainty.
    this.isLastOfConnection = closeConnection || this.isExpectant || this.open.isStopping;
    if (this.isLastOfConnection) extra.push('Connection', 'close');
    this.finish();
    const { response } = this;
    const { socket } = response;
    const sent = this.head.method === 'HEAD' ? noBytes : bytes;
    const isRestComing = this.isRestComing;
    if (this.isLastOfConnection && isRestComing && socket !== null) {
      // The library would close the connection at once, and what the client is still sending would come back as a reset
      // that takes the answer away from it.
      socket.write(headText(status, '', [...headers, ...extra]), 'latin1');
      socket.end(sent);
    } else {
      this.writeHead(status, '', this.flat(headers, extra));
      response.end(sent);
    }
    if (isRestComing) this.discardRest();
  }

  private get isRestComing(): boolean {
    return !this.request.complete && (this.framing.kind !== 'none' || this.refusal !== null);
  }

  /** After an early answer: what is left of the request is read away for a while. */
  private discardRest(): void {
    const { request } = this;
    request.on('data', () => {});
    request.resume();
    setTimeout(() => {
      if (this.isLastOfConnection || !request.complete) request.socket.destroy();
    }, discardMsMax).unref();
  }

  /** The library waits for ever for a client that does not read: no byte taken for so long is the end. 0 = no limit. */
  private limitStall(stallMs: number): void {
    this.response.socket?.setTimeout(stallMs);
  }

  private writeHead(status: number, reason: string, headers: readonly string[]): void {
    if (this.open.isStopping && !this.isRestComing) {
      this.isLastOfConnection = true;
      this.response.shouldKeepAlive = false; // the library says so to the client, and closes behind the answer
    }
    const text = statusLine(status, reason).slice(4);
    this.response.writeHead(status, text, headers as unknown as string[]);
  }

  /** HTTP/1.0 knows neither chunks nor interim responses. */
  get relaysTrailers(): boolean {
    return this.request.httpVersionMinor === 1;
  }

  relayInterim(status: number, reason: string, headers: readonly string[]): void {
    const { response } = this;
    if (this.isOver || response.headersSent || response.socket === null || this.request.httpVersionMinor === 0) return;
    response.socket.write(headText(status, reason, headers), 'latin1');
  }

  startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void {
    if (this.isOver) return;
    this.declaredBytes = bodyBytes;
    this.writeHead(
      status,
      reason,
      bodyBytes === null ? headers : this.flat(headers, ['Content-Length', String(bodyBytes)]),
    );
    if (bodyBytes === null) this.response.flushHeaders();
  }

  respondBodyless(status: number, reason: string, headers: readonly string[], declaredBytes: number | null): void {
    if (this.isOver) return;
    this.writeHead(
      status,
      reason,
      declaredBytes !== null && status !== 204
        ? this.flat(headers, ['Content-Length', String(declaredBytes)])
        : headers,
    );
    this.finish();
    this.response.end();
    if (this.isRestComing) this.discardRest();
  }

  write(chunk: Buffer): boolean {
    if (this.isOver) return true;
    this.writtenBytes += chunk.length;
    // borrowed bytes; the library may hold them until the socket takes them
    const isFlowing = this.response.write(Buffer.from(chunk));
    if (!isFlowing) this.limitStall(this.stallMs);
    return isFlowing;
  }

  endResponse(trailers: readonly string[] | null): void {
    if (this.isOver) return;
    if (this.declaredBytes !== null && this.writtenBytes !== this.declaredBytes) {
      this.close();
      return;
    }
    this.finish();
    if (trailers !== null && this.declaredBytes === null) this.response.addTrailers(pairsOf(trailers));
    this.response.end();
    if (this.response.writableLength > 0) this.limitStall(this.stallMs);
    if (this.isRestComing) this.discardRest();
  }

  close(): void {
    if (this.isOver) return;
    this.finish();
    const { socket } = this.request;
    // Where the end of the connection is the end of the body, an orderly one would say that this was all.
    if (this.response.headersSent && this.declaredBytes === null && !this.response.chunkedEncoding)
      socket.resetAndDestroy();
    else socket.destroy();
  }

  acceptTunnel(tunnel: TunnelAcceptance): void {
    tunnel.closeUpstream();
    this.close();
  }
}

interface Served {
  /** The latest that was begun. */
  exchange: RequestExchange | null;
  /** Of the latest request, begun or not. */
  response: ServerResponse;
}

/**
 * The requests of a connection, one after another: a pipelined one begins when the answer before it is out. The library
 * would begin it at once, and tells nobody but the one whose turn it is that the client has gone.
 */
class Turns {
  private readonly served = new WeakMap<object, Served>(); // by connection

  constructor(
    private readonly begin: (
      request: IncomingMessage,
      response: ServerResponse,
      isExpectant: boolean,
    ) => RequestExchange,
  ) {}

  take(request: IncomingMessage, response: ServerResponse, isExpectant = false): void {
    const served = this.served.get(request.socket);
    if (served === undefined) {
      const first: Served = { exchange: null, response };
      this.served.set(request.socket, first);
      first.exchange = this.begin(request, response, isExpectant);
      return;
    }
    const before = served.response;
    served.response = response;
    const start = (): void => {
      if (served.exchange?.isLastOfConnection === true) return; // RFC 9112 section 9.6: not to be processed
      served.exchange = this.begin(request, response, isExpectant);
    };
    if (response.socket === null) before.once('finish', start);
    else start();
  }

  isBusy(socket: Socket): boolean {
    return this.served.get(socket)?.response.writableFinished === false;
  }

  /**
   * What follows the latest request of this connection is no request. True: that one is whole, so it gets its own
   * answer first, never the refusal of what came after it; the connection ends then. So it does where an answer said
   * so.
   */
  outliveGarbage(socket: Socket): boolean {
    const served = this.served.get(socket);
    if (served === undefined) return false;
    const { response } = served;
    if (served.exchange?.isLastOfConnection === true) return true;
    if (response.writableEnded) return !response.shouldKeepAlive; // an answer that says "close" is the last thing a client hears
    if (!response.req.complete) return false;
    response.shouldKeepAlive = false;
    return true;
  }
}

class UpgradeExchange extends NodeExchange {
  readonly relaysTrailers = false; // after a refused handshake the body ends with the connection
  private endsWithConnection = false;
  private readonly early: Buffer[] = [];
  private earlyBytes = 0;
  private onBytes = (chunk: Buffer): void => this.keep(chunk);

  constructor(
    private readonly socket: Socket,
    early: Buffer,
    head: RequestHead,
    checked: CheckedHead,
    private readonly key: string,
    /**
     * False: another protocol (h2c…), which may be ignored. The request is answered as if it had not asked, and the
     * connection ends.
     */
    readonly isUpgrade: boolean,
    private readonly stallMs: number,
    open: OpenRequests<NodeExchange>,
  ) {
    super(head, checked, open);
    socket.on('error', () => this.aborted());
    socket.on('close', () => this.aborted());
    socket.on('drain', () => {
      socket.setTimeout(0);
      this.onDrain?.();
    });
    if (early.length > 0) this.keep(early);
    // Read, so that a client that leaves is noticed.
    socket.on('data', (chunk) => this.onBytes(chunk));
    socket.on('end', () => socket.destroy());
    socket.on('timeout', () => socket.destroy()); // set only while a write waits; one listener, however often one does
  }

  /** What comes before anybody wants it. */
  private keep(chunk: Buffer): void {
    this.early.push(chunk);
    this.earlyBytes += chunk.length;
    if (this.earlyBytes > earlyBytesMax) this.socket.pause();
  }

  private takeOver(onBytes: (chunk: Buffer) => void): void {
    this.onBytes = onBytes;
    for (const chunk of this.early.splice(0)) onBytes(chunk);
    this.socket.resume();
  }

  /**
   * The library hands over the bare socket, so a body is counted here; what follows it is no request of ours any more.
   */
  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    if (this.head.protocol === 'HTTP/1.1' && findField(this.head.headers, 'expect') !== null)
      this.socket.write('HTTP/1.1 100 Continue\r\n\r\n'); // no other expectation gets here
    let leftBytes = this.framing.kind === 'length' ? this.framing.bytes : 0;
    const take = (bytes: Buffer): void => {
      if (this.isOver || leftBytes === 0) return;
      const chunk = bytes.subarray(0, leftBytes);
      leftBytes -= chunk.length;
      onChunk(chunk, leftBytes === 0);
    };
    queueMicrotask(() => this.takeOver(take));
  }
  pauseBody(): void {
    this.socket.pause();
  }
  resumeBody(): void {
    this.socket.resume();
  }

  respond(status: number, headers: readonly string[], body: string | Buffer): void {
    if (this.isOver) return;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    this.finish();
    this.socket.write(
      headText(status, '', [...headers, 'Content-Length', String(bytes.length), 'Connection', 'close']),
      'latin1',
    );
    this.socket.end(this.head.method === 'HEAD' ? noBytes : bytes);
  }
  relayInterim(status: number, reason: string, headers: readonly string[]): void {
    if (!this.isOver && this.head.protocol !== 'HTTP/1.0')
      this.socket.write(headText(status, reason, headers), 'latin1');
  }
  startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void {
    if (this.isOver) return;
    this.endsWithConnection = bodyBytes === null;
    const length = bodyBytes === null ? [] : ['Content-Length', String(bodyBytes)];
    this.socket.write(headText(status, reason, [...headers, ...length, 'Connection', 'close']), 'latin1');
  }
  respondBodyless(status: number, reason: string, headers: readonly string[], declaredBytes: number | null): void {
    if (this.isOver) return;
    this.finish();
    const length = declaredBytes === null || status === 204 ? [] : ['Content-Length', String(declaredBytes)];
    this.socket.end(headText(status, reason, [...headers, ...length, 'Connection', 'close']), 'latin1');
  }
  write(chunk: Buffer): boolean {
    if (this.isOver) return true;
    const isFlowing = this.socket.write(Buffer.from(chunk));
    if (!isFlowing) this.socket.setTimeout(this.stallMs);
    return isFlowing;
  }
  endResponse(_trailers: readonly string[] | null): void {
    if (this.isOver) return;
    this.finish();
    this.socket.end();
  }
  close(): void {
    if (this.isOver) return;
    this.finish();
    if (this.endsWithConnection)
      this.socket.resetAndDestroy(); // an orderly end would say that this was all
    else this.socket.destroy();
  }

  acceptTunnel(tunnel: TunnelAcceptance): void {
    if (this.isOver) {
      tunnel.closeUpstream();
      return;
    }
    const { socket } = this;
    const accept = createHash('sha1')
      .update(this.key + handshakeGuid)
      .digest('base64');
    const own = ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', accept];
    if (tunnel.protocol !== null) own.push('Sec-WebSocket-Protocol', tunnel.protocol);
    const kept: string[] = [];
    for (let index = 0; index < tunnel.headers.length; index += 2) {
      const lower = (tunnel.headers[index] as string).toLowerCase();
      if (lower.startsWith('sec-websocket-') && lower !== 'sec-websocket-extensions') continue;
      kept.push(tunnel.headers[index] as string, tunnel.headers[index + 1] as string);
    }
    socket.write(headText(101, 'Switching Protocols', [...own, ...kept]), 'latin1');
    socket.setTimeout(0);
    tunnel.opened({
      send: (bytes) => socket.write(Buffer.from(bytes)),
      end: () => {
        this.finish();
        socket.end();
      },
    });
    this.takeOver((chunk) => {
      if (!tunnel.sendUpstream(chunk)) socket.pause();
    });
  }
}

/** Of a client that talks WebSocket before it was told that it may. */
const earlyBytesMax = 64 * 1024;

function pairsOf(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < fields.length; index += 2)
    pairs.push([fields[index] as string, fields[index + 1] as string]);
  return pairs;
}

/** How long an answered client may go on sending the request. */
const discardMsMax = 5000;

const noBytes = Buffer.alloc(0);

function headText(status: number, reason: string, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${statusLine(status, reason)}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}\r\n`;
}

/** What llhttp itself refuses never becomes a request: it is answered here and the connection closed. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, handler: RequestHandler): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const { headers, body } = handler.onUnreadable(status);
  socket.end(
    `${headText(status, '', [...headers, 'Connection', 'close', 'Content-Length', String(Buffer.byteLength(body))])}${body}`,
  );
}

function isWebSocketHandshake(request: IncomingMessage): boolean {
  return (
    request.method === 'GET' &&
    (request.headers.upgrade ?? '').toLowerCase() === 'websocket' &&
    typeof request.headers['sec-websocket-key'] === 'string'
  );
}

export function listenNode(options: ListenerOptions): Promise<Listener> {
  const open = new OpenRequests<NodeExchange>();
  const tunnels = new Set<Socket>();
  const { timeouts } = options;
  const server: Server = createServer({
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
  const turns = new Turns((request, response, isExpectant) => {
    const head = headOf(request);
    const checked = checkRequestHead(head.method, head.uri, head.protocol, head.headers, options.limits());
    const exchange = new RequestExchange(
      request,
      response,
      head,
      checked,
      isExpectant && checked.framing.kind !== 'none',
      timeouts.clientIdleMs,
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
  const takeBare = (request: IncomingMessage, duplex: Socket, early: Buffer): void => {
    if (turns.isBusy(duplex)) {
      duplex.destroy(); // pipelined behind a request that is not answered yet: two would write into each other's answer
      return;
    }
    const head = headOf(request);
    const checked = checkRequestHead(head.method, head.uri, head.protocol, head.headers, options.limits());
    tunnels.add(duplex);
    duplex.on('close', () => tunnels.delete(duplex));
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
      timeouts.clientIdleMs,
      open,
    );
    open.add(exchange);
    options.handler.onRequest(exchange);
  };
  server.on('upgrade', takeBare);
  // refused by its head; without this the library would close the connection and say nothing
  server.on('connect', takeBare);

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    let taken = 0;
    server.on('connection', () => (taken += 1));
    const where = {
      host: options.host,
      port: options.port,
      backlog,
      ...(options.sharedPort && canSharePort() ? { reusePort: true } : {}),
    };
    server.listen(where, () => {
      server.off('error', reject);
      const { port } = server.address() as AddressInfo;
      const stop = async (drainMs: number, onClosed?: () => void): Promise<void> => {
        open.isStopping = true;
        // The library takes one connection a turn.
        for (let turn = 0, before = -1; turn < backlog && taken > before; turn += 1) {
          before = taken;
          await oneTurn();
        }
        // The library's own `close` would cut idle connections at once, with what may be on its way on them.
        NetServer.prototype.close.call(server, () => open.finish());
        onClosed?.();
        await open.drain(drainMs);
        for (const socket of tunnels) socket.destroy();
        server.closeAllConnections();
      };
      resolve({ port, stop });
    });
  });
}
