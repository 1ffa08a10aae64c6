// One request to an upstream, across the connections it may need. Whether it may be sent again is decided here, and
// nowhere else.
import type { ProxyError } from '../contract/errors.js';
import type { UpstreamExchange, UpstreamHandler, UpstreamRequest } from './exchange.js';

/** Methods that may be repeated (RFC 9110 section 9.2.2). */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);
const attemptsMax = 3;

/** What an attempt needs of the connection that carries it. */
export interface Carrier {
  write(chunk: Buffer): boolean;
  finishBody(): void;
  pause(): void;
  resume(): void;
  outlast(): void;
  destroy(): void;
  readonly unsentBytes: number;
}

/** What an attempt needs of its pool: another connection. */
export interface AttemptStarter {
  retries: number;
  start(attempt: Attempt): void;
}

/** One of several upstreams that a request was sent to, and the way to the others (several/group.ts). */
export interface AttemptRoute {
  answered(): void;
  failed(error: ProxyError): void;
  /** Where to send it instead; null = nowhere. From then on this route stands for that place. */
  elsewhere(request: UpstreamRequest): { readonly pool: AttemptStarter; readonly request: UpstreamRequest } | null;
}

export class Attempt implements UpstreamExchange {
  tries = 0;
  queuedAtMs = 0;
  isOver = false;
  hasHead = false;
  private connection: Carrier | null = null;
  private held: Buffer[] = [];
  private isHeldEnd = false;

  constructor(
    private pool: AttemptStarter,
    public request: UpstreamRequest,
    readonly handler: UpstreamHandler,
    private readonly route: AttemptRoute | null = null,
  ) {}

  /** It may be sent a second time though the first may have had an effect (RFC 9110 section 9.2.2). */
  get isRepeatable(): boolean {
    return !this.request.isStreaming && idempotent.has(this.request.method);
  }

  /** Its response has begun. */
  answered(): void {
    this.hasHead = true;
    this.route?.answered();
  }

  attach(connection: Carrier): void {
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
  outlast(): void {
    this.connection?.outlast();
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
   * `elsewhere`: nothing was sent, and this upstream would not take it a second time either.
   */
  fail(error: ProxyError, repeat: 'never' | 'idempotent' | 'always' | 'elsewhere' = 'never'): void {
    if (this.isOver) return;
    this.connection = null;
    const mayRepeat = !this.request.isStreaming && !this.hasHead;
    if (
      mayRepeat &&
      this.tries < attemptsMax &&
      (repeat === 'always' || (repeat === 'idempotent' && this.isRepeatable))
    ) {
      this.pool.retries += 1;
      this.pool.start(this);
      return;
    }
    this.route?.failed(error);
    const isUnanswered = this.isRepeatable && error.code === 'PXY_UPSTREAM_RESET';
    if (mayRepeat && (repeat === 'elsewhere' || isUnanswered) && this.move()) return;
    this.isOver = true;
    this.handler.onError(error);
  }

  private move(): boolean {
    const next = this.route?.elsewhere(this.request) ?? null;
    if (next === null) return false;
    this.pool = next.pool;
    this.request = next.request;
    this.tries = 0;
    this.pool.start(this);
    return true;
  }
}
