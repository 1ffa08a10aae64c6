// Runs the built tests with tap, two files at a time, and ends with one plain line that CI reads:
// `N passed, N failed, N skipped`. Exit code 1 on any failure, on a test file that died, and when no test ran at all.
//   node bin/test.mjs [--quick] [word…]     words select files whose path contains one of them
// --quick leaves out the suites that open sockets, start databases or run whole corpora; `make check` uses it.
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const slow = /(^|\/)(e2e|bench)\/|(agreement|corpus|corpora|oracle|ladder|regression|fuzz|mutation|wire)[^/]*\.test\.js$/;
/** Tests that start databases or the whole control plane say so by what they import. */
const slowImports = /testing\/(databases|app|rule-set)\.js|PGlite/;
const secondsMax = 600; // one file; corpus suites on a busy machine take minutes

function testFiles(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? testFiles(join(directory, entry.name)) : [join(directory, entry.name)]))
    .filter((file) => file.endsWith('.test.js'))
    .sort();
}

/** Totals and the reasons of skips, from the raw TAP. */
function read(tapFile) {
  const text = existsSync(tapFile) ? readFileSync(tapFile, 'utf8') : '';
  const totals = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 };
  const last = [...text.matchAll(/^# \{ ([a-z0-9:, ]+) \}$/gm)].at(-1);
  for (const [, name, count] of last?.[1].matchAll(/(\w+): (\d+)/g) ?? []) totals[name] = Number(count);
  const reasons = new Map();
  for (const [, name, reason] of text.matchAll(/^ *ok \d+ - (.*?) # SKIP ?(.*)$/gm)) {
    const key = reason.trim() || `(no reason given: ${name})`;
    reasons.set(key, (reasons.get(key) ?? 0) + 1);
  }
  const failed = [...text.matchAll(/^not ok \d+ - (\S+\.test\.js)/gm)].map(([, file]) => file);
  return { totals, reasons, failed };
}

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const words = args.filter((word) => !word.startsWith('--'));
const files = testFiles(join(root, 'build'))
  .map((file) => relative(root, file))
  .filter((file) => !(quick && (slow.test(file) || slowImports.test(readFileSync(join(root, file), 'utf8')))) && (words.length === 0 || words.some((word) => file.includes(word))));
if (files.length === 0) {
  console.error(`test: no test file ${words.length > 0 ? `matches ${words.join(', ')}` : 'in build/'}; run \`node bin/build.mjs\` first, and compare the spelling with the tree.`);
  console.log('0 passed, 0 failed, 0 skipped');
  process.exit(1);
}

/**
 * One line for a file that passed; for one that failed everything but its passed assertions. tap's own reporters
 * repaint the screen, which makes a log unreadable.
 */
function createPrinter() {
  let block = [];
  let blockFailed = false;
  const linesMax = 400;
  const settle = () => {
    if (!blockFailed) return;
    const shown = block.filter((line) => !/^ +ok \d/.test(line) && line.trim() !== '');
    console.log(shown.slice(0, linesMax).join('\n'));
    if (shown.length > linesMax) console.log(`… ${shown.length - linesMax} more lines in .tap/last-run.tap`);
    blockFailed = false;
  };
  return (line) => {
    if (line.startsWith('# Subtest: ')) {
      settle();
      block = [];
    }
    const file = /^(not )?ok \d+ - (\S+)(?: # time=([\d.]+)(ms|s|m))?/.exec(line);
    if (file === null) return void block.push(line);
    console.log(`${file[1] ? 'FAIL' : 'ok  '} ${file[2].replace(/^build\//, '')}${file[3] ? ` (${Math.round(Number(file[3]))} ${file[4]})` : ''}`);
    blockFailed = file[1] !== undefined;
    if (!blockFailed) block = [];
  };
}

/** Runs tap; resolves with its exit code, or the signal that ended it. */
function runTap(tapFile) {
  const runner = join(root, 'node_modules/tap/dist/esm/run.mjs');
  const args = [runner, 'run', '--jobs=2', `--timeout=${secondsMax}`, '--reporter=tap', '--disable-coverage', ...files];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal));
  const print = createPrinter();
  child.stdout.pipe(createWriteStream(tapFile));
  createInterface({ input: child.stdout }).on('line', print).on('close', () => print('# Subtest: '));
  return new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)));
}

const tapFile = join(root, '.tap', 'last-run.tap');
mkdirSync(dirname(tapFile), { recursive: true });
const startedMs = Date.now();
const status = await runTap(tapFile);

const { totals, reasons, failed } = read(tapFile);
const died = status !== 0 && totals.fail === 0 ? 1 : 0;
const failures = totals.fail + died;
for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
for (const file of failed) console.log(`failed file: ${file}`);
if (died === 1) console.log(`tap ended with ${status} although no assertion failed: a test file died or none was read; see above`);
console.log(`${files.length} test files in ${Math.round((Date.now() - startedMs) / 1000)} s`);
console.log(`${totals.pass} passed, ${failures} failed, ${totals.skip + totals.todo} skipped`);
process.exit(failures > 0 || totals.pass === 0 ? 1 : 0);
