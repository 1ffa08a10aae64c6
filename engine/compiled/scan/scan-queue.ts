// The scans that one native call will do: which text, which database, and whose hits they are.
import type { Scanner } from '../../native/matcher.js';
import type { ClassTable } from './class-table.js';
import { addHit, type ValueRecord } from './memo.js';

/** A scan of a text that only some pipelines make: hits of the others' patterns do not count. */
export interface SharedText {
  readonly table: ClassTable;
  /** Where in the queue's `positions` the texts of that value's pipeline positions begin. */
  readonly textOf: number;
  readonly text: number;
}

const positionsStart = 4096;
/** Storage for this many jobs is kept between flushes. */
const jobsKeptMax = 1024;

export class ScanQueue {
  private jobs = new Int32Array(3 * 256);
  private count = 0;
  private hits = new Int32Array(2 * 1024);
  private readonly records: ValueRecord[] = [];
  private readonly shared: (SharedText | null)[] = [];
  /** Text of each pipeline position, one run per changed value of this flush. */
  positions = new Uint16Array(positionsStart);
  private positionsUsed = 0;

  constructor(
    private readonly scanner: Scanner | null, // null when the plan has no database
    /** By database: pattern id → atom. */
    private readonly atomOf: readonly (readonly number[])[],
  ) {}

  add(database: number, offset: number, length: number, record: ValueRecord, shared: SharedText | null): void {
    if (database === -1) return;
    const at = 3 * this.count;
    if (at + 3 > this.jobs.length) {
      const larger = new Int32Array(2 * this.jobs.length);
      larger.set(this.jobs);
      this.jobs = larger;
    }
    this.jobs[at] = database;
    this.jobs[at + 1] = offset;
    this.jobs[at + 2] = length;
    this.count += 1;
    this.records[this.count - 1] = record;
    this.shared[this.count - 1] = shared;
  }

  /** Room in `positions` for a value's pipeline positions; returns where it begins. */
  reservePositions(count: number): number {
    const at = this.positionsUsed;
    if (at + count > this.positions.length) {
      const larger = new Uint16Array(2 * (at + count));
      larger.set(this.positions);
      this.positions = larger;
    }
    this.positionsUsed = at + count;
    return at;
  }

  /** Scans everything that was added; offsets are into `data`. */
  run(data: Buffer): void {
    const { count } = this;
    if (count === 0) return;
    const scanner = this.scanner as Scanner;
    let found = scanner.scan(data, this.jobs, count, this.hits);
    while (found < 0) {
      this.hits = new Int32Array(2 * Math.max(this.hits.length, -1 - found + 64));
      found = scanner.scan(data, this.jobs, count, this.hits);
    }
    for (let pair = 0; pair < found; pair += 1)
      this.takeHit(this.hits[2 * pair] as number, this.hits[2 * pair + 1] as number);
    this.count = 0;
    this.positionsUsed = 0;
    if (count > jobsKeptMax) {
      this.records.length = 0;
      this.shared.length = 0;
      this.positions = new Uint16Array(positionsStart);
    }
  }

  private takeHit(job: number, pattern: number): void {
    const database = this.jobs[3 * job] as number;
    const atom = (this.atomOf[database] as readonly number[])[pattern] as number;
    const shared = this.shared[job] as SharedText | null;
    if (shared !== null && this.positions[shared.textOf + (shared.table.positionOf[atom] as number)] !== shared.text)
      return;
    addHit(this.records[job] as ValueRecord, atom);
  }
}
