// Findings that are stored under an earlier path: of a record, the keys that it had when a directory further down was
// taken for the repository.
import { KeysOfReport } from '../fingerprint.js';
import type { FindingRecord, Former, FormerKeys } from '../record.js';
import { below } from './paths.js';
import type { Lifted } from './lifts.js';

interface Place {
  readonly record: FindingRecord;
  readonly mark: string;
}
interface Relocating {
  recordAt(record: FindingRecord, path: string): FindingRecord;
}

export class FormerPlaces implements Former {
  private readonly notes = new WeakMap<FindingRecord, readonly Place[]>();
  private readonly reports = new Map<string, KeysOfReport>();
  private readonly lifted: readonly Lifted[];
  private readonly roots: Relocating;

  /** `lifted`: the oldest first. */
  constructor(lifted: readonly Lifted[], roots: Relocating) {
    [this.lifted, this.roots] = [lifted, roots];
  }

  /** `given`: as the report has it; `record`: with its path in the repository. */
  note(given: FindingRecord, record: FindingRecord): void {
    const { location } = record;
    if (!('path' in location) || location.path === undefined) return;
    let [path, mark] = [location.path, ''];
    const all: Place[] = [];
    for (const lift of this.lifted.toReversed()) {
      const inner = below(path, lift.prefix) ?? '';
      if (inner === '') continue;
      [path, mark] = [inner, `${lift.mark}${mark}`];
      all.push({ record: this.roots.recordAt(given, path), mark });
    }
    if (all.length > 0) this.notes.set(record, all);
  }

  /** Of a record that was noted; in the order of the report, as records of one place are counted. */
  keysOf(record: FindingRecord, tool: string, enrich: (record: FindingRecord) => FindingRecord): readonly FormerKeys[] {
    return (this.notes.get(record) ?? []).flatMap(({ record: former, mark }) => {
      let report = this.reports.get(mark);
      if (report === undefined) this.reports.set(mark, (report = new KeysOfReport(tool)));
      const taken = report.take(enrich(former));
      return taken === null ? [] : [{ keys: taken.keys, mark }];
    });
  }
}
