// What the automata of one worker did, over all generations.
import type { InspectionCounters } from '../inspection/inspection.js';
import { counterKey } from './metrics.js';

type Counted = { readonly counters?: () => InspectionCounters } | null;

function addCounters(into: { -readonly [Name in keyof InspectionCounters]: number }, inspection: Counted): void {
  const from = inspection?.counters?.();
  if (from === undefined) return;
  into.lookups += from.lookups;
  into.found += from.found;
  into.scans += from.scans;
  into.scannedBytes += from.scannedBytes;
}

/**
 * Each ruleset counts for itself and takes its figures with it when it goes, so they are added up here first; counters
 * must never go backwards. Bodies that are inspected on threads of the pool are not in them.
 */
export class InspectionTotals {
  private readonly retired = { lookups: 0, found: 0, scans: 0, scannedBytes: 0 };

  constructor(private readonly worker: number) {}

  /** Before its release, once. */
  retire(inspection: Counted): void {
    addCounters(this.retired, inspection);
  }

  /** By `counterKey`. `live` = those that are not retired: what serves and what drains. */
  counters(live: Iterable<Counted>): Record<string, number> {
    const sum = { ...this.retired };
    for (const inspection of live) addCounters(sum, inspection);
    const labels = { worker: String(this.worker) };
    return {
      [counterKey('memoLookups', labels)]: sum.lookups,
      [counterKey('memoFound', labels)]: sum.found,
      [counterKey('scans', labels)]: sum.scans,
      [counterKey('scannedBytes', labels)]: sum.scannedBytes,
    };
  }
}
