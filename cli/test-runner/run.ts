// Runs the built tests, some files at a time (pace.ts), each as a process of its own (those that need databases,
// several in one: companions.ts), and ends with one plain line that CI reads: `N passed, N failed, N skipped`. Exit
// code 1 on any failure, on a test file that died, and when no test ran at all.
//   node bin/test.mjs [--quick] [--seeded] [--minutes=N] [word…]     words select files whose path contains one
//   node bin/test.mjs --watch [word…]                                see watch.ts
// --quick leaves out the suites that start whole planes or databases, run whole corpora, or ask for more time than tap
// gives by itself; `make check` uses it.
// --seeded runs only those that try cases drawn with SEED; `make fuzz` uses it. --minutes is the limit of one file.
//
// tap's own runner is not used: a file that ran out of time counted twice there, and the last file was not reported at
// all. Here a file that hangs is named with its open subtests, also when somebody ends the whole run (CI's own limit).
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formCompanies } from './companions.js';
import { runPaced } from './pace.js';
import type { Outcome } from './report.js';
import { selectTests, type Selection } from './selection.js';
import { printOutcome, printSummary, type Took } from './summary.js';
import { TestProcesses } from './test-processes.js';
import { watchTests } from './watch.js';

/**
 * One file. The longest takes a minute and a half on two cores; where everything takes ten times as long it is still in
 * time.
 */
const minutesMax = 20;

/**
 * Runs files in one process; where that does not pass, each alone, and what it then says is what counts. When each
 * passes alone, one of them left something behind that another stumbled over: that is a failure, told with what was
 * printed.
 */
async function runCompany(files: readonly string[], processes: TestProcesses): Promise<readonly Outcome[]> {
  const together = await processes.run(files);
  if (together.isPassed || files.length === 1) return [together];
  const alone: Outcome[] = [];
  for (const file of files) alone.push(await processes.run([file]));
  if (alone.some(({ isPassed }) => !isPassed)) return alone;
  together.report.take('# each of these files passes alone: one leaves something behind that another stumbles over');
  return [together];
}

/** More failures than these have a cause of their own, and are not tried again. */
const triedAgainMax = 3;
/** A file that ran this long hung, and would for as long again. */
const triedAgainMsMax = 5 * 60_000;

/**
 * Runs what failed beside others once more when nothing runs beside it: a test of time limits that two processors were
 * too busy for passes then, and is told as unstable, by name, in the output and at its end; what is broken fails again.
 * Both runs are printed. A run of one process was alone already.
 */
async function tryAgain(outcomes: Outcome[], processes: TestProcesses, take: (outcome: Outcome) => void) {
  const failed = outcomes.filter(({ isPassed }) => !isPassed);
  if (failed.length > triedAgainMax || outcomes.length === 1) return;
  for (const first of failed.filter(({ tookMs }) => tookMs <= triedAgainMsMax)) {
    const second = await processes.run(first.report.files);
    outcomes.splice(outcomes.indexOf(first), 1);
    take({ ...second, isUnstable: second.isPassed });
  }
}

/** Runs these files; resolves with whether all passed. */
async function runFiles(root: string, files: readonly string[], processes: TestProcesses): Promise<boolean> {
  const startedMs = Date.now();
  const outcomes: Outcome[] = [];
  const took = (): Took => ({ tookMs: Date.now() - startedMs, seconds: processes.seconds });
  const end = (signal: NodeJS.Signals): void => {
    for (const outcome of processes.cut(signal)) {
      outcomes.push(outcome);
      printOutcome(outcome);
    }
    printSummary(outcomes, files.length, took());
    process.exit(1);
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, end);
  mkdirSync(join(root, '.tap'), { recursive: true });
  const log = createWriteStream(join(root, '.tap', 'last-run.tap'));
  const take = (outcome: Outcome): void => {
    outcomes.push(outcome);
    printOutcome(outcome);
    const { file, lines } = outcome.report;
    const text = lines.map((line) => `    ${line}\n`).join('');
    log.write(`# Subtest: ${file}\n${text}${outcome.isPassed ? '' : 'not '}ok - ${file}\n`);
  };
  await runPaced(formCompanies(root, files), async (company) => {
    for (const outcome of await runCompany(company, processes)) take(outcome);
  });
  await tryAgain(outcomes, processes, take);
  for (const signal of signals) process.off(signal, end);
  log.end();
  return printSummary(outcomes, files.length, took());
}

function sayNothingFound({ words }: Selection): void {
  const what = words.length > 0 ? `matches ${words.join(', ')}` : 'in build/';
  console.error(
    `test: no test file ${what}; run \`node bin/build.mjs\` first, and compare the spelling with the tree.`,
  );
  console.log('0 passed, 0 failed, 0 skipped');
}

const flags = /^--(?:quick|seeded|watch|minutes=[1-9]\d*)$/;

/** `root` holds build/. Resolves with the exit code. */
export async function runTests(root: string, args: readonly string[]): Promise<number> {
  const wrong = args.filter((arg) => arg.startsWith('--') && !flags.test(arg));
  if (wrong.length > 0) {
    console.error(`test: ${wrong.join(' ')} is none of --quick, --seeded, --watch and --minutes=N.`);
    return 2;
  }
  const selection: Selection = {
    words: args.filter((word) => !word.startsWith('--')),
    quick: args.includes('--quick'),
    seeded: args.includes('--seeded'),
  };
  const minutes = Number(args.find((arg) => arg.startsWith('--minutes='))?.split('=')[1] ?? minutesMax);
  const processes = new TestProcesses(root, 60 * minutes);
  const run = (files: readonly string[]): Promise<boolean> => runFiles(root, files, processes);
  if (args.includes('--watch')) return watchTests(root, selection, run);
  const files = selectTests(root, selection);
  if (files.length > 0) return (await run(files)) ? 0 : 1;
  sayNothingFound(selection);
  return 1;
}
