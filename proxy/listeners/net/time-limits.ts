// Time limits of many connections by one timer: a wheel of buckets, one a tick. Setting a limit later than the one that
// stands costs one assignment: the member stays in its bucket and is looked at again when that is due. So a connection
// that serves request after request touches the wheel once a minute. The wheel's clock leaves out the time in which the
// thread stood still: a client that could not be heard was not slow.
import { watchEvery } from '../../time/late-timers.js';

const tickMs = 100;
const bucketCount = 512; // limits beyond 51 s are looked at on the way

export interface Timed {
  /** When the limit is over, by the wheel's clock; Infinity = there is none. */
  dueMs: number;
  /** Kept by the wheel: in which bucket, -1 = in none, and where there. */
  bucket: number;
  bucketPlace: number;
  /** The limit is over. */
  timedOut(): void;
}

export class TimeLimits<T extends Timed> {
  /** Of the wheel's clock, as of the last tick. */
  private nowMs = 0;
  private readonly buckets: T[][] = Array.from({ length: bucketCount }, () => []);
  private tick = 0;
  private startedMs = performance.now();
  private readonly watch = watchEvery(tickMs, (nowMs, stoodStillMs) => {
    this.startedMs += stoodStillMs;
    this.advance(nowMs - this.startedMs);
  });

  /** `afterMs` from now on at the earliest, and not much later. */
  set(member: T, afterMs: number): void {
    member.dueMs = this.nowMs + afterMs + tickMs;
    const dueTick = this.tickOf(member.dueMs);
    if (member.bucket !== -1) {
      const distance = (member.bucket - this.tick + bucketCount) % bucketCount;
      if (this.tick + distance <= dueTick) return;
      this.remove(member);
    }
    this.place(member, dueTick);
  }

  /** No limit; the member leaves its bucket when that is due. */
  clear(member: T): void {
    member.dueMs = Number.POSITIVE_INFINITY;
  }

  remove(member: T): void {
    if (member.bucket === -1) return;
    const bucket = this.buckets[member.bucket] as T[];
    const last = bucket.pop() as T;
    if (last !== member) {
      bucket[member.bucketPlace] = last;
      last.bucketPlace = member.bucketPlace;
    }
    member.bucket = -1;
  }

  stop(): void {
    this.watch.stop();
  }

  private tickOf(ms: number): number {
    return Math.ceil(ms / tickMs);
  }

  private place(member: T, dueTick: number): void {
    const tick = Math.min(Math.max(dueTick, this.tick + 1), this.tick + bucketCount - 1);
    member.bucket = tick % bucketCount;
    const bucket = this.buckets[member.bucket] as T[];
    member.bucketPlace = bucket.length;
    bucket.push(member);
  }

  private advance(nowMs: number): void {
    this.nowMs = nowMs;
    const until = Math.floor(nowMs / tickMs);
    // A thread that stood still for longer than the wheel is round looks into every bucket once.
    if (until - this.tick > bucketCount) this.tick = until - bucketCount;
    while (this.tick < until) {
      this.tick += 1;
      const bucket = this.buckets[this.tick % bucketCount] as T[];
      const due = bucket.splice(0);
      for (const member of due) member.bucket = -1;
      for (const member of due) {
        if (member.bucket !== -1) continue; // placed anew by what another one's end did
        if (member.dueMs <= this.nowMs) {
          member.dueMs = Number.POSITIVE_INFINITY;
          member.timedOut();
        } else if (member.dueMs !== Number.POSITIVE_INFINITY) this.place(member, this.tickOf(member.dueMs));
      }
    }
  }
}
