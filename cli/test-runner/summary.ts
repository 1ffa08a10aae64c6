// What is printed of a run: a line a file, and at its end one plain line that CI reads.
import { describeFailures } from './failures.js';
import type { Seconds } from './processor-time.js';
import type { Counts, Outcome } from './report.js';

const linesShownMax = 200;

const describeTime = (tookMs: number, seconds: number | null): string =>
  seconds === null ? `${tookMs} ms` : `${tookMs} ms, ${seconds.toFixed(1)} s CPU`;

/**
 * One line for a file that passed; for one that failed its failed assertions first, and then everything but those that
 * passed.
 */
export function printOutcome({ report, isPassed, tookMs, seconds }: Outcome): void {
  const files = isPassed && report.over.length > 0 ? report.over : [{ file: report.file, tookMs, seconds }];
  for (const { file, ...time } of files) {
    const name = file.replaceAll(/\bbuild\//g, '');
    console.log(`${isPassed ? 'ok  ' : 'FAIL'} ${name} (${describeTime(time.tookMs, time.seconds)})`);
  }
  if (isPassed) return;
  for (const line of describeFailures(report.failures.list)) console.log(line);
  const shown = report.lines.filter((line) => !/^ +ok \d/.test(line) && line.trim() !== '');
  console.log(shown.slice(-linesShownMax).join('\n'));
  if (shown.length > linesShownMax)
    console.log(`… ${shown.length - linesShownMax} lines before that are in .tap/last-run.tap`);
}

/** What a run took, on the clock and of processor time. */
export interface Took {
  readonly tookMs: number;
  /** Null where the system does not say. */
  readonly seconds: Seconds | null;
}

/** Whether everything passed; `filesWanted` counts those that were not run, too. */
export function printSummary(outcomes: readonly Outcome[], filesWanted: number, { tookMs, seconds }: Took): boolean {
  const sum = (name: keyof Counts): number => outcomes.reduce((all, { report }) => all + report.counts[name], 0);
  if (seconds !== null) {
    const { user, system } = seconds;
    console.log(`${Math.round(user + system)} s of processor time (${Math.round(system)} s of it the system's)`);
  }
  const reasons = new Map<string, number>();
  for (const reason of outcomes.flatMap(({ report }) => report.skips))
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const failed = outcomes.filter(({ isPassed }) => !isPassed);
  const died = failed.filter(({ report }) => report.counts.fail === 0).length;
  for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
  for (const { report, isUnstable } of outcomes)
    if (isUnstable === true) console.log(`unstable file: ${report.file} failed beside others and passed alone`);
  for (const { report } of failed) {
    console.log(`failed file: ${report.file}`);
    for (const line of describeFailures(report.failures.list)) console.log(line);
  }
  const filesRun = outcomes.reduce((all, { report }) => all + report.files.length, 0);
  console.log(`${filesRun} of ${filesWanted} test files in ${Math.round(tookMs / 1000)} s`);
  console.log(`${sum('pass')} passed, ${sum('fail') + died} failed, ${sum('skip') + sum('todo')} skipped`);
  return sum('pass') > 0 && failed.length === 0 && filesRun === filesWanted;
}
