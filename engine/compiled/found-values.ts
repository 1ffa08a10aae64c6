// The values of one call, from the moment they are handed to the hit finder until their hits are known.
import type { HitFinder } from './scan/hit-finder.js';
import { noHits, type ValueRecord } from './scan/memo.js';
import type { CompiledTransaction } from './transaction.js';

/** Storage for this many values is kept between transactions. */
const keptMax = 256;

/** `hits`: atoms that may hold on a value of this source (as a bit); `name` of the member, '' for a scalar. */
export type OnHits = (
  transaction: CompiledTransaction,
  phase: number,
  hits: readonly number[],
  bit: number,
  name: string,
) => void;

export class FoundValues {
  private readonly records: ValueRecord[] = [];
  private readonly names: string[] = [];
  private readonly bits: number[] = [];
  private count = 0;

  constructor(private readonly finder: HitFinder) {}

  /** The value's record, whose hits are known after `settle`. */
  take(scanClass: number, bit: number, name: string, value: string, slot: number): ValueRecord {
    const record = this.finder.findAt(slot, scanClass, value);
    if (this.finder.isSilent(record)) return record; // most are
    const at = this.count;
    this.count = at + 1;
    this.records[at] = record;
    this.bits[at] = bit;
    this.names[at] = name;
    return record;
  }

  /** Scans what has to be scanned, calls `onHits` for every value with hits, and begins anew. */
  settle(transaction: CompiledTransaction, phase: number, onHits: OnHits): void {
    const { records, bits, names, count } = this;
    this.finder.flush();
    for (let index = 0; index < count; index += 1) {
      const { hits } = records[index] as ValueRecord;
      if (hits !== noHits) onHits(transaction, phase, hits, bits[index] as number, names[index] as string);
    }
    // The arrays keep their storage; a body of very many values must not keep its values alive.
    if (count > keptMax) {
      records.length = 0;
      bits.length = 0;
      names.length = 0;
    }
    this.count = 0;
  }
}
