// One keep-alive connection to an upstream: one request at a time, no pipelining, and a deadline for whatever it waits
// for. Deadlines are of the monotonic clock: a step of the wall clock must not end every request under way.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProxyError } from '../contract/errors.js';
import type { Addresses } from './addresses.js';
import type { Attempt } from './attempt.js';
import type { UpstreamOptions } from './exchange.js';
import { DirectText } from './direct-text.js';
import { closedEarly, connectFailed, timedOut, timeoutMsOf, type Wait } from './failures.js';
import type { IdleTime } from './idle-time.js';
import { outbox, type OutboxWriter } from './outbox.js';
import { readTurns, type TurnReader } from './read-turns.js';
import type { UpstreamHead } from './response-head.js';
import { ResponseParser, type ResponseSink } from './response-parser.js';

/** Head and body up to here leave in one write: a gathering write costs more than copying a small body. */
const joinedBytesMax = 16 * 1024;

/** One receive buffer for all upstream sockets of this thread: bytes are used or copied before the next read. */
const receiveBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** What a connection needs of its pool. */
export interface ConnectionOwner {
  readonly options: UpstreamOptions;
  readonly addresses: Addresses;
  readonly idleTime: IdleTime;
  /** It finished its request and can take another. */
  takeBack(connection: Connection): void;
  /** It counts no more among those that requests share. */
  setApart(connection: Connection): void;
  /** It is closed. */
  forget(connection: Connection): void;
}

export class Connection implements ResponseSink, OutboxWriter, TurnReader {
  idleSinceMs = 0;
  /** It ends behind the request that it carries. */
  isRetired = false;
  readTurn = 0;
  readBytes = 0;
  isOutOfTurn = false;
  private readonly openedMs = performance.now();
  private readonly socket: Socket;
  /** null: over TLS. */
  private readonly direct: DirectText | null;
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
  private sentMs = 0;
  private deadlineMs = 0;
  private waitsFor: Wait | 'tunnel' | 'nothing' = 'connect';
  private lastError: Error | null = null;

  constructor(private readonly pool: ConnectionOwner) {
    const { options } = pool;
    this.socket = options.tls ? this.openTls() : this.openTcp();
    this.direct = options.tls ? null : new DirectText(this.socket);
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
    const { lookup } = this.pool.addresses;
    const onread = {
      buffer: receiveBuffer,
      callback: (bytes: number): boolean => {
        this.received(receiveBuffer.subarray(0, bytes));
        return readTurns.mayGoOn(this, bytes) && !this.isPaused;
      },
    };
    return connectTcp({ host, port, lookup, onread }, () => this.connected());
  }

  private openTls(): Socket {
    const { host, port, serverName, verifyCertificate } = this.pool.options;
    const socket = connectTls(
      {
        host,
        port,
        lookup: this.pool.addresses.lookup,
        servername: serverName,
        rejectUnauthorized: verifyCertificate,
        ALPNProtocols: ['http/1.1'],
      },
      () => this.connected(),
    );
    socket.on('data', (chunk: Buffer) => {
      this.received(chunk);
      if (!readTurns.mayGoOn(this, chunk.length)) socket.pause();
    });
    return socket;
  }

  get isUsable(): boolean {
    return !this.isClosed && this.socket.writable;
  }

  /** Of the client that it waits for, see UpstreamHandler; null where its request is not to give way. */
  get yieldingPace(): number | null {
    return this.attempt?.handler.yieldingPace ?? null;
  }

  giveWay(): void {
    this.attempt?.handler.giveWay?.();
  }

  get unsentBytes(): number {
    return this.socket.writableLength;
  }

  /** Where it leads; '' before it is connected. */
  get address(): string {
    return this.socket.remoteAddress ?? '';
  }

  /** It is to carry no further request: too old, or its address is no longer the upstream's. */
  isExpired(nowMs: number): boolean {
    return this.isRetired || nowMs - this.openedMs > this.pool.options.maxAgeMs;
  }

  private connected(): void {
    this.isConnected = true;
    if (this.attempt !== null && this.waitsFor === 'connect') this.await('head');
  }

  /** `nowMs`: of the monotonic clock, which is not asked again for each note of the same moment. */
  send(attempt: Attempt, nowMs: number): void {
    this.attempt = attempt;
    this.sentMs = nowMs;
    this.hasBytes = false;
    this.isPaused = false;
    this.isBodySent = !attempt.request.isStreaming;
    this.parser.begin(attempt.request.method);
    this.await(this.isConnected ? 'head' : 'connect', nowMs);
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
    if (unsent === null || this.isClosed) return;
    if (this.direct === null) this.socket.write(unsent, 'latin1');
    else this.direct.write(unsent);
  }

  private await(what: Wait, nowMs = performance.now()): void {
    const { options } = this.pool;
    this.waitsFor = what;
    this.deadlineMs = nowMs + timeoutMsOf(what, options);
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
    this.takeTurn();
  }

  outlast(): void {
    if (this.isClosed) return;
    this.isRetired = true;
    this.pool.setApart(this);
  }

  /** Reads the socket, if nobody has it wait: neither the client nor the turns of this thread. */
  takeTurn(): void {
    if (!this.isPaused && !this.isOutOfTurn && !this.isClosed) this.socket.resume();
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
    attempt.answered();
    if (this.parser.idleSeconds !== null) this.pool.idleTime.announced(this.parser.idleSeconds);
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
        this.takeTurn();
      }
      this.pool.takeBack(this);
    } else this.destroy();
    attempt.finished(trailers);
  }

  private ended(): void {
    const { attempt } = this;
    if (attempt === null) this.closedWhileIdle();
    try {
      if (attempt !== null && this.parser.finish()) return;
    } finally {
      if (!this.isClosed) this.socket.destroy();
    }
  }

  private closedWhileIdle(): void {
    const nowMs = performance.now();
    if (this.served > 0) this.pool.idleTime.closedAfter(nowMs - this.idleSinceMs, nowMs);
  }

  private closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { attempt } = this;
    const isUnsent = this.unsent !== null;
    this.attempt = null;
    this.unsent = null;
    this.pool.forget(this);
    if (attempt === null) {
      if (this.lastError !== null) this.closedWhileIdle();
      return;
    }
    if (this.parser.isTunnel) {
      attempt.finished(null);
      return;
    }
    const { options } = this.pool;
    if (!this.isConnected) {
      attempt.fail(connectFailed(options, this.lastError), 'elsewhere');
      return;
    }
    const isRace = !isUnsent && this.served > 0 && !this.hasBytes;
    if (isRace) this.pool.idleTime.raced(this.sentMs - this.idleSinceMs, this.sentMs);
    const repeat = isUnsent ? 'always' : isRace ? 'idempotent' : 'never';
    attempt.fail(closedEarly(options, this.lastError), repeat);
  }

  /** `stoodStillMs`: since the last call, for how long this thread could not have noticed an answer. */
  checkDeadline(nowMs: number, stoodStillMs: number): void {
    const { options } = this.pool;
    this.deadlineMs += stoodStillMs;
    if (this.attempt === null) {
      const limitMs = this.pool.idleTime.limitMs(true, nowMs);
      if (nowMs - this.idleSinceMs > limitMs || this.isExpired(nowMs)) this.destroy();
      return;
    }
    const { attempt, waitsFor: what } = this;
    if (what === 'tunnel' || what === 'nothing' || this.isPaused || nowMs < this.deadlineMs) return;
    if (!this.isBodySent && what === 'head') return; // the client is the slow one; its own timeout applies
    this.destroy();
    attempt.fail(timedOut(what, options), what === 'connect' ? 'elsewhere' : 'never');
  }
}
