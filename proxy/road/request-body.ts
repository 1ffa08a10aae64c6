// The body of one request on its way from the client: collected whole where it is to be inspected or is small, held
// while inspection runs, passed on to the upstream as it comes, and timed out where it stands still. All collected
// bodies of a thread share one budget.
import { performance } from 'node:perf_hooks';
import type { Limits } from '../contract/index.js';
import { BodyCollector } from '../http/body-collector.js';
import { decodeRequest, requestCodingsOf } from '../http/decode-request.js';
import { joinedField } from '../http/header-fields.js';
import type { Exchange } from '../listeners/listener.js';
import type { RefusalReason } from '../metrics/families.js';
import type { UpstreamExchange } from '../upstream/exchange.js';
import type { ActiveList, ActiveMember } from '../worker/active-list.js';

/**
 * Bodies of unprotected sites up to this size are gathered: sent in one write, and sent again if a connection was
 * stale.
 */
const gatherBytesMax = 64 * 1024;
const lastChunk = Buffer.from('0\r\n\r\n', 'latin1');

/** What all collected bodies of a thread occupy: many large uploads at once must not take more memory than there is. */
export interface BodyBudget {
  heldBytes: number;
}

/** A request whose body is still coming; swept for slow clients. */
export interface BodyWatch extends ActiveMember {
  /** When bytes of it came last; of the monotonic clock (`performance.now`). */
  readonly bodyAtMs: number;
  bodyTimedOut(): void;
}

/** What bodies of a thread share. */
export interface BodyWorker {
  readonly readingBody: ActiveList<BodyWatch>;
  readonly bodies: BodyBudget;
}

/** The request that the body belongs to. */
export interface BodyOwner {
  readonly isOver: boolean;
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
  private heldBytes = 0;
  /** Bytes beyond the inspected part, held until the upstream can have them (`partial` only). */
  private overflow: Buffer | null = null;
  private upstream: UpstreamExchange | null = null;
  /** The upstream has more of the body than it takes, so the client is paused. */
  private isUpstreamFull = false;

  constructor(
    private readonly owner: BodyOwner,
    private readonly exchange: Exchange,
    private readonly worker: BodyWorker,
    private readonly limits: Limits,
    public bodyAtMs: number,
    /** Of the site, in place of the limit for all. */
    private readonly siteBytesMax: number | null,
  ) {}

  /** What is inspected at most; larger ones are refused, or inspected in part. */
  private get inspectedBytesMax(): number {
    return this.siteBytesMax ?? this.limits.requestBodyBytesMax;
  }

  /** What rules look at. */
  get inspected(): Buffer | null {
    return this.decoded ?? this.bytes;
  }

  /**
   * Undoes the content codings that `headers` name, of what was collected, which has to be all of it. The status with
   * which a body that cannot be decoded within the limits is refused, else null. Never rejects.
   */
  async decode(headers: readonly string[]): Promise<400 | 413 | 415 | null> {
    const { bytes, limits } = this;
    const codings = requestCodingsOf(joinedField(headers, 'content-encoding'), limits.requestCodingsMax);
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
    this.owner.bodyTaken(this.wireBytes(collector.bytes));
  }

  private wireBytes(collectedBytes: number): number {
    if (this.overflow === null) return collectedBytes;
    const { framing } = this.exchange;
    return framing.kind === 'length' ? framing.bytes : collectedBytes + this.overflow.length;
  }

  /** False: all bodies together are too much, and this one is the one too many. */
  private hold(heldBytes: number): boolean {
    const { bodies } = this.worker;
    bodies.heldBytes += heldBytes - this.heldBytes;
    this.heldBytes = heldBytes;
    if (bodies.heldBytes <= this.limits.heldBodyBytesMax) return true;
    this.owner.refuse(503, 'memory', true);
    return false;
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
    this.worker.bodies.heldBytes -= this.heldBytes;
  }
}
