// The connections of one worker to one upstream, on plain sockets: measured ten microseconds a request cheaper than
// undici's pool, and the parser's strictness is ours to decide. Requests beyond the connections wait, up to a number
// and for a time.
import { Attempt, type AttemptStarter } from './attempt.js';
import { Connection, type ConnectionOwner } from './connection.js';
import type { UpstreamExchange, UpstreamHandler, UpstreamOptions, UpstreamRequest } from './exchange.js';
import { tooManyWait, waitedTooLong } from './failures.js';

const sweepEveryMs = 250;

export class UpstreamPool implements AttemptStarter, ConnectionOwner {
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
    queueMicrotask(() => attempt.fail(tooManyWait(this.options)));
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

  /**
   * A request waits and no connection is free: the slowest client that one is kept for gives way. `forget` hands its
   * place on.
   */
  private makeRoom(): void {
    let slowest: Connection | null = null;
    let pace = Number.POSITIVE_INFINITY;
    for (const connection of this.connections) {
      const { yieldingPace } = connection;
      if (yieldingPace === null || yieldingPace >= pace) continue;
      slowest = connection;
      pace = yieldingPace;
    }
    slowest?.giveWay();
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
    for (let waiting = this.waiters.length; waiting > 0; waiting -= 1) this.makeRoom();
    const { connectTimeoutMs } = this.options;
    for (const waiting of [...this.waiters]) {
      if (!waiting.isOver && nowMs - waiting.queuedAtMs < connectTimeoutMs) continue;
      this.waiters.splice(this.waiters.indexOf(waiting), 1);
      if (!waiting.isOver) waiting.fail(waitedTooLong(this.options));
    }
  }
}
