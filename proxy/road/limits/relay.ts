// The body of a response on its way to the client. A client that takes it slowly must not hold a connection to the
// upstream for as long as it likes: what the upstream still sends is kept here, within a budget for one response, for
// one client and for the worker, and only beyond it the upstream waits. Whoever makes it wait is counted by client, has
// to take a minimum, and gives way when others need the connection.
import type { Limits, Timeouts } from '../../contract/index.js';
import type { ActiveList, ActiveMember } from '../../worker/active-list.js';
import { ClientPace } from './client-pace.js';
import { ClientShares } from './client-shares.js';
import type { StreamPlaces } from './stream-places.js';

/** Why a slow client is cut; a label of the metric. */
export type SlowReason = 'minimum' | 'share' | 'pressure';

/** Of the worker's budget that one client may have. */
const clientShare = 0.25;

/** Where the response goes. */
export interface RelayTarget {
  /** Borrowed bytes. False: the client is slow. */
  write(chunk: Buffer): boolean;
  end(trailers: readonly string[] | null): void;
  /** Given to it so far. */
  readonly bytes: number;
  /** Of them, not yet taken by the client's connection. */
  readonly unsentBytes: number;
}

/** The request whose response it is. */
export interface RelayOwner {
  /** Whom limits count (client-address.ts). */
  readonly client: string;
  readonly limits: Limits;
  readonly isOver: boolean;
  pauseUpstream(): void;
  resumeUpstream(): void;
  /** All of it was given to the client's connection. */
  relayed(): void;
  /** It takes too little; the response is cut. */
  clientTooSlow(reason: SlowReason): void;
}

/** What responses of a worker share. */
export interface RelayWorker {
  /** Those that the client is slower with than the upstream. */
  readonly relaying: ActiveList<Relay>;
  /** Bytes kept for slow clients. */
  readonly relayed: ClientShares;
  /** Responses for which an upstream waits. */
  readonly waitedFor: ClientShares;
  /** WebSockets and event streams. */
  readonly streams: StreamPlaces;
}

export class Relay implements ActiveMember {
  place = -1;
  private readonly queue: Buffer[] = [];
  private queuedBytes = 0;
  private isStalled = false;
  /** The upstream waits for the client. */
  private isUpstreamPaused = false;
  private isEnded = false;
  private trailers: readonly string[] | null = null;
  private pace: ClientPace | null = null;

  constructor(
    private readonly owner: RelayOwner,
    private readonly target: RelayTarget,
    private readonly worker: RelayWorker,
  ) {}

  get client(): string {
    return this.owner.client;
  }

  /** Borrowed bytes. */
  write(chunk: Buffer): void {
    if (this.owner.isOver) return; // cut by what came before in the same turn
    if (!this.isStalled) {
      if (this.target.write(chunk)) return;
      this.isStalled = true;
      this.worker.relaying.add(this);
    } else {
      this.queue.push(Buffer.from(chunk));
      this.keep(chunk.length);
    }
    if (!this.hasRoom) this.waitForClient();
  }

  private keep(bytes: number): void {
    this.queuedBytes += bytes;
    this.worker.relayed.add(this.owner.client, bytes);
  }

  private get hasRoom(): boolean {
    const { relayBufferBytesMax, relayBuffersBytesMax } = this.owner.limits;
    const { relayed } = this.worker;
    return (
      this.queuedBytes < relayBufferBytesMax &&
      relayed.total < relayBuffersBytesMax &&
      relayed.of(this.owner.client) < relayBuffersBytesMax * clientShare
    );
  }

  /** What is kept is enough: the upstream waits, and with it one of its connections. */
  private waitForClient(): void {
    if (this.isUpstreamPaused || this.isEnded) return;
    this.isUpstreamPaused = true;
    this.owner.pauseUpstream();
    const { client, limits } = this.owner;
    if (this.worker.waitedFor.add(client, 1) <= limits.slowResponsesPerClientMax) return;
    // One too many of this client: the one that takes least ends, and that is seldom the one that was the last.
    const others = this.worker.relaying.all().filter((one) => one.client === client && one.isUpstreamPaused);
    others.sort((a, b) => a.paceOrNone - b.paceOrNone);
    (others[0] ?? this).owner.clientTooSlow('share');
  }

  private get paceOrNone(): number {
    return this.pace?.current ?? Number.POSITIVE_INFINITY;
  }

  /** The client takes more. */
  drained(): void {
    for (let piece = this.queue.shift(); piece !== undefined; piece = this.queue.shift()) {
      this.keep(-piece.length);
      if (!this.target.write(piece)) {
        this.goOn();
        return;
      }
    }
    this.isStalled = false;
    this.pace = null;
    this.worker.relaying.delete(this);
    if (this.isEnded) this.complete();
    else this.goOn();
  }

  /** The upstream sends again once half of the room is free, so that it is not asked for every piece. */
  private goOn(): void {
    if (!this.isUpstreamPaused || this.queuedBytes * 2 > this.owner.limits.relayBufferBytesMax || !this.hasRoom) return;
    this.stopWaiting();
    this.owner.resumeUpstream();
  }

  private stopWaiting(): void {
    if (!this.isUpstreamPaused) return;
    this.isUpstreamPaused = false;
    this.worker.waitedFor.add(this.owner.client, -1);
  }

  /** The upstream has sent all of it. */
  end(trailers: readonly string[] | null): void {
    this.isEnded = true;
    this.trailers = trailers;
    this.stopWaiting();
    if (this.queue.length === 0) this.complete();
  }

  private complete(): void {
    this.target.end(this.trailers);
    this.owner.relayed();
  }

  private get takenBytes(): number {
    return this.target.bytes - this.target.unsentBytes;
  }

  /** The thread could not have given it anything for so long. */
  standStill(ms: number): void {
    this.pace?.standStill(ms);
  }

  /** Called for those that are slow. */
  sweep(nowMs: number, { clientProgressMs }: Timeouts): void {
    if (this.owner.isOver) return;
    const taken = this.takenBytes;
    this.pace ??= new ClientPace(nowMs, taken);
    const perSecond = this.pace.look(nowMs, taken, clientProgressMs);
    if (perSecond !== null && perSecond < this.owner.limits.responseBytesPerSecondMin)
      this.owner.clientTooSlow('minimum');
    // Room that others gave back is not announced to anybody.
    else this.goOn();
  }

  /** Bytes per second, where the upstream waits for the client and others could have its connection; else null. */
  get yieldingPace(): number | null {
    const perSecond = this.isUpstreamPaused ? (this.pace?.current ?? null) : null;
    return perSecond !== null && perSecond < this.owner.limits.slowClientBytesPerSecond ? perSecond : null;
  }

  /** The request is through; called once. */
  release(): void {
    this.stopWaiting();
    this.worker.relaying.delete(this);
    if (this.queuedBytes > 0) this.keep(-this.queuedBytes);
    this.queue.length = 0;
  }
}
