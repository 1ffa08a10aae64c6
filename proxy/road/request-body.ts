// The body of one request on its way from the client: collected whole where it is to be inspected or is small, held
// while inspection runs, passed on to the upstream as it comes, and timed out where it stands still. All collected
// bodies of a thread share one budget.
import { performance } from 'node:perf_hooks';
import type { Limits, Timeouts } from '../contract/index.js';
import { BodyCollector } from '../http/body-collector.js';
import { decodeRequest, requestCodingsOf } from '../http/decode-request.js';
import { findField, joinedField } from '../http/header-fields.js';
import type { Exchange } from '../listeners/listener.js';
import type { RefusalReason } from '../metrics/families.js';
import type { UpstreamExchange } from '../upstream/exchange.js';
import type { Site } from './route.js';
import type { ActiveList, ActiveMember } from '../worker/active-list.js';
import { ClientPace } from './limits/client-pace.js';
import type { ClientShares } from './limits/client-shares.js';
import type { SlowReason } from './limits/relay.js';

/**
 * Bodies of unprotected sites up to this size are gathered: sent in one write, and sent again if a connection was
 * stale.
 */
const gatherBytesMax = 64 * 1024;
const lastChunk = Buffer.from('0\r\n\r\n', 'latin1');

/** A request whose body is still coming; swept for slow clients. */
export interface BodyWatch extends ActiveMember {
  /** When bytes of it came last; of the monotonic clock (`performance.now`). */
  readonly bodyAtMs: number;
  bodyTimedOut(): void;
  /** The thread could not have read any of it for so long. */
  standStill(ms: number): void;
  /** Called every now and then while bytes are to come. */
  sweep(nowMs: number, timeouts: Timeouts): void;
  readonly heldBytes: number;
  /** Whom limits count. */
  readonly client: string;
  /** Bytes per second, where it is slow enough to give way to others; else null. */
  readonly yieldingPace: number | null;
  giveWay(): void;
}

/** What bodies of a thread share. */
export interface BodyWorker {
  readonly readingBody: ActiveList<BodyWatch>;
  /** Bytes that all collected bodies of the thread occupy. */
  readonly bodies: ClientShares;
}

/** The request that the body belongs to. */
export interface BodyOwner {
  readonly isOver: boolean;
  /** It would have been refused. */
  isFlagged: boolean;
  /** Whom limits count (client-address.ts). */
  readonly client: string;
  clientTooSlow(side: 'request', reason: SlowReason): void;
  /** All of it is here, or as much as is inspected. `wireBytes`: how many there are, as far as known. */
  bodyTaken(wireBytes: number): void;
  /** The request ends here. */
  refuse(status: number, reason: RefusalReason, closeConnection: boolean): void;
  /** Nothing moved for too long; who stood still. */
  bodyStoodStill(who: 'client' | 'upstream'): void;
}

export class RequestBody implements BodyWatch {
  /** What was collected; null when nothing came, and for what is only passed on. */
  bytes: Buffer | null = null;
  /** The same without its content codings, for rules and records; null: it has none, or they were not undone. */
  decoded: Buffer | null = null;
  isComplete = false;
  /** Among those whose body is still coming. */
  place = -1;
  private collector: BodyCollector | null = null;
  /** Of the thread's budget; given back by `release`. */
  heldBytes = 0;
  private receivedBytes = 0;
  private pace: ClientPace | null = null;
  /** Bytes beyond the inspected part, held until the upstream can have them (`partial` only). */
  private overflow: Buffer | null = null;
  private upstream: UpstreamExchange | null = null;
  /** The upstream has more of the body than it takes, so the client is paused. */
  private isUpstreamFull = false;
  private isInspected = false;

  constructor(
    private readonly owner: BodyOwner,
    private readonly exchange: Exchange,
    private readonly worker: BodyWorker,
    private readonly limits: Limits,
    public bodyAtMs: number,
    private readonly site: Pick<Site, 'mode' | 'requestBodyBytesMax'>,
  ) {}

  /** What is inspected at most; larger ones are refused, or inspected in part. */
  private get inspectedBytesMax(): number {
    return this.site.requestBodyBytesMax ?? this.limits.requestBodyBytesMax;
  }

  /** What rules look at. */
  get inspected(): Buffer | null {
    return this.decoded ?? this.bytes;
  }

  /** Tells the owner, after the content codings of a body that is inspected are undone. Never rejects. */
  private async decoding(wireBytes: number): Promise<void> {
    const status = await this.decode();
    if (this.owner.isOver) return;
    if (status !== null && this.site.mode === 'On') {
      this.owner.refuse(status, 'body_coding', !this.isComplete);
      return;
    }
    this.owner.isFlagged ||= status !== null; // a site that only detects lets it go on
    this.owner.bodyTaken(this.decoded?.length ?? wireBytes);
  }

  /** Of what was collected, which has to be all of it. The status for what cannot be within the limits, or null. */
  private async decode(): Promise<400 | 413 | 415 | null> {
    const { bytes, limits } = this;
    const codings = requestCodingsOf(
      joinedField(this.exchange.head.headers, 'content-encoding'),
      limits.requestCodingsMax,
    );
    if ('refusedWith' in codings) return codings.refusedWith;
    if (bytes === null || codings.length === 0) return null;
    if (this.isStreaming) return 413;
    const bytesMax = Math.min(limits.decodedRequestBytesMax, this.inspectedBytesMax);
    const outcome = await decodeRequest(bytes, codings, { bytesMax, ratioMax: limits.decodedRequestRatioMax });
    if (outcome.kind === 'wrong') return 400;
    if (outcome.kind === 'too-large') return 413;
    if (this.owner.isOver) return null;
    this.decoded = outcome.bytes;
    this.hold(this.heldBytes + outcome.bytes.length);
    return null;
  }

  /** Not to be gathered where nobody inspects it. */
  get isLarge(): boolean {
    const { framing } = this.exchange;
    return framing.kind === 'chunked' || (framing.kind === 'length' && framing.bytes > gatherBytesMax);
  }

  /** All of it is to be here first. Over when its length is beyond the limit. */
  collect(isInspected: boolean): void {
    this.isInspected = isInspected;
    const { framing } = this.exchange;
    const bytesMax = isInspected ? this.inspectedBytesMax : gatherBytesMax;
    if (framing.kind === 'length' && framing.bytes > bytesMax && this.limits.requestBodyOverLimit === 'reject') {
      this.owner.refuse(413, 'body_too_large', true);
      return;
    }
    this.collector = new BodyCollector(framing.kind === 'length' ? Math.min(framing.bytes, bytesMax) : bytesMax);
  }

  read(): void {
    this.worker.readingBody.add(this);
    this.exchange.readBody((chunk, isLast) => this.take(chunk, isLast));
  }

  private take(chunk: Buffer, isLast: boolean): void {
    if (this.owner.isOver) return;
    this.bodyAtMs = performance.now();
    this.receivedBytes += chunk.length;
    if (isLast) {
      this.isComplete = true;
      this.worker.readingBody.delete(this);
    }
    const { collector } = this;
    if (collector === null) {
      this.passOn(chunk, isLast);
      return;
    }
    const taken = collector.add(chunk);
    if (!this.hold(collector.heldBytes)) return;
    if (taken < chunk.length) {
      if (this.limits.requestBodyOverLimit === 'reject') {
        this.owner.refuse(413, 'body_too_large', true);
        return;
      }
      this.overflow = Buffer.from(chunk.subarray(taken));
      this.exchange.pauseBody();
    } else if (!isLast) return;
    this.collector = null;
    this.bytes = collector.take();
    const wireBytes = this.wireBytes(collector.bytes);
    if (this.isInspected && findField(this.exchange.head.headers, 'content-encoding') !== null)
      void this.decoding(wireBytes);
    else this.owner.bodyTaken(wireBytes);
  }

  private wireBytes(collectedBytes: number): number {
    if (this.overflow === null) return collectedBytes;
    const { framing } = this.exchange;
    return framing.kind === 'length' ? framing.bytes : collectedBytes + this.overflow.length;
  }

  /** False: bodies of this client, or all of them, are too much, and this one is the one too many. */
  private hold(heldBytes: number): boolean {
    const { bodies } = this.worker;
    const { heldBodyBytesMax, heldBodyClientPercentMax, requestBodyBytesMax } = this.limits;
    const { client } = this.owner;
    const ofClient = bodies.add(client, heldBytes - this.heldBytes);
    this.heldBytes = heldBytes;
    const shareMax = Math.max(requestBodyBytesMax, (heldBodyBytesMax * heldBodyClientPercentMax) / 100);
    if (
      shareMax < heldBodyBytesMax &&
      ofClient > shareMax &&
      !this.makeRoom(
        (one) => one.client === client,
        () => bodies.of(client) <= shareMax,
      )
    ) {
      this.owner.clientTooSlow('request', 'share');
      return false;
    }
    if (bodies.total <= heldBodyBytesMax) return true;
    if (
      this.makeRoom(
        () => true,
        () => bodies.total <= heldBodyBytesMax,
      )
    )
      return true;
    this.owner.refuse(503, 'memory', true);
    return false;
  }

  /** The slowest of those that hold memory and are slow give way until there is enough. False: that was not enough. */
  private makeRoom(isMeant: (one: BodyWatch) => boolean, isEnough: () => boolean): boolean {
    const slow = this.worker.readingBody
      .all()
      .filter((one) => one !== this && one.heldBytes > 0 && one.yieldingPace !== null && isMeant(one));
    slow.sort((a, b) => (a.yieldingPace ?? 0) - (b.yieldingPace ?? 0));
    for (const one of slow) {
      if (isEnough()) break;
      one.giveWay();
    }
    return isEnough();
  }

  get client(): string {
    return this.owner.client;
  }

  /** Whether it is the client that everybody waits for: not the upstream, and not inspection. */
  private get isAwaited(): boolean {
    return !this.isComplete && !this.isUpstreamFull && (this.upstream !== null || this.overflow === null);
  }

  standStill(ms: number): void {
    this.bodyAtMs += ms;
    this.pace?.standStill(ms);
  }

  sweep(nowMs: number, { clientProgressMs }: Timeouts): void {
    if (this.owner.isOver) return;
    if (!this.isAwaited) {
      this.pace = null; // the time of others is not the client's
      return;
    }
    this.pace ??= new ClientPace(nowMs, this.receivedBytes);
    const perSecond = this.pace.look(nowMs, this.receivedBytes, clientProgressMs);
    if (perSecond !== null && perSecond < this.limits.requestBytesPerSecondMin)
      this.owner.clientTooSlow('request', 'minimum');
  }

  get yieldingPace(): number | null {
    const perSecond = this.isAwaited ? (this.pace?.current ?? null) : null;
    return perSecond !== null && perSecond < this.limits.slowClientBytesPerSecond ? perSecond : null;
  }

  giveWay(): void {
    this.owner.clientTooSlow('request', 'pressure');
  }

  /** More of a body that is not collected: to the upstream, or behind what is held while inspection runs elsewhere. */
  private passOn(chunk: Buffer, isLast: boolean): void {
    if (this.upstream === null) {
      this.overflow = this.overflow === null ? Buffer.from(chunk) : Buffer.concat([this.overflow, chunk]);
      return;
    }
    if (chunk.length > 0 && !this.send(this.upstream, chunk)) {
      this.isUpstreamFull = true;
      this.exchange.pauseBody();
    }
    if (isLast) this.end(this.upstream);
  }

  private send(upstream: UpstreamExchange, chunk: Buffer): boolean {
    if (this.exchange.framing.kind !== 'chunked') return upstream.write(chunk);
    return upstream.write(
      Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'), chunk, Buffer.from('\r\n', 'latin1')]),
    );
  }

  private end(upstream: UpstreamExchange): void {
    if (this.exchange.framing.kind === 'chunked') upstream.write(lastChunk);
    upstream.end();
  }

  /** Not all of it is in `bytes`: the rest follows the head through `sendTo`. */
  get isStreaming(): boolean {
    return !this.isComplete || this.overflow !== null;
  }

  /** How it is announced to the upstream. */
  get announced(): number | 'chunked' {
    const { framing } = this.exchange;
    if (!this.isStreaming || framing.kind === 'none') return this.bytes?.length ?? 0;
    return framing.kind === 'chunked' ? 'chunked' : framing.bytes;
  }

  /** What is here goes to the upstream now, and the rest as it comes. */
  sendTo(upstream: UpstreamExchange): void {
    this.upstream = upstream;
    let isFlowing = true;
    if (this.bytes !== null) isFlowing = this.send(upstream, this.bytes) && isFlowing;
    if (this.overflow !== null && this.overflow.length > 0) isFlowing = this.send(upstream, this.overflow) && isFlowing;
    this.overflow = null;
    if (this.isComplete) this.end(upstream);
    this.bodyAtMs = performance.now(); // until now the client waited for inspection
    if (this.isComplete || isFlowing) this.exchange.resumeBody();
    else this.isUpstreamFull = true;
  }

  /** The upstream takes more. */
  upstreamDrained(): void {
    this.isUpstreamFull = false;
    this.bodyAtMs = performance.now();
    this.exchange.resumeBody();
  }

  /** Who stood still: the client, the upstream that takes nothing, or inspection (which has limits of its own). */
  bodyTimedOut(): void {
    if (this.owner.isOver || (this.upstream === null && this.overflow !== null)) return;
    this.owner.bodyStoodStill(this.isUpstreamFull ? 'upstream' : 'client');
  }

  /** The request is through; called once. */
  release(): void {
    this.worker.readingBody.delete(this);
    if (this.heldBytes > 0) this.worker.bodies.add(this.owner.client, -this.heldBytes);
    this.heldBytes = 0;
  }
}
