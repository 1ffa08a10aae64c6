// Numbers by key in memory that all workers share: what rate limits, bans and spent tokens are kept in. A table of
// fixed size, in buckets of 31 entries; a key lives in one bucket only, under one lock, so that what one worker writes
// is exact for the others. Nothing is allocated by a look-up.
//
// A look-up costs what it has to fetch from memory. So a bucket lies in one piece: two cache lines with the lock and
// the first halves of the keys, and behind them for each entry its second half, its end and its numbers side by side.
//
// Memory: `keyTableBytes(entries, columns)`, all of it claimed when the table is made (the system gives pages when they
// are first written). Beyond: in a full bucket the entry that is of use for the shortest time gives way, and is counted
// in `evictions`. With a table filled to two fifths one bucket in a million is full (Poisson).
//
// A key is 64 bits, made with seeds that only this process knows (client-key.ts): two keys meet with a probability of
// n² / 2^65, for a million keys of one in thirty million.
import { randomInt } from 'node:crypto';

const bucketEntries = 31;
/** Of a bucket: its lock, then the first halves of its keys. */
const headWords = 32;
/** Of the table: seed, seed, evictions, and room up to the next cache line. */
const tableWords = 16;
const spinsMax = 200;
const napMs = 1;
/** A holder that is gone for so long died in its few instructions: nothing else keeps a lock. */
const napsMax = 100;

/** Second half, end, and the numbers as doubles. */
const entryWords = (columns: number): number => 2 + 2 * columns;
const bucketWords = (columns: number): number => headWords + bucketEntries * entryWords(columns);

/** Bytes of a table of so many buckets. */
const tableBytes = (buckets: number, columns: number): number => (tableWords + buckets * bucketWords(columns)) * 4;

/** Bytes of a table that has room for so many entries: 12 for the key and its end, 8 for each number, and a lock. */
export const keyTableBytes = (entries: number, columns: number): number => tableBytes(bucketsFor(entries), columns);

const bucketsFor = (entries: number): number => Math.ceil(entries / bucketEntries);

/** The buffer is what threads hand to each other. `seeds`: known to nobody but those who share what is in it. */
export function createKeyTable(
  entries: number,
  columns: number,
  seeds: readonly [number, number] = [randomInt(2 ** 32), randomInt(2 ** 32)],
): SharedArrayBuffer {
  if (!Number.isInteger(entries) || entries < 1) throw new RangeError(`a table has entries, not ${entries}`);
  const buffer = new SharedArrayBuffer(keyTableBytes(entries, columns));
  new Uint32Array(buffer, 0, 2).set(seeds);
  return buffer;
}

/** A thread's view of a table. `at` below is the place of an entry; it is valid between `enter` and `leave`. */
export class KeyTable {
  readonly entries: number;
  /** Random, the same for all threads: who does not know them cannot make two keys meet. */
  readonly seeds: readonly [number, number];
  private readonly locks: Int32Array;
  private readonly words: Uint32Array;
  private readonly numbers: Float64Array;
  private readonly buckets: number;
  private readonly perBucket: number;
  private readonly perEntry: number;

  /** Throws RangeError for a buffer of another size than `createKeyTable` makes. */
  constructor(buffer: SharedArrayBuffer, columns: number) {
    this.perEntry = entryWords(columns);
    this.perBucket = bucketWords(columns);
    this.buckets = Math.floor((buffer.byteLength / 4 - tableWords) / this.perBucket);
    if (this.buckets < 1 || tableBytes(this.buckets, columns) !== buffer.byteLength)
      throw new RangeError('these bytes are no table of keys; make it with createKeyTable');
    this.entries = this.buckets * bucketEntries;
    this.locks = new Int32Array(buffer);
    this.words = new Uint32Array(buffer);
    this.numbers = new Float64Array(buffer, 0, Math.floor(buffer.byteLength / 8));
    const [first = 0, second = 0] = this.words;
    this.seeds = [first, second];
  }

  /** Entries that gave way before their end, of all threads. */
  get evictions(): number {
    return Atomics.load(this.locks, 2);
  }

  /** The bucket of a key, locked: `leave` it within the same turn, whatever happens. */
  enter(low: number): number {
    const bucket = tableWords + ((low >>> 0) % this.buckets) * this.perBucket;
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
    const { words, perEntry } = this;
    for (let index = 1; index < headWords; index += 1) {
      if (words[bucket + index] !== low) continue;
      const at = bucket + headWords + (index - 1) * perEntry;
      if (words[at] === high && (words[at + 1] as number) > nowSeconds) return at;
    }
    return -1;
  }

  /** A place for a key that `find` did not find; its numbers are 0. */
  claim(bucket: number, low: number, high: number, nowSeconds: number): number {
    const { words, perEntry } = this;
    let chosen = 0;
    let soonest = Number.POSITIVE_INFINITY;
    for (let index = 0; index < bucketEntries && soonest > nowSeconds; index += 1) {
      const end = words[bucket + headWords + index * perEntry + 1] as number;
      if (end >= soonest) continue;
      soonest = end;
      chosen = index;
    }
    if (soonest > nowSeconds) Atomics.add(this.locks, 2, 1);
    const at = bucket + headWords + chosen * perEntry;
    words[bucket + 1 + chosen] = low;
    words[at] = high;
    words[at + 1] = nowSeconds + 1;
    words.fill(0, at + 2, at + perEntry);
    return at;
  }

  get(column: number, at: number): number {
    return this.numbers[(at >>> 1) + 1 + column] as number;
  }

  set(column: number, at: number, value: number): void {
    this.numbers[(at >>> 1) + 1 + column] = value;
  }

  /** From which second on the entry may be forgotten. */
  endAt(at: number, seconds: number): void {
    this.words[at + 1] = seconds;
  }

  /** Sets a number of all entries to 0, bucket by bucket; an entry whose numbers are all 0 then is forgotten. */
  clearColumn(column: number): void {
    for (let number = 0; number < this.buckets; number += 1) {
      const bucket = this.enter(number);
      for (let index = 0; index < bucketEntries; index += 1) {
        const at = bucket + headWords + index * this.perEntry;
        if (this.words[at + 1] === 0) continue;
        this.set(column, at, 0);
        if (this.isEmpty(at)) this.endAt(at, 0);
      }
      this.leave(bucket);
    }
  }

  private isEmpty(at: number): boolean {
    for (let word = at + 2; word < at + this.perEntry; word += 1) if (this.words[word] !== 0) return false;
    return true;
  }

  /** Entries in use, for people: without locks, and as many steps as the table has entries. */
  countLive(nowSeconds: number): number {
    const { words, perBucket, perEntry } = this;
    let live = 0;
    for (let bucket = tableWords; bucket < words.length; bucket += perBucket)
      for (let index = 0; index < bucketEntries; index += 1)
        if ((words[bucket + headWords + index * perEntry + 1] as number) > nowSeconds) live += 1;
    return live;
  }
}
