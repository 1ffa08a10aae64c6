// Who is banned by this node, until when, and how often before. In memory that all workers share, so that the request
// that crosses the line is the last one that anybody lets through.
//
// A client that comes back is banned twice as long as before, up to `longestBanMs`; it is forgotten a day after its
// last ban ended. Memory: 131,072 clients, 5.8 MB. Beyond: in a full bucket the one that would be forgotten first
// gives way.
import { mix } from './client-key.js';
import type { KeyTable } from './key-table.js';

const untilColumn = 0;
const offencesColumn = 1;
/** Values of forwarding fields that were seen with limited requests, as bits of a hash. */
const sketchColumn = 2;
/** When the bucket of limited requests is empty. */
const emptyColumn = 3;
export const banColumns = 4;
export const banEntries = 2 ** 17;

const longestBanMs = 30 * 86_400_000;
const rememberedSeconds = 86_400;
const sketchBits = 48;

export interface Ban {
  readonly untilMs: number;
  /** 1: its first. */
  readonly offence: number;
  /** Made by this very request; otherwise it came while the request was on its way here. */
  readonly isNew: boolean;
}

export interface BanPolicy {
  /** Limited requests within the window that are a ban. */
  readonly threshold: number;
  readonly windowMs: number;
  /** Length of the first ban. */
  readonly firstMs: number;
}

/** Times are of the clock that all threads share, in milliseconds. */
export class BanTable {
  constructor(private readonly table: KeyTable) {}

  get seeds(): readonly [number, number] {
    return this.table.seeds;
  }

  /** Until when; 0: not banned. */
  bannedUntil(low: number, high: number, nowMs: number): number {
    const { table } = this;
    const bucket = table.enter(low);
    try {
      const at = table.find(bucket, low, high, Math.floor(nowMs / 1000));
      const until = at < 0 ? 0 : table.get(untilColumn, at);
      return until > nowMs ? until : 0;
    } finally {
      table.leave(bucket);
    }
  }

  /**
   * One more limited request of a client: those within a window fill a bucket of `threshold`, which empties evenly
   * within that window (as a limit's places do, rate-counters.ts). The one that fills it is the ban; null: not yet. A
   * client whom another thread banned meanwhile gets that ban, and is not counted.
   */
  offend(low: number, high: number, nowMs: number, { threshold, windowMs, firstMs }: BanPolicy): Ban | null {
    return this.within(low, high, nowMs, (at) => {
      const { table } = this;
      const standingMs = table.get(untilColumn, at);
      if (standingMs > nowMs) return { untilMs: standingMs, offence: table.get(offencesColumn, at), isNew: false };
      const costMs = threshold > 1 ? windowMs / (threshold - 1) : windowMs;
      const emptyAt = Math.max(nowMs, table.get(emptyColumn, at)) + costMs;
      // a thousandth of a place, so that the sum of rounded numbers is not taken for more than the window
      if (threshold > 1 && emptyAt - nowMs <= windowMs + costMs / 1000) {
        table.set(emptyColumn, at, emptyAt);
        this.keepUntil(at, emptyAt);
        return null;
      }
      const offence = table.get(offencesColumn, at) + 1;
      const untilMs = nowMs + Math.min(longestBanMs, firstMs * 2 ** Math.min(offence - 1, 40));
      table.set(untilColumn, at, untilMs);
      table.set(offencesColumn, at, offence);
      table.set(sketchColumn, at, 0);
      table.set(emptyColumn, at, 0);
      this.keepUntil(at, untilMs);
      return { untilMs, offence, isNew: true };
    });
  }

  /** What is known of a client is kept until then; of one that was banned, a day longer. */
  private keepUntil(at: number, ms: number): void {
    const { table } = this;
    const untilSeconds = Math.ceil(table.get(untilColumn, at) / 1000) + rememberedSeconds;
    const seconds = Math.ceil(ms / 1000) + 1;
    table.endAt(at, table.get(offencesColumn, at) > 0 ? Math.max(seconds, untilSeconds) : seconds);
  }

  /** Not banned any more, and its earlier bans are forgotten. Returns whether it was banned. */
  lift(low: number, high: number, nowMs: number): boolean {
    const { table } = this;
    const bucket = table.enter(low);
    try {
      const at = table.find(bucket, low, high, Math.floor(nowMs / 1000));
      if (at < 0) return false;
      const wasBanned = table.get(untilColumn, at) > nowMs;
      table.endAt(at, 0);
      return wasBanned;
    } finally {
      table.leave(bucket);
    }
  }

  /**
   * Notes a value that came with a limited request of this client, for `windowMs`, and estimates how many
   * different ones there were: by linear counting over 48 bits (Whang et al. 1990), good enough to tell 3 from 30.
   */
  noteDistinct(low: number, high: number, nowMs: number, hash: number, windowMs: number): number {
    return this.within(low, high, nowMs, (at) => {
      const { table } = this;
      const bit = 2 ** (mix(hash) % sketchBits);
      let sketch = table.get(sketchColumn, at);
      if (Math.floor(sketch / bit) % 2 === 0) table.set(sketchColumn, at, (sketch += bit));
      this.keepUntil(at, Math.max(table.get(emptyColumn, at), nowMs + windowMs));
      let set = 0;
      for (let rest = sketch; rest >= 1; rest = Math.floor(rest / 2)) set += rest % 2;
      return set >= sketchBits ? sketchBits * 4 : Math.round(-sketchBits * Math.log(1 - set / sketchBits));
    });
  }

  private within<T>(low: number, high: number, nowMs: number, work: (at: number) => T): T {
    const { table } = this;
    const nowSeconds = Math.floor(nowMs / 1000);
    const bucket = table.enter(low);
    try {
      const at = table.find(bucket, low, high, nowSeconds);
      return work(at < 0 ? table.claim(bucket, low, high, nowSeconds) : at);
    } finally {
      table.leave(bucket);
    }
  }
}
