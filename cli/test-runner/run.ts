// Runs the built tests, two files at a time, each as a process of its own, and ends with one plain line that CI reads:
// `N passed, N failed, N skipped`. Exit code 1 on any failure, on a test file that died, and when no test ran at all.
//   node bin/test.mjs [--quick] [--seeded] [--minutes=N] [word…]     words select files whose path contains one of them
// --quick leaves out the suites that start whole planes or databases, or run whole corpora; `make check` uses it.
// --seeded runs only those that try cases drawn with SEED; `make fuzz` uses it. --minutes is the limit of one file.
//
// tap's own runner is not used: a file that ran out of time counted twice there, and the last file was not reported at
// all. Here a file that hangs is named with its open subtests, also when somebody ends the whole run (CI's own limit).
import { spawn } from 'node:child_process';
import { chmodSync, createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const slow = /(^|\/)(e2e|bench)\/|(agreement|corpus|regression|wire)[^/]*\.test\.js$/;
/** Tests that start databases or the whole control plane say so by what they import. */
const slowImports = /testing\/(databases|app|rule-set)\.js|PGlite/;
const atOnce = 2;
/**
 * One file. The longest takes a minute and a half on two cores; where everything takes ten times as long it is still in
 * time.
 */
const minutesMax = 20;
const secondsToReport = 10; // tap names the subtest and the open handles when it is told; then the process is killed
const linesShownMax = 400;

function testFiles(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? testFiles(join(directory, entry.name)) : [join(directory, entry.name)]))
    .filter((file) => file.endsWith('.test.js'))
    .sort();
}

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const seeded = args.includes('--seeded');
const secondsMax = 60 * Number(args.find((arg) => arg.startsWith('--minutes='))?.split('=')[1] ?? minutesMax);
const words = args.filter((word) => !word.startsWith('--'));
const textOf = (file) => readFileSync(join(root, file), 'utf8');
const files = testFiles(join(root, 'build'))
  .map((file) => relative(root, file))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .filter((file) => !quick || !(slow.test(file) || slowImports.test(textOf(file))))
  .filter((file) => !seeded || /process\.env\W+SEED/.test(textOf(file)));
if (files.length === 0) {
  console.error(
    `test: no test file ${words.length > 0 ? `matches ${words.join(', ')}` : 'in build/'}; run \`node bin/build.mjs\` first, and compare the spelling with the tree.`,
  );
  console.log('0 passed, 0 failed, 0 skipped');
  process.exit(1);
}

/** The names of the subtests that have begun and not ended, outermost first, from the lines of a TAP stream. */
function createProgress() {
  const open = []; // { depth, name }
  return {
    take(line) {
      const depth = /^ */.exec(line)[0].length;
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

/** What one test file printed, and how it ended. */
function createReport(file) {
  const lines = [];
  const progress = createProgress();
  const counts = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 };
  const skips = [];
  return {
    file,
    startedMs: Date.now(),
    lines,
    counts,
    skips,
    openSubtests: progress.names,
    take(line) {
      lines.push(line);
      progress.take(line);
      const summary = /^# \{ ([a-z0-9:, ]+) \}$/.exec(line)?.[1] ?? '';
      for (const [, name, count] of summary.matchAll(/(\w+): (\d+)/g)) counts[name] = Number(count);
      const skip = /^ *ok \d+ - (.*?) # SKIP ?(.*)$/.exec(line);
      if (skip !== null) skips.push(skip[2].trim() || `(no reason given: ${skip[1]})`);
    },
  };
}

function whereIn(report) {
  return report.openSubtests().join(' > ') || 'no subtest was open';
}

/** By its process: the report of the file that it runs. */
const running = new Map();

/** Temporary files of tests: those of a test that was killed, and of processes that tests kill, go with the run. */
const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
chmodSync(scratch, 0o711); // PostgreSQL runs as a user of its own where this runs as root
process.once('exit', () => {
  try {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    console.log(`${scratch} was not removed: ${error.message}`);
  }
});

/** Runs one file; resolves with its report when its process is gone. Never rejects. */
function runFile(file) {
  const report = createReport(file);
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TAP_TIMEOUT: String(secondsMax), TMPDIR: scratch },
  });
  running.set(child, report);
  const late = setTimeout(
    () => {
      report.take(`# no end after ${secondsMax} s, in: ${whereIn(report)}`);
      child.kill('SIGALRM'); // tap's word for "report what you wait for"
      setTimeout(() => child.kill('SIGKILL'), secondsToReport * 1000).unref();
    },
    (secondsMax + secondsToReport) * 1000,
  );
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', report.take);
  return new Promise((resolve) => {
    child.on('error', (error) => report.take(`# ${error.message}`));
    child.on('exit', () =>
      setTimeout(() => {
        report.take('# a process that it left behind held its output open');
        child.stdout.destroy();
        child.stderr.destroy();
      }, secondsToReport * 1000).unref(),
    );
    child.on('close', (code, signal) => {
      clearTimeout(late);
      running.delete(child);
      const end = signal ?? code;
      const isPassed = end === 0 && report.counts.fail === 0 && report.counts.total > 0;
      if (end === 0 && report.counts.total === 0) report.take('# not one assertion ran');
      if (end !== 0 && report.counts.fail === 0)
        report.take(`# ended with ${end} although no assertion failed, in: ${whereIn(report)}`);
      resolve({ ...report, isPassed, tookMs: Date.now() - report.startedMs });
    });
  });
}

/** One line for a file that passed; for one that failed everything but its passed assertions. */
function print({ file, lines, isPassed, tookMs }) {
  console.log(`${isPassed ? 'ok  ' : 'FAIL'} ${file.replace(/^build\//, '')} (${tookMs} ms)`);
  if (isPassed) return;
  const shown = lines.filter((line) => !/^ +ok \d/.test(line) && line.trim() !== '');
  console.log(shown.slice(-linesShownMax).join('\n'));
  if (shown.length > linesShownMax)
    console.log(`… ${shown.length - linesShownMax} lines before that are in .tap/last-run.tap`);
}

function summarize(reports, tookMs) {
  const totals = { pass: 0, fail: 0, skip: 0, todo: 0 };
  for (const { counts } of reports) for (const name of Object.keys(totals)) totals[name] += counts[name];
  const reasons = new Map();
  for (const reason of reports.flatMap(({ skips }) => skips)) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const failed = reports.filter(({ isPassed }) => !isPassed);
  const died = failed.filter(({ counts }) => counts.fail === 0).length;
  for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
  for (const { file } of failed) console.log(`failed file: ${file}`);
  console.log(`${reports.length} of ${files.length} test files in ${Math.round(tookMs / 1000)} s`);
  console.log(`${totals.pass} passed, ${totals.fail + died} failed, ${totals.skip + totals.todo} skipped`);
  return totals.pass > 0 && failed.length === 0 && reports.length === files.length;
}

const startedMs = Date.now();
const reports = [];
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const [child, report] of running) {
      report.take(`# ${signal} came while it ran, in: ${whereIn(report)}`);
      const ended = { ...report, isPassed: false, tookMs: Date.now() - report.startedMs };
      reports.push(ended);
      print(ended);
      child.kill('SIGKILL');
    }
    summarize(reports, Date.now() - startedMs);
    process.exit(1);
  });
}

mkdirSync(join(root, '.tap'), { recursive: true });
const log = createWriteStream(join(root, '.tap', 'last-run.tap'));
const waiting = [...files];
const work = async () => {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const report = await runFile(file);
    reports.push(report);
    print(report);
    log.write(
      `# Subtest: ${file}\n${report.lines.map((line) => `    ${line}\n`).join('')}${report.isPassed ? '' : 'not '}ok - ${file}\n`,
    );
  }
};
await Promise.all(Array.from({ length: atOnce }, work));
process.exitCode = summarize(reports, Date.now() - startedMs) ? 0 : 1;
log.end();
