// A bounded map from value to record, per thread and scan class. Two generations instead of eviction lists: when the
// young one is full it becomes the old one, and what is still in use moves back up when it is asked for. Most values of
// real traffic repeat (names, browser headers, cookies), so most lookups answer without a scan (measurements.md).

/** What is known of one value in one scan class: the atoms that may hold on it. */
export class ValueRecord {
  hits: readonly number[] = noHits;
  constructor(
    readonly value: string,
    readonly scanClass: number,
  ) {}
}
export const noHits: readonly number[] = Object.freeze([]);

export class Memo {
  private young = new Map<string, ValueRecord>();
  private old = new Map<string, ValueRecord>();
  private youngBytes = 0;
  lookups = 0;
  found = 0;

  /** A generation holds at most `entriesMax` records and `bytesMax` bytes of values; longer values than `valueBytesMax` are never kept. */
  constructor(
    private readonly entriesMax: number,
    private readonly bytesMax: number,
    readonly valueBytesMax: number,
  ) {}

  find(value: string): ValueRecord | undefined {
    this.lookups += 1;
    const young = this.young.get(value);
    if (young !== undefined) {
      this.found += 1;
      return young;
    }
    const old = this.old.get(value);
    if (old === undefined) return undefined;
    this.found += 1;
    this.keep(old);
    return old;
  }

  peek(value: string): ValueRecord | undefined {
    return this.young.get(value) ?? this.old.get(value);
  }

  keep(record: ValueRecord): void {
    const bytes = record.value.length;
    if (bytes > this.valueBytesMax) return;
    if (this.young.size >= this.entriesMax || this.youngBytes + bytes > this.bytesMax) {
      this.old = this.young;
      this.young = new Map();
      this.youngBytes = 0;
    }
    this.young.set(record.value, record);
    this.youngBytes += bytes;
  }
}
