// Numbers by key in memory that all workers share: what rate limits, bans and spent tokens are kept in. A table of
// fixed size, in buckets of 32 entries; a key lives in one bucket only, under one lock, so that what one worker writes
// is exact for the others. Nothing is allocated by a look-up.
//
// Memory: `keyTableBytes(entries, columns)`, all of it claimed when the table is made (the system gives pages when they
// are first written). Beyond: in a full bucket the entry that is of use for the shortest time gives way, and is counted
// in `evictions`. With a table filled to two fifths no bucket is full (Poisson, 32 entries: below one in a million).
//
// A key is 64 bits, made with seeds that only this process knows (client-key.ts): two keys meet with a probability of
// n² / 2^65, for a million keys of one in thirty million.
import { randomInt } from 'node:crypto';

const bucketSize = 32;
const headerWords = 4; // seed, seed, evictions, reserved
const spinsMax = 200;
const napMs = 1;
/** A holder that is gone for so long died in its few instructions: nothing else keeps a lock. */
const napsMax = 100;

/** Bytes of a table: 12 for the key and its end, 8 for each number, 4 for the lock of a bucket. */
export const keyTableBytes = (entries: number, columns: number): number =>
  headerWords * 4 + (entries / bucketSize) * 4 + entries * 12 + entries * 8 * columns;

/** `entries`: a power of two, 64 at least. The buffer is what threads hand to each other. */
export function createKeyTable(entries: number, columns: number): SharedArrayBuffer {
  if (entries < bucketSize * 2 || !Number.isInteger(Math.log2(entries)))
    throw new RangeError(`a table has a power of two entries, 64 at least, not ${entries}`);
  const buffer = new SharedArrayBuffer(keyTableBytes(entries, columns));
  new Uint32Array(buffer, 0, 2).set([randomInt(2 ** 32), randomInt(2 ** 32)]);
  return buffer;
}

/** A thread's view of a table. `at` below is the index of an entry; it is valid between `enter` and `leave`. */
export class KeyTable {
  readonly entries: number;
  /** Random, the same for all threads: who does not know them cannot make two keys meet. */
  readonly seeds: readonly [number, number];
  private readonly header: Int32Array;
  private readonly locks: Int32Array;
  private readonly lows: Uint32Array;
  private readonly highs: Uint32Array;
  /** Second in which an entry says no more than an absent one; 0 = empty. */
  private readonly ends: Uint32Array;
  private readonly columns: readonly Float64Array[];

  /** Throws RangeError for a buffer of another size than `createKeyTable` makes. */
  constructor(buffer: SharedArrayBuffer, columns: number) {
    const perEntry = 12 + 8 * columns + 4 / bucketSize;
    this.entries = Math.round((buffer.byteLength - headerWords * 4) / perEntry);
    if (keyTableBytes(this.entries, columns) !== buffer.byteLength)
      throw new RangeError('these bytes are no table of keys; make it with createKeyTable');
    const { entries } = this;
    const buckets = entries / bucketSize;
    this.header = new Int32Array(buffer, 0, headerWords);
    const [first = 0, second = 0] = new Uint32Array(buffer, 0, 2);
    this.seeds = [first, second];
    let offset = headerWords * 4;
    this.columns = Array.from({ length: columns }, (_, index) => {
      return new Float64Array(buffer, offset + index * entries * 8, entries);
    });
    offset += entries * 8 * columns;
    this.lows = new Uint32Array(buffer, offset, entries);
    this.highs = new Uint32Array(buffer, offset + entries * 4, entries);
    this.ends = new Uint32Array(buffer, offset + entries * 8, entries);
    this.locks = new Int32Array(buffer, offset + entries * 12, buckets);
  }

  /** Entries that gave way before their end, of all threads. */
  get evictions(): number {
    return Atomics.load(this.header, 2);
  }

  /** The bucket of a key, locked: `leave` it within the same turn, whatever happens. */
  enter(low: number): number {
    const bucket = (low >>> 0) % this.locks.length;
    if (Atomics.compareExchange(this.locks, bucket, 0, 1) !== 0) this.wait(bucket);
    return bucket;
  }

  private wait(bucket: number): void {
    for (let spins = 0; spins < spinsMax; spins += 1)
      if (Atomics.compareExchange(this.locks, bucket, 0, 1) === 0) return;
    // The holder does not run at the moment: it needs the processor more than this thread does.
    for (let naps = 0; naps < napsMax; naps += 1) {
      Atomics.wait(this.locks, bucket, 1, napMs);
      if (Atomics.compareExchange(this.locks, bucket, 0, 1) === 0) return;
    }
  }

  leave(bucket: number): void {
    Atomics.store(this.locks, bucket, 0);
  }

  /** −1: the key is not there, or its end has come. */
  find(bucket: number, low: number, high: number, nowSeconds: number): number {
    const { lows, highs, ends } = this;
    const from = bucket * bucketSize;
    for (let at = from; at < from + bucketSize; at += 1)
      if (lows[at] === low && highs[at] === high && (ends[at] as number) > nowSeconds) return at;
    return -1;
  }

  /** A place for a key that `find` did not find; its numbers are 0. */
  claim(bucket: number, low: number, high: number, nowSeconds: number): number {
    const { lows, highs, ends } = this;
    const from = bucket * bucketSize;
    let chosen = from;
    for (let at = from; at < from + bucketSize; at += 1) {
      if ((ends[at] as number) < (ends[chosen] as number)) chosen = at;
      if ((ends[at] as number) <= nowSeconds) {
        chosen = at;
        break;
      }
    }
    if ((ends[chosen] as number) > nowSeconds) Atomics.add(this.header, 2, 1);
    lows[chosen] = low;
    highs[chosen] = high;
    ends[chosen] = nowSeconds + 1;
    for (const column of this.columns) column[chosen] = 0;
    return chosen;
  }

  get(column: number, at: number): number {
    return (this.columns[column] as Float64Array)[at] as number;
  }

  set(column: number, at: number, value: number): void {
    (this.columns[column] as Float64Array)[at] = value;
  }

  /** From which second on the entry may be forgotten. */
  endAt(at: number, seconds: number): void {
    this.ends[at] = seconds;
  }

  /** Entries in use, for people: without locks, and as many steps as the table has entries. */
  countLive(nowSeconds: number): number {
    let live = 0;
    for (const end of this.ends) if (end > nowSeconds) live += 1;
    return live;
  }
}
