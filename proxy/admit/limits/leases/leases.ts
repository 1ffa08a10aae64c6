// Limits that several nodes share (rl_distributed), as a worker keeps them: places that it leased from the store
// (lease-store.ts) and gives away by itself. A request without a leased place waits for one round trip; the next ones
// of the same key find places ready, twice as many each time, and what is left of them is given back after a quarter of
// a second without a request. So all nodes together never give away more than the limit allows.
//
// Chosen: to wait. Rejected: to decide at once by the node's fair share and tell the store afterwards (what was built
// before: K nodes let through up to N + N * (K − 1) / K), and a fair share that is never lent (exact, but a client that
// stays with one node gets a part of its limit only).
//
// Without an answer within 300 ms, or without a connection, requests are decided by the node's fair share at once
// (rate-counters.ts: a place costs as many as there are nodes), nobody waits, and what was given away is told when the
// store answers again, less what came back meanwhile.
//
// Memory: 100,000 keys and 10,000 waiting requests a worker. Beyond, keys that nobody asked for lately give way,
// and places that were not told yet are counted as lost; a request beyond is refused.
import { mix } from '../../../shared-state/client-key.js';
import type { KeyTable } from '../../../shared-state/key-table.js';
import { levelOf, settle, take, type Rate } from '../../../shared-state/rates/rate-counters.js';
import type { SharingState } from '../../../shared-state/rates/sharing-state.js';
import type { LeaseAnswer, LeaseRequest, LeaseStore } from './lease-store.js';

const keysMax = 100_000;
const waitersMax = 10_000;
const batchMax = 500;
/** After this the store takes places of a lease for used. No place is given away that was granted so long ago. */
const leaseMs = 2000;
const heldMs = 1500;
const idleMs = 250;
const answerMsMax = 300;
const retryEveryMs = 200;
const pruneEveryMs = 5000;
/** A refusal is asked again after this, for places that others give back. */
const refusedMsMax = 50;
const refusedMsMaxAlone = 1000;

interface Key {
  readonly id: number;
  readonly low: number;
  readonly high: number;
  readonly rate: Rate;
  /** Leased, and not given away. */
  held: number;
  heldUntilMs: number;
  /** Given away, and not told. */
  used: number;
  usedAtMs: number;
  refusedUntilMs: number;
  /** When a place comes back at last, for Retry-After. */
  freeMs: number;
  /** The level that the store named last, as the moment at which all places are back; 0 = none. */
  knownUntilMs: number;
  /** When the store last named it; a time without the store since then means that the node knows better. */
  learnedMs: number;
  /** Places to have ready. */
  ready: number;
  touchedMs: number;
  waiters: (() => void)[];
}

interface Sent {
  readonly key: Key;
  readonly request: LeaseRequest;
  readonly waiters: (() => void)[];
}

export interface LeasesOptions {
  readonly rates: KeyTable;
  readonly state: SharingState;
  readonly holder: string;
  /** The clock of all threads, ms. */
  readonly nowMs: () => number;
}

export class Leases {
  /** Those that were asked for lately, and those that were before: the older half gives way as a whole. */
  private keys = new Map<number, Key>();
  private older = new Map<number, Key>();
  /** Those that hold or have used something. */
  private readonly open = new Set<Key>();
  private readonly queue = new Set<Key>();
  private store: LeaseStore | null = null;
  private waiting = 0;
  private sentAtMs: number | null = null;
  private sent: readonly Sent[] = [];
  private triedAtMs = Number.NEGATIVE_INFINITY;
  private prunedAtMs = 0;
  private isUp = false;
  /** Since when, or until when, the fair share decided. */
  private aloneMs = 1;
  /** Raised when what is on its way is given up, so that a late answer is nobody's. */
  private round = 0;

  constructor(private readonly options: LeasesOptions) {}

  /** null: without a store. Whatever was leased of the one before is not given away any more. */
  use(store: LeaseStore | null): void {
    this.lost();
    this.store?.close();
    this.store = store;
    if (store !== null) store.onLost = () => this.lost();
  }

  /** Keys that are known. */
  get size(): number {
    return this.keys.size + this.older.size;
  }

  /**
   * null: `take` can decide at once. Else it is to be asked when this is fulfilled; it never fails. `nowMs`: the clock
   * of all threads.
   */
  wait(rate: Rate, low: number, high: number, nowMs: number): Promise<void> | null {
    if (!this.isUp || this.waiting >= waitersMax) return null;
    const key = this.keyOf(rate, low, high);
    if (this.hasPlace(key, nowMs) || nowMs < key.refusedUntilMs) return null;
    this.waiting += 1;
    const waiting = new Promise<void>((resolve) => key.waiters.push(resolve));
    this.queue.add(key);
    this.flush();
    return waiting;
  }

  /** As `take` of rate-counters.ts: 0, or the milliseconds until there is a place. */
  take(rate: Rate, low: number, high: number, nowMs: number): number {
    const { state, rates } = this.options;
    if (this.store === null) return take(rates, rate, low, high, nowMs);
    const key = this.keyOf(rate, low, high);
    if (this.hasPlace(key, nowMs)) {
      key.held -= 1;
      key.used += 1;
      key.touchedMs = nowMs;
      this.open.add(key);
      if (2 * key.held < key.ready) {
        this.queue.add(key);
        this.flush();
      }
      return 0;
    }
    if (this.isUp) return Math.max(1, key.freeMs - nowMs);
    const waitMs = take(rates, rate, low, high, nowMs, state.nodes);
    if (waitMs > 0) return waitMs;
    key.used = Math.max(0, key.used - this.backSince(key, nowMs)) + 1;
    key.usedAtMs = nowMs;
    this.open.add(key);
    return 0;
  }

  /** To be called every 25 ms; `stoodStillMs`: how long this thread could do nothing since the last time. */
  turn(stoodStillMs = 0): void {
    if (this.store === null) return;
    const nowMs = this.options.nowMs();
    if (this.sentAtMs !== null) {
      this.sentAtMs += stoodStillMs;
      if (nowMs - this.sentAtMs > answerMsMax) this.lost();
    }
    if (nowMs - this.prunedAtMs > pruneEveryMs) this.prune(nowMs);
    if (!this.isUp) {
      if (nowMs - this.triedAtMs >= retryEveryMs) void this.send([], nowMs);
      return;
    }
    for (const key of this.open)
      if (key.used > 0 || (key.held > 0 && nowMs - key.touchedMs > idleMs)) this.queue.add(key);
    this.flush();
  }

  private keyOf(rate: Rate, low: number, high: number): Key {
    const keyLow = mix(low ^ rate.low);
    const keyHigh = mix((high + rate.high) >>> 0);
    const id = keyLow * 2 ** 21 + (keyHigh >>> 11);
    const known = this.keys.get(id);
    if (known !== undefined) return known;
    const older = this.older.get(id);
    if (older !== undefined) this.older.delete(id);
    const key: Key = older ?? {
      ...{ id, low, high, rate, held: 0, heldUntilMs: 0, used: 0, usedAtMs: 0, refusedUntilMs: 0, freeMs: 0 },
      ...{ knownUntilMs: 0, learnedMs: this.isUp ? this.options.nowMs() : 0, ready: 0, touchedMs: 0, waiters: [] },
    };
    this.keys.set(id, key);
    if (2 * this.keys.size >= keysMax) this.age();
    return key;
  }

  private age(): void {
    let lost = 0;
    for (const key of this.older.values()) {
      this.open.delete(key);
      lost += Math.ceil(key.used);
    }
    if (lost > 0) this.options.state.addLost(lost);
    this.older = this.keys;
    this.keys = new Map();
  }

  private hasPlace(key: Key, nowMs: number): boolean {
    return key.held > 0 && nowMs < key.heldUntilMs;
  }

  /** Places that came back since what was used was written down; only while nobody can be told. */
  private backSince({ rate, usedAtMs }: Key, nowMs: number): number {
    return (Math.max(0, nowMs - usedAtMs) * rate.events) / (rate.windowSeconds * 1000);
  }

  private flush(): void {
    if (!this.isUp || this.sentAtMs !== null || this.queue.size === 0) return;
    const nowMs = this.options.nowMs();
    const batch: Sent[] = [];
    for (const key of this.queue) {
      if (batch.length >= batchMax) break;
      this.queue.delete(key);
      batch.push(this.sentOf(key, nowMs));
    }
    void this.send(batch, nowMs);
  }

  private sentOf(key: Key, nowMs: number): Sent {
    const { rate, waiters } = key;
    const windowMs = rate.windowSeconds * 1000;
    if (key.usedAtMs > 0) key.used = Math.max(0, key.used - this.backSince(key, nowMs));
    key.usedAtMs = 0;
    // While the fair share decides, each place costs as many of the node's level as there are nodes. So the level is
    // what all nodes together may have given away, and the store, which may have lost what it knew, hears that.
    const alone = key.learnedMs < this.aloneMs ? levelOf(this.options.rates, rate, key.low, key.high, nowMs) : 0;
    if (alone > 0) key.used = 0;
    const isIdle = waiters.length === 0 && nowMs - key.touchedMs > idleMs;
    if (isIdle || nowMs >= key.heldUntilMs) key.held = 0;
    if (isIdle) key.ready = 0;
    else if (waiters.length > 0 || 2 * key.held < key.ready)
      key.ready = Math.min(Math.max(1, 2 * key.ready), Math.max(1, Math.floor(rate.events / 8)));
    const request = {
      ...{ id: `${key.id.toString(36)}.${rate.events}.${rate.windowSeconds}`, events: rate.events, windowMs },
      ...{ used: key.used, has: key.held, needed: waiters.length },
      wanted: isIdle ? 0 : waiters.length + Math.max(0, key.ready - key.held - 1),
      floor: (Math.max(0, key.knownUntilMs - nowMs, alone) * rate.events) / windowMs,
    };
    key.used = 0;
    key.waiters = [];
    return { key, request, waiters };
  }

  private async send(batch: readonly Sent[], nowMs: number): Promise<void> {
    const { store } = this;
    if (store === null || this.sentAtMs !== null) return;
    this.sentAtMs = nowMs;
    this.sent = batch;
    this.triedAtMs = nowMs;
    const { round } = this;
    const { state, holder } = this.options;
    const terms = { holder, leaseMs, nodes: state.nodes };
    try {
      const answers = await store.exchange(
        terms,
        batch.map(({ request }) => request),
      );
      if (round === this.round) this.answered(batch, answers, nowMs);
      else this.unanswered(batch);
    } catch {
      this.unanswered(batch);
      if (round === this.round) this.lost();
    } finally {
      for (const { waiters } of batch) this.wake(waiters);
      if (round === this.round) this.sentAtMs = null;
    }
    this.flush();
  }

  private answered(batch: readonly Sent[], answers: readonly LeaseAnswer[], sentMs: number): void {
    if (!this.isUp) {
      this.isUp = true;
      this.aloneMs = this.options.nowMs();
      this.options.state.setUp(true);
    }
    for (const [index, { key, request }] of batch.entries())
      this.learn(key, request, answers[index] as LeaseAnswer, sentMs);
  }

  private learn(key: Key, { needed, events, windowMs }: LeaseRequest, answer: LeaseAnswer, sentMs: number): void {
    const { granted, level, held } = answer;
    const placeMs = windowMs / events;
    key.held += granted;
    key.heldUntilMs = sentMs + heldMs;
    key.knownUntilMs = sentMs + level * placeMs;
    key.learnedMs = this.options.nowMs();
    if (granted > 0) key.touchedMs = sentMs;
    if (granted < needed) {
      const waitMs = Math.max(1, (level + held + 1 - events) * placeMs);
      key.freeMs = sentMs + waitMs;
      key.refusedUntilMs = sentMs + Math.min(waitMs, held > key.held ? refusedMsMax : refusedMsMaxAlone);
    }
    if (key.held > 0) this.open.add(key);
    else if (key.used === 0) this.open.delete(key);
    // What is known when the store goes away: the fair share is one of what is left.
    const { rates } = this.options;
    const levelMs = (level + held) * placeMs;
    settle(rates, { rate: key.rate, low: key.low, high: key.high }, { levelMs, nowMs: sentMs });
  }

  /** Nobody knows whether it was heard: places that were used are told again, which can only refuse too much. */
  private unanswered(batch: readonly Sent[]): void {
    for (const { key, request } of batch) {
      if (key.used === 0) key.usedAtMs = this.options.nowMs();
      key.used += request.used;
      if (key.used > 0) this.open.add(key);
    }
  }

  /** From here on the fair share decides, until the store answers. */
  private lost(): void {
    this.round += 1;
    this.sentAtMs = null;
    for (const { waiters } of this.sent) this.wake(waiters);
    this.sent = [];
    if (this.isUp) this.options.state.setUp(false);
    this.isUp = false;
    for (const key of this.queue) this.wake(key.waiters);
    this.queue.clear();
    for (const key of this.open) {
      key.held = 0;
      if (key.used === 0) this.open.delete(key);
      else key.usedAtMs = this.options.nowMs();
    }
  }

  private wake(waiters: (() => void)[]): void {
    this.waiting -= waiters.length;
    for (const resolve of waiters.splice(0)) resolve();
  }

  private prune(nowMs: number): void {
    this.prunedAtMs = nowMs;
    for (const keys of [this.keys, this.older])
      for (const key of keys.values()) {
        const isOfUse = this.open.has(key) || this.queue.has(key) || key.waiters.length > 0;
        if (!isOfUse && nowMs - key.touchedMs > idleMs && nowMs > Math.max(key.refusedUntilMs, key.knownUntilMs))
          keys.delete(key.id);
      }
  }

  close(): void {
    this.use(null);
  }
}
