// A connection of HTTP/2: its requests, how many of them, and what else its client may do on it.
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { RequestHead } from '#engine';
import type { ClientTls, ConnectionFacts } from '../../listeners/front/connection-facts.js';
import type { ListenerOptions } from '../../listeners/listener.js';
import type { Timed, TimeLimits } from '../../listeners/net/time-limits.js';
import type { OpenRequests } from '../../listeners/open-requests.js';
import type { Http2Excess } from '../../metrics/families.js';
import type { ActiveMember } from '../../worker/active-list.js';
import { allowances, Bucket, idleBytes } from './excess.js';
import { Http2Exchange, type Http2Home } from './exchange.js';
import { readHttp2Head } from './request-head.js';

/** Requests of a connection at a time, as its client is told. */
export const streamsMax = 100;

/**
 * Requests of a connection that one turn of the event loop begins; the others wait for the next, behind everybody else
 * who has sent something. A single read may hold a thousand. What is taken back meanwhile never begins.
 */
const begunPerTurnMax = 8;

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_REFUSED_STREAM } = constants;

export interface Http2ConnectionHome {
  readonly options: Pick<ListenerOptions, 'limits' | 'timeouts' | 'handler'>;
  readonly open: OpenRequests<Http2Exchange>;
  readonly limits: TimeLimits<Http2Connection>;
  onExcess(excess: Http2Excess, peerIp: string): void;
  /** Of its allowances, what a new connection of that address begins with; above 0, at most 1. */
  shareOf(peerIp: string): number;
  forget(connection: Http2Connection): void;
}

export class Http2Connection implements Http2Home, Timed, ActiveMember {
  place = -1;
  dueMs = Number.POSITIVE_INFINITY;
  bucket = -1;
  bucketPlace = 0;
  readonly tls: ClientTls;
  private readonly buckets: Readonly<Record<keyof typeof allowances, Bucket>>;
  private streams = 0;
  private isEnded = false;
  /** Streams that have come in this turn beyond what it begins, with their fields; at most `streamsMax`. */
  private readonly waiting = new Map<ServerHttp2Stream, readonly string[]>();
  private begunThisTurn = 0;
  /** Of the moment when bytes were weighed last. */
  private weighedMs: number;
  private usefulBytes = 0;
  private idleLeft: number = idleBytes.burst;
  private seenBytes: number;
  private sentBytes: number;

  constructor(
    private readonly session: ServerHttp2Session,
    private readonly socket: TLSSocket,
    private readonly home: Http2ConnectionHome,
    private readonly facts: ConnectionFacts & { readonly tls: ClientTls },
  ) {
    const nowMs = performance.now();
    const { timeouts } = home.options;
    const share = home.shareOf(facts.clientIp);
    this.tls = facts.tls;
    this.buckets = {
      resets: new Bucket(allowances.resets, nowMs, share),
      settings: new Bucket(allowances.settings, nowMs, share),
      pings: new Bucket(allowances.pings, nowMs, share),
      streams: new Bucket(allowances.streams, nowMs, share),
    };
    this.weighedMs = nowMs;
    this.seenBytes = socket.bytesRead;
    this.sentBytes = socket.bytesWritten;
    // Behind the fields as an object and the flags: as they came, which the types leave out.
    session.on('stream', (stream: ServerHttp2Stream, ...others: unknown[]) => this.came(stream, others[2] as string[]));
    session.on('remoteSettings', () => this.spend('settings'));
    session.on('ping', () => this.spend('pings'));
    session.on('error', () => {}); // "close" follows
    session.on('close', () => this.closed());
    home.limits.set(this, timeouts.clientHeadMs);
  }

  private came(stream: ServerHttp2Stream, raw: readonly string[]): void {
    stream.on('error', () => {}); // "close" follows
    if (this.isEnded) {
      stream.close(NGHTTP2_REFUSED_STREAM);
      return;
    }
    if (stream.destroyed || stream.aborted) {
      this.spend('resets');
      return;
    }
    if (this.streams + this.waiting.size >= streamsMax) {
      stream.close(NGHTTP2_REFUSED_STREAM);
      this.spend('streams');
      return;
    }
    if (this.begunThisTurn === 0) setImmediate(() => this.nextTurn());
    if (this.begunThisTurn < begunPerTurnMax) {
      this.begunThisTurn += 1;
      this.begin(stream, raw);
      return;
    }
    this.waiting.set(stream, raw);
    stream.once('close', () => {
      if (this.waiting.delete(stream)) this.spend('resets');
    });
  }

  private nextTurn(): void {
    this.begunThisTurn = 0;
    if (this.waiting.size > 0) setImmediate(() => this.nextTurn());
    for (const [stream, raw] of this.waiting) {
      if (this.begunThisTurn === begunPerTurnMax) return;
      this.begunThisTurn += 1;
      this.waiting.delete(stream);
      // its "close" is on its way
      if (stream.destroyed || stream.aborted) this.spend('resets');
      else if (!this.isEnded) this.begin(stream, raw);
    }
  }

  private begin(stream: ServerHttp2Stream, raw: readonly string[]): void {
    this.streams += 1;
    this.home.limits.clear(this);
    const exchange = this.exchangeOf(stream, raw);
    let isTakenBack = false;
    stream.on('aborted', () => {
      isTakenBack = !exchange.isOver;
    });
    stream.on('close', () => {
      this.streams -= 1;
      if (this.streams === 0) this.home.limits.set(this, this.home.options.timeouts.clientIdleMs);
      exchange.gone();
      if (isTakenBack) this.spend('resets');
    });
    this.home.open.add(exchange);
    this.home.options.handler.onRequest(exchange);
  }

  private exchangeOf(stream: ServerHttp2Stream, raw: readonly string[]): Http2Exchange {
    const { clientIp, clientPort, serverIp, serverPort } = this.facts;
    const read = readHttp2Head(raw, stream.endAfterHeaders, this.home.options.limits());
    const { method, uri, headers } = read;
    for (const text of raw) this.usefulBytes += text.length;
    this.usefulBytes += idleBytes.perRequest;
    if (!stream.endAfterHeaders) this.usefulBytes += idleBytes.perBody;
    const head: RequestHead = {
      method,
      uri,
      protocol: 'HTTP/2.0',
      headers,
      clientIp,
      clientPort,
      serverIp,
      serverPort,
    };
    return new Http2Exchange(stream, this, head, read);
  }

  get stallMs(): number {
    const { clientWriteMs, clientIdleMs } = this.home.options.timeouts;
    return clientWriteMs ?? clientIdleMs;
  }

  took(bytes: number): void {
    this.usefulBytes += bytes + idleBytes.perChunk;
  }

  ended(exchange: Http2Exchange): void {
    this.home.open.delete(exchange);
  }

  private spend(what: keyof typeof allowances): void {
    if (!this.isEnded && !this.buckets[what].take(performance.now())) this.end(what);
  }

  /**
   * Weighs what came since the last time: what belongs to no request is frames that nobody needs. Called by a timer of
   * the listener for every connection.
   */
  weigh(nowMs: number): void {
    if (this.isEnded) return;
    const { bytesRead, bytesWritten } = this.socket;
    const came = bytesRead - this.seenBytes;
    const paid = this.usefulBytes + (bytesWritten - this.sentBytes) * idleBytes.perSentByte;
    const refill = ((nowMs - this.weighedMs) * idleBytes.perSecond) / 1000;
    this.idleLeft = Math.min(idleBytes.burst, this.idleLeft + refill - Math.max(0, came - paid));
    this.weighedMs = nowMs;
    this.seenBytes = bytesRead;
    this.sentBytes = bytesWritten;
    this.usefulBytes = 0;
    if (this.idleLeft < 0) this.end('idle_bytes');
  }

  private end(excess: Http2Excess): void {
    this.isEnded = true;
    this.home.onExcess(excess, this.facts.clientIp);
    this.session.destroy(NGHTTP2_ENHANCE_YOUR_CALM as unknown as Error); // the types do not know the number alone
  }

  /** No request for too long. */
  timedOut(): void {
    if (this.streams + this.waiting.size === 0) this.destroy();
  }

  /** What is under way is answered; the client is told that nothing more is taken. */
  leave(): void {
    if (!this.session.closed && !this.session.destroyed) this.session.close();
  }

  destroy(): void {
    this.isEnded = true;
    this.session.destroy();
    this.socket.destroy();
  }

  private closed(): void {
    this.isEnded = true;
    this.home.limits.remove(this);
    this.home.forget(this);
  }
}
