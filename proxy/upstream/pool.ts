// Keep-alive connections to one upstream, on plain sockets: measured ten microseconds a request cheaper than undici's
// pool, and the parser's strictness is ours to decide. One request at a time per connection; no pipelining. Deadlines
// are of the monotonic clock: a step of the wall clock must not end every request under way.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProxyError } from '../contract/errors.js';
import { outbox, type OutboxWriter } from './outbox.js';
import { ResponseParser, type ResponseSink, type UpstreamHead } from './response-parser.js';

export type { UpstreamHead } from './response-parser.js';

export interface UpstreamOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Name for SNI and certificate checks. */
  readonly serverName: string;
  readonly verifyCertificate: boolean;
  readonly connectionsMax: number;
  readonly waitersMax: number;
  readonly connectTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  readonly keepAliveMs: number;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Request line and headers with the final blank line, latin1. */
  readonly head: string;
  /** The whole body when it is known; null when there is none or it is written with `write`. */
  readonly body: Buffer | null;
  /** More body follows through `write` and `end`: then nothing can be sent twice. */
  readonly isStreaming: boolean;
}

/** All calls come in order: onInterim…, onHead, onData…, then exactly one of onEnd and onError. */
export interface UpstreamHandler {
  /** A 1xx response other than 101. */
  onInterim(head: UpstreamHead): void;
  onHead(head: UpstreamHead): void;
  /** Borrowed bytes, valid during the call. */
  onData(chunk: Buffer): void;
  /** `trailers`: those behind a chunked body, as sent; null when there are none. */
  onEnd(trailers: readonly string[] | null): void;
  onError(error: ProxyError): void;
  /** The upstream takes more body again, after `write` returned false. */
  onDrain(): void;
}

/** A request under way; what the road holds on to. */
export interface UpstreamExchange {
  write(chunk: Buffer): boolean;
  end(): void;
  /** Stops and restarts the flow of the response (backpressure). */
  pause(): void;
  resume(): void;
  /** Bytes written and not yet taken by the upstream. */
  readonly unsentBytes: number;
  /** Gives up: the connection is closed, no further call comes. */
  abort(): void;
}

const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);
const attemptsMax = 3;
const sweepEveryMs = 250;
/** Head and body up to here leave in one write: a gathering write costs more than copying a small body. */
const joinedBytesMax = 16 * 1024;

/** One receive buffer for all upstream sockets of this thread: bytes are used or copied before the next read. */
const receiveBuffer = Buffer.allocUnsafeSlow(64 * 1024);

export class UpstreamPool {
  private readonly idle: Connection[] = [];
  private readonly connections = new Set<Connection>();
  private readonly waiters: Attempt[] = [];
  private readonly sweeper: NodeJS.Timeout;
  private isClosed = false;
  /** Requests whose connection died before any answer and that were sent again. */
  retries = 0;
  opened = 0;

  constructor(readonly options: UpstreamOptions) {
    this.sweeper = setInterval(() => this.sweep(performance.now()), sweepEveryMs);
    this.sweeper.unref();
  }

  get openConnections(): number {
    return this.connections.size;
  }

  /**
   * Sends a request; the handler hears of everything that follows. Never throws, never calls back before it returns.
   */
  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange {
    const attempt = new Attempt(this, request, handler);
    this.start(attempt);
    return attempt;
  }

  start(attempt: Attempt): void {
    let connection = attempt.tries === 0 ? this.idle.pop() : undefined; // a second try gets a fresh connection
    while (connection !== undefined && !connection.isUsable) connection = this.idle.pop();
    if (connection === undefined) {
      if (this.connections.size >= this.options.connectionsMax) {
        this.queue(attempt);
        return;
      }
      connection = new Connection(this);
      this.connections.add(connection);
      this.opened += 1;
    }
    connection.send(attempt);
  }

  private queue(attempt: Attempt): void {
    if (this.waiters.length < this.options.waitersMax) {
      attempt.queuedAtMs = performance.now();
      this.waiters.push(attempt);
      return;
    }
    queueMicrotask(() =>
      attempt.fail(
        new ProxyError(
          'PXY_UPSTREAM_BUSY',
          `all ${this.options.connectionsMax} connections to the upstream are busy and ${this.options.waitersMax} requests wait already`,
        ),
      ),
    );
  }

  /** A connection finished its request and can take another. */
  takeBack(connection: Connection): void {
    if (this.isClosed) {
      connection.destroy();
      return;
    }
    let waiting = this.waiters.shift();
    while (waiting !== undefined && waiting.isOver) waiting = this.waiters.shift();
    if (waiting !== undefined) {
      connection.send(waiting);
      return;
    }
    connection.idleSinceMs = performance.now();
    this.idle.push(connection);
  }

  forget(connection: Connection): void {
    if (!this.connections.delete(connection)) return;
    const at = this.idle.indexOf(connection);
    if (at !== -1) this.idle.splice(at, 1);
    if (this.isClosed) return;
    let waiting = this.waiters.shift();
    while (waiting !== undefined && waiting.isOver) waiting = this.waiters.shift();
    if (waiting !== undefined) this.start(waiting);
  }

  /** Idle connections close now, busy ones when their request ends. */
  close(): void {
    this.isClosed = true;
    clearInterval(this.sweeper);
    for (const connection of [...this.idle]) connection.destroy();
    if (this.connections.size > 0) {
      const drain = setInterval(() => {
        this.sweep(performance.now());
        if (this.connections.size === 0) clearInterval(drain);
      }, sweepEveryMs);
      drain.unref();
    }
  }

  private sweep(nowMs: number): void {
    for (const connection of [...this.connections]) connection.checkDeadline(nowMs);
    const { connectTimeoutMs } = this.options;
    for (const waiting of [...this.waiters]) {
      if (!waiting.isOver && nowMs - waiting.queuedAtMs < connectTimeoutMs) continue;
      this.waiters.splice(this.waiters.indexOf(waiting), 1);
      if (!waiting.isOver)
        waiting.fail(
          new ProxyError(
            'PXY_UPSTREAM_BUSY',
            `no connection to the upstream became free within ${connectTimeoutMs} ms`,
          ),
        );
    }
  }
}

/** One request on its way, across the connections it may need. */
class Attempt implements UpstreamExchange {
  tries = 0;
  queuedAtMs = 0;
  isOver = false;
  hasHead = false;
  private connection: Connection | null = null;
  private held: Buffer[] = [];
  private isHeldEnd = false;

  constructor(
    private readonly pool: UpstreamPool,
    readonly request: UpstreamRequest,
    readonly handler: UpstreamHandler,
  ) {}

  attach(connection: Connection): void {
    this.connection = connection;
    this.tries += 1;
    if (this.held.length > 0) {
      let isFlowing = true;
      for (const chunk of this.held.splice(0)) isFlowing = connection.write(chunk) && isFlowing;
      if (isFlowing) this.handler.onDrain(); // whoever was told to wait waits for this; the socket has nothing to say
    }
    if (this.isHeldEnd) connection.finishBody();
  }

  write(chunk: Buffer): boolean {
    if (this.isOver) return true;
    if (this.connection !== null) return this.connection.write(chunk);
    this.held.push(Buffer.from(chunk)); // no connection is free yet: hold it, ask for no more
    return false;
  }

  end(): void {
    if (this.connection !== null) this.connection.finishBody();
    else this.isHeldEnd = true;
  }

  get unsentBytes(): number {
    return this.connection?.unsentBytes ?? 0;
  }

  pause(): void {
    this.connection?.pause();
  }
  resume(): void {
    this.connection?.resume();
  }

  abort(): void {
    if (this.isOver) return;
    this.isOver = true;
    const { connection } = this;
    this.connection = null;
    connection?.destroy();
  }

  finished(trailers: readonly string[] | null): void {
    this.isOver = true;
    this.connection = null;
    this.handler.onEnd(trailers);
  }

  /**
   * Again, only where the application cannot have acted: nothing was sent; or a reused connection died before the first
   * byte (the upstream closed it while it was idle) and the method may be repeated anyway (RFC 9110 section 9.2.2).
   */
  fail(error: ProxyError, repeat: 'never' | 'idempotent' | 'always' = 'never'): void {
    if (this.isOver) return;
    this.connection = null;
    const isRepeatable = !this.request.isStreaming && !this.hasHead && this.tries < attemptsMax;
    if (isRepeatable && (repeat === 'always' || (repeat === 'idempotent' && idempotent.has(this.request.method)))) {
      this.pool.retries += 1;
      this.pool.start(this);
      return;
    }
    this.isOver = true;
    this.handler.onError(error);
  }
}

class Connection implements ResponseSink, OutboxWriter {
  idleSinceMs = 0;
  private readonly socket: Socket;
  private readonly parser = new ResponseParser(this);
  private attempt: Attempt | null = null;
  private isConnected = false;
  private isClosed = false;
  private isPaused = false;
  private hasBytes = false;
  private isBodySent = true;
  /** Of the request that leaves at the end of this turn; null = nothing waits. */
  private unsent: string | null = null;
  private served = 0;
  private deadlineMs = 0;
  private waitsFor: 'connect' | 'head' | 'body' | 'tunnel' | 'nothing' = 'connect';
  private lastError: Error | null = null;

  constructor(private readonly pool: UpstreamPool) {
    const { options } = pool;
    this.socket = options.tls ? this.openTls() : this.openTcp();
    this.socket.setNoDelay(true);
    this.socket.on('drain', () => this.attempt?.handler.onDrain());
    this.socket.on('error', (error) => {
      this.lastError = error;
    });
    this.socket.on('end', () => this.ended());
    this.socket.on('close', () => this.closed());
  }

  private openTcp(): Socket {
    const { host, port } = this.pool.options;
    const onread = {
      buffer: receiveBuffer,
      callback: (bytes: number): boolean => {
        this.received(receiveBuffer.subarray(0, bytes));
        return !this.isPaused;
      },
    };
    return connectTcp({ host, port, onread }, () => this.connected());
  }

  private openTls(): Socket {
    const { host, port, serverName, verifyCertificate } = this.pool.options;
    const socket = connectTls(
      { host, port, servername: serverName, rejectUnauthorized: verifyCertificate, ALPNProtocols: ['http/1.1'] },
      () => this.connected(),
    );
    socket.on('data', (chunk: Buffer) => this.received(chunk));
    return socket;
  }

  get isUsable(): boolean {
    return !this.isClosed && this.socket.writable;
  }

  get unsentBytes(): number {
    return this.socket.writableLength;
  }

  private connected(): void {
    this.isConnected = true;
    if (this.attempt !== null && this.waitsFor === 'connect') this.await('head');
  }

  send(attempt: Attempt): void {
    this.attempt = attempt;
    this.hasBytes = false;
    this.isPaused = false;
    this.isBodySent = !attempt.request.isStreaming;
    this.parser.begin(attempt.request.method);
    this.await(this.isConnected ? 'head' : 'connect');
    const { head, body } = attempt.request;
    if (attempt.request.isStreaming)
      this.socket.write(head, 'latin1'); // its body may follow at once
    else if (body === null || body.length <= joinedBytesMax) {
      this.unsent = body === null || body.length === 0 ? head : head + body.toString('latin1');
      outbox.add(this);
    } else {
      this.socket.cork();
      this.socket.write(head, 'latin1');
      this.socket.write(body);
      this.socket.uncork();
    }
    attempt.attach(this);
  }

  flush(): void {
    const { unsent } = this;
    this.unsent = null;
    if (unsent !== null && !this.isClosed) this.socket.write(unsent, 'latin1');
  }

  private await(what: 'connect' | 'head' | 'body'): void {
    const { options } = this.pool;
    this.waitsFor = what;
    const timeoutMs =
      what === 'connect'
        ? options.connectTimeoutMs
        : what === 'head'
          ? options.headTimeoutMs
          : options.bodyIdleTimeoutMs;
    this.deadlineMs = performance.now() + timeoutMs;
  }

  /** Borrowed bytes of the client's body. The wait for a response head starts anew with each. */
  write(chunk: Buffer): boolean {
    if (this.isClosed) return true;
    if (this.waitsFor === 'head') this.await('head');
    return this.socket.write(Buffer.from(chunk));
  }

  finishBody(): void {
    this.isBodySent = true;
    if (this.waitsFor === 'head') this.await('head');
  }

  pause(): void {
    if (this.isPaused || this.isClosed) return;
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    if (!this.isPaused || this.isClosed) return;
    this.isPaused = false;
    if (this.waitsFor === 'body') this.await('body');
    this.socket.resume();
  }

  destroy(): void {
    this.attempt = null;
    this.socket.destroy();
    this.closed();
  }

  private received(chunk: Buffer): void {
    if (this.attempt === null || this.unsent !== null) {
      // Bytes that nobody asked for: the next request would read them as its own answer.
      this.socket.destroy();
      this.closed();
      return;
    }
    this.hasBytes = true;
    if (this.waitsFor === 'body') this.deadlineMs = performance.now() + this.pool.options.bodyIdleTimeoutMs;
    try {
      const used = this.parser.push(chunk);
      if (used < chunk.length) this.destroy();
    } catch (error) {
      if (!(error instanceof ProxyError)) throw error;
      const { attempt } = this;
      this.destroy();
      attempt?.fail(error);
    }
  }

  onInterim(head: UpstreamHead): void {
    if (this.waitsFor === 'head') this.await('head'); // a sign of life; the parser limits how many there may be
    this.attempt?.handler.onInterim(head);
  }

  onHead(head: UpstreamHead): void {
    const { attempt } = this;
    if (attempt === null) return;
    attempt.hasHead = true;
    if (head.status === 101) this.waitsFor = 'tunnel';
    else this.await('body');
    attempt.handler.onHead(head);
  }

  onData(chunk: Buffer): void {
    this.attempt?.handler.onData(chunk);
  }

  onEnd(reusable: boolean, trailers: readonly string[] | null): void {
    const { attempt } = this;
    this.attempt = null;
    if (attempt === null) return;
    this.waitsFor = 'nothing';
    this.served += 1;
    // An answer before the whole request was sent: the rest of it must not be read as a next request.
    const isReusable = reusable && this.isBodySent && !this.isClosed && this.socket.writable;
    if (isReusable) {
      if (this.isPaused) {
        this.isPaused = false;
        this.socket.resume();
      }
      this.pool.takeBack(this);
    } else this.destroy();
    attempt.finished(trailers);
  }

  private ended(): void {
    const { attempt } = this;
    try {
      if (attempt !== null && this.parser.finish()) return;
    } finally {
      if (!this.isClosed) this.socket.destroy();
    }
  }

  private closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { attempt } = this;
    const isUnsent = this.unsent !== null;
    this.attempt = null;
    this.unsent = null;
    this.pool.forget(this);
    if (attempt === null) return;
    if (this.parser.isTunnel) {
      attempt.finished(null);
      return;
    }
    const cause = this.lastError === null ? {} : { cause: this.lastError };
    const { host, port } = this.pool.options;
    if (!this.isConnected) {
      attempt.fail(
        new ProxyError(
          'PXY_UPSTREAM_CONNECT',
          `cannot connect to the upstream ${host}:${port}: ${this.lastError?.message ?? 'closed'}`,
          cause,
        ),
      );
      return;
    }
    const repeat = isUnsent ? 'always' : this.served > 0 && !this.hasBytes ? 'idempotent' : 'never';
    attempt.fail(
      new ProxyError(
        'PXY_UPSTREAM_RESET',
        `the upstream ${host}:${port} closed the connection before its response was complete`,
        cause,
      ),
      repeat,
    );
  }

  checkDeadline(nowMs: number): void {
    const { options } = this.pool;
    if (this.attempt === null) {
      if (nowMs - this.idleSinceMs > options.keepAliveMs) this.destroy();
      return;
    }
    if (this.waitsFor === 'tunnel' || this.isPaused || nowMs < this.deadlineMs) return;
    if (!this.isBodySent && this.waitsFor === 'head') return; // the client is the slow one; its own timeout applies
    const { attempt } = this;
    const what = this.waitsFor;
    this.destroy();
    if (what === 'connect')
      attempt.fail(
        new ProxyError(
          'PXY_UPSTREAM_CONNECT_TIMEOUT',
          `no connection to the upstream ${options.host}:${options.port} within ${options.connectTimeoutMs} ms`,
        ),
      );
    else if (what === 'head')
      attempt.fail(
        new ProxyError('PXY_UPSTREAM_HEAD_TIMEOUT', `the upstream sent no response within ${options.headTimeoutMs} ms`),
      );
    else
      attempt.fail(
        new ProxyError(
          'PXY_UPSTREAM_BODY_TIMEOUT',
          `the upstream's response stood still for ${options.bodyIdleTimeoutMs} ms`,
        ),
      );
  }
}
