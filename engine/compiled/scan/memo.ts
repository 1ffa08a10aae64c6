// What is known of values seen before, per thread: a bounded two-way table, looked up by a hash that the caller has
// anyway. Most values of real traffic repeat (names, browser headers, cookies), so most lookups answer without a scan.
// Not a Map: a value that is not there (a token, an id; several in every request) would walk a chain
// of keys somewhere in memory, in each of two generations; here it reads one cache line. Values that collide push each
// other out and nothing else, so a client that sends colliding values slows only those.
import { Notes, spread } from '../../parse/seen-once.js';

/** What is known of one value in one scan class: the atoms that may hold on it. */
export class ValueRecord {
  hits: readonly number[] = noHits;
  constructor(
    readonly value: string,
    readonly scanClass: number,
    /** Of this record alone, in its finder: no other value, and not this one after it was forgotten. */
    readonly number: number,
  ) {}
}
export const noHits: readonly number[] = Object.freeze([]);

export function addHit(record: ValueRecord, atom: number): void {
  if (record.hits === noHits) record.hits = [atom];
  else if (!record.hits.includes(atom)) (record.hits as number[]).push(atom);
}

/**
 * Notes of values seen once; a power of two. At four new values a request they last for some eight thousand requests.
 */
const notesMax = 1 << 15;

export class Memo {
  private readonly keys: Int32Array;
  private readonly records: (ValueRecord | undefined)[];
  private readonly mask: number;
  private readonly notes = new Notes(notesMax);
  private bytes = 0;
  lookups = 0;
  found = 0;

  /**
   * At most `entriesMax` records (rounded up to a power of two) and `bytesMax` bytes of values; longer values than
   * `valueBytesMax` are never kept.
   */
  constructor(
    entriesMax: number,
    private readonly bytesMax: number,
    readonly valueBytesMax: number,
  ) {
    let slots = 2;
    while (slots < entriesMax) slots *= 2;
    this.keys = new Int32Array(slots);
    this.records = new Array<ValueRecord | undefined>(slots).fill(undefined);
    this.mask = slots - 2;
  }

  /** What `find` and `keep` want: the hash of a value, spread, and told apart by class. */
  keyOf(hash: number, scanClass: number): number {
    return spread((hash + Math.imul(scanClass + 1, 0x9e3779b1)) | 0);
  }

  find(scanClass: number, value: string, key: number): ValueRecord | undefined {
    this.lookups += 1;
    const record = this.peek(scanClass, value, key);
    if (record === undefined) return undefined;
    this.found += 1;
    const first = key & this.mask;
    if (this.records[first] !== record) this.swap(first);
    return record;
  }

  /** `find` that neither counts nor keeps alive. */
  peek(scanClass: number, value: string, key: number): ValueRecord | undefined {
    const first = key & this.mask;
    for (let at = first; at <= first + 1; at += 1) {
      if (this.keys[at] !== key) continue;
      const record = this.records[at];
      if (record !== undefined && record.scanClass === scanClass && record.value === value) return record;
    }
    return undefined;
  }

  /** Of the two places the second is for what is new, the first for what was asked for again. */
  keep(record: ValueRecord, key: number): void {
    const { length } = record.value;
    if (length > this.valueBytesMax) return;
    if (this.bytes + length > this.bytesMax) this.forget();
    const at = (key & this.mask) + 1;
    this.bytes += length - (this.records[at]?.value.length ?? 0);
    this.keys[at] = key;
    this.records[at] = record;
  }

  /** Whether a value of this key came before: what came once is not kept. */
  wasSeen(key: number): boolean {
    return this.notes.wasSeen(key);
  }

  private swap(first: number): void {
    const { keys, records } = this;
    const key = keys[first] as number;
    const record = records[first];
    keys[first] = keys[first + 1] as number;
    records[first] = records[first + 1];
    keys[first + 1] = key;
    records[first + 1] = record;
  }

  private forget(): void {
    this.keys.fill(0);
    this.records.fill(undefined);
    this.bytes = 0;
  }
}
