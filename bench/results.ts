// What a run leaves behind, as data. `measures` is flat so that two results can be compared without knowing the cases.
import type { Measure } from './statistics.js';

export interface ResultRow {
  /** Stable key: `case / traffic / system / quantity`; compare.ts joins on it. */
  readonly key: string;
  readonly unit: string;
  /** Which way is good. */
  readonly better: 'lower' | 'higher' | 'none';
  readonly measure: Measure;
}
export interface Results {
  readonly format: 1;
  readonly at: string; // ISO 8601
  readonly commit: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGb: number;
    readonly kernel: string;
  };
  readonly node: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly rows: readonly ResultRow[];
  /** Things a reader must know: what was skipped and why, what looked wrong. */
  readonly notes: readonly string[];
}

/** Collects repetitions under keys; the cases add values, the runner turns them into rows. */
export class Recorder {
  private readonly kept = new Map<string, { unit: string; better: ResultRow['better']; values: number[] }>();
  readonly notes: string[] = [];

  add(key: string, unit: string, better: ResultRow['better'], value: number): void {
    const entry = this.kept.get(key) ?? { unit, better, values: [] };
    entry.values.push(value);
    this.kept.set(key, entry);
  }
  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }
  entries(): IterableIterator<[string, { unit: string; better: ResultRow['better']; values: number[] }]> {
    return this.kept.entries();
  }
}
