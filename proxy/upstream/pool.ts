// The connections of one worker to one upstream, on plain sockets: measured ten microseconds a request cheaper than
// undici's pool, and the parser's strictness is ours to decide. Requests beyond the connections wait, up to a number
// and for a time.
import { Addresses } from './addresses.js';
import { Attempt, type AttemptRoute, type AttemptStarter } from './attempt.js';
import { Connection, type ConnectionOwner } from './connection.js';
import type { UpstreamExchange, UpstreamHandler, UpstreamOptions, UpstreamRequest } from './exchange.js';
import { IdleTime } from './idle-time.js';
import { tooManyWait, waitedTooLong } from './failures.js';
import { watchEvery, type Watch } from '../time/late-timers.js';

const sweepEveryMs = 250;

export class UpstreamPool implements AttemptStarter, ConnectionOwner {
  private readonly idle: Connection[] = [];
  private readonly connections = new Set<Connection>();
  /** Of them, those whose response lasts. */
  private readonly apart = new Set<Connection>();
  private readonly waiters: Attempt[] = [];
  private readonly sweeper: Watch;
  private isClosed = false;
  /** Requests whose connection died before any answer and that were sent again. */
  retries = 0;
  opened = 0;

  readonly addresses: Addresses;
  readonly idleTime: IdleTime;

  constructor(readonly options: UpstreamOptions) {
    const { host, resolveMs, keepAliveMs, resolve } = options;
    this.addresses = new Addresses(host, resolveMs, (current) => this.moveTo(current), resolve);
    this.idleTime = new IdleTime(keepAliveMs);
    this.sweeper = watchEvery(sweepEveryMs, (nowMs, stoodStillMs) => this.sweep(nowMs, stoodStillMs));
  }

  get openConnections(): number {
    return this.connections.size;
  }

  /**
   * Sends a request; the handler hears of everything that follows. Never throws, never calls back before it returns.
   */
  dispatch(request: UpstreamRequest, handler: UpstreamHandler, route: AttemptRoute | null = null): UpstreamExchange {
    const attempt = new Attempt(this, request, handler, route);
    this.start(attempt);
    return attempt;
  }

  /** The one that was used last, if it may carry this request. */
  private takeIdle(attempt: Attempt, nowMs: number): Connection | undefined {
    const limitMs = this.idleTime.limitMs(attempt.isRepeatable, nowMs);
    for (let last = this.idle.at(-1); last !== undefined; last = this.idle.at(-1)) {
      if (last.isUsable && !last.isExpired(nowMs)) {
        if (nowMs - last.idleSinceMs > limitMs) return undefined; // the others have been idle for longer
        return this.idle.pop();
      }
      this.idle.pop();
      last.destroy();
    }
    return undefined;
  }

  start(attempt: Attempt): void {
    const nowMs = performance.now();
    // A second try gets a fresh connection.
    let connection = attempt.tries === 0 ? this.takeIdle(attempt, nowMs) : undefined;
    if (connection === undefined) {
      if (this.isFull) this.idle[0]?.destroy(); // it may not carry this one
      if (this.isFull) {
        this.queue(attempt);
        return;
      }
      connection = new Connection(this);
      this.connections.add(connection);
      this.opened += 1;
    }
    connection.send(attempt, nowMs);
  }

  private get isFull(): boolean {
    return this.connections.size - this.apart.size >= this.options.connectionsMax;
  }

  private queue(attempt: Attempt): void {
    if (this.waiters.length < this.options.waitersMax) {
      attempt.queuedAtMs = performance.now();
      this.waiters.push(attempt);
      return;
    }
    queueMicrotask(() => attempt.fail(tooManyWait(this.options), 'elsewhere'));
  }

  /** A connection finished its request and can take another. */
  takeBack(connection: Connection): void {
    const nowMs = performance.now();
    if (this.isClosed || connection.isExpired(nowMs)) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = nowMs;
    let waiting = this.waiters.shift();
    while (waiting !== undefined && waiting.isOver) waiting = this.waiters.shift();
    if (waiting !== undefined) {
      connection.send(waiting, nowMs);
      return;
    }
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
      if (this.apart.has(connection)) continue; // its end would make no room
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
    if (!this.apart.delete(connection)) this.startWaiting();
  }

  /** Its place goes to the next request. */
  setApart(connection: Connection): void {
    if (!this.connections.has(connection) || this.apart.has(connection)) return;
    this.apart.add(connection);
    this.startWaiting();
  }

  private startWaiting(): void {
    if (this.isClosed) return;
    let waiting = this.waiters.shift();
    while (waiting !== undefined && waiting.isOver) waiting = this.waiters.shift();
    if (waiting !== undefined) this.start(waiting);
  }

  /** Idle connections close now, busy ones when their request ends. */
  close(): void {
    this.isClosed = true;
    for (const connection of [...this.idle]) connection.destroy();
    if (this.connections.size === 0) this.sweeper.stop(); // else the sweep behind the last one's end does
  }

  /** The name leads elsewhere now: connections to other addresses end, those that carry a request behind it. */
  private moveTo(addresses: ReadonlySet<string>): void {
    for (const connection of [...this.connections]) {
      const { address } = connection;
      if (address === '' || addresses.has(address) || addresses.has(address.replace(/^::ffff:/, ''))) continue;
      connection.isRetired = true;
      if (this.idle.includes(connection)) connection.destroy();
    }
  }

  private sweep(nowMs: number, stoodStillMs: number): void {
    if (this.isClosed && this.connections.size === 0) this.sweeper.stop();
    if (this.connections.size > 0) this.addresses.refreshIfDue(nowMs);
    for (const connection of [...this.connections]) connection.checkDeadline(nowMs, stoodStillMs);
    for (let waiting = this.waiters.length; waiting > 0; waiting -= 1) this.makeRoom();
    const { connectTimeoutMs } = this.options;
    for (const waiting of [...this.waiters]) {
      waiting.queuedAtMs += stoodStillMs;
      if (!waiting.isOver && nowMs - waiting.queuedAtMs < connectTimeoutMs) continue;
      this.waiters.splice(this.waiters.indexOf(waiting), 1);
      if (!waiting.isOver) waiting.fail(waitedTooLong(this.options), 'elsewhere');
    }
  }
}
