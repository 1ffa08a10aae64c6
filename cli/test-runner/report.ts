// What one test file printed (TAP), and what follows from it.

import { ownAssertions, readTook, type FileTime } from './companions.js';
import { Failures } from './failures.js';
import type { Positions } from './positions.js';

/** The names of the subtests that have begun and not ended, outermost first, from the lines of a TAP stream. */
function createProgress(): { take(line: string): void; names(): string[] } {
  const open: { readonly depth: number; readonly name: string }[] = [];
  return {
    take(line) {
      const depth = /^ */.exec(line)?.[0].length ?? 0;
      const begun = /^ *# Subtest: (.*)$/.exec(line)?.[1];
      if (begun === undefined && !/^ *(?:not )?ok \d+ - /.test(line)) return;
      const ends = open.findLastIndex(
        (one) => one.depth === depth && (begun !== undefined || line.includes(` - ${one.name}`)),
      );
      if (ends >= 0) open.splice(ends);
      if (begun !== undefined) open.push({ depth, name: begun });
    },
    names: () => open.map(({ name }) => name),
  };
}

/** Of the assertions of a file, as TAP sums them up. */
export interface Counts {
  total: number;
  pass: number;
  fail: number;
  skip: number;
  todo: number;
}

export class Report {
  readonly startedMs = Date.now();
  readonly lines: string[] = [];
  readonly counts: Counts = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 };
  /** Why something was skipped. */
  readonly skips: string[] = [];
  readonly failures: Failures;
  /** Of a company: its files that are over. */
  readonly over: FileTime[] = [];
  private readonly progress = createProgress();
  /** One, or a company in one process; relative to the root. */
  constructor(
    readonly files: readonly string[],
    private readonly positions: Positions,
  ) {
    this.failures = new Failures(positions);
  }

  /** As it is called in what is printed. */
  get file(): string {
    return this.files.join(' with ');
  }

  readonly take = (line: string): void => {
    this.lines.push(this.positions.inLine(line));
    this.progress.take(line);
    this.failures.take(line);
    const over = this.files.length > 1 ? readTook(line) : null;
    if (over !== null) this.over.push(over);
    const summary = /^# \{ ([a-z0-9:, ]+) \}$/.exec(line)?.[1] ?? '';
    for (const [, name, count] of summary.matchAll(/(\w+): (\d+)/g)) this.counts[name as keyof Counts] = Number(count);
    const skip = /^ *ok \d+ - (.*?) # SKIP ?(.*)$/.exec(line);
    if (skip !== null) this.skips.push(skip[2]?.trim() || `(no reason given: ${skip[1]})`);
  };

  /** Where it is: the open subtests. */
  place(): string {
    return this.progress.names().join(' > ') || 'no subtest was open';
  }

  /** As its process ended, with a code or by a signal, and the seconds of processor time it took. */
  end(code: number | string, seconds: number | null): Outcome {
    if (this.files.length > 1) this.forgetOwn();
    const { total, fail } = this.counts;
    const isComplete = this.files.length === 1 || this.over.length === this.files.length;
    const isPassed = code === 0 && fail === 0 && total > 0 && isComplete;
    if (!isComplete) this.take(`# ${this.over.length} of ${this.files.length} files ran to their end`);
    if (code === 0 && total === 0) this.take('# not one assertion ran');
    if (code !== 0 && fail === 0) this.take(`# ended with ${code} although no assertion failed, in: ${this.place()}`);
    return this.outcome(isPassed, seconds);
  }

  /** Its process was ended by somebody. */
  cut(why: string): Outcome {
    this.take(`# ${why} came while it ran, in: ${this.place()}`);
    return this.outcome(false, null);
  }

  private forgetOwn(): void {
    this.counts.total -= ownAssertions * this.over.length;
    this.counts.pass -= ownAssertions * this.over.length;
  }

  private outcome(isPassed: boolean, seconds: number | null): Outcome {
    return { report: this, isPassed, tookMs: Date.now() - this.startedMs, seconds };
  }
}

export interface Outcome {
  readonly report: Report;
  readonly isPassed: boolean;
  readonly tookMs: number;
  /** Of processor time; null where the system does not say. */
  readonly seconds: number | null;
  /** It failed beside others before, and passed alone. */
  readonly isUnstable?: boolean;
}
