// Runs the built tests with tap, two files at a time, and ends with one plain line that CI reads:
// `N passed, N failed, N skipped`. Exit code 1 on any failure, on a test file that died, and when no test ran at all.
//   node bin/test.mjs [--quick] [word…]     words select files whose path contains one of them
// --quick leaves out the suites that open sockets, start databases or run whole corpora; `make check` uses it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const slow = /(^|\/)(e2e|bench)\/|(corpus|corpora|oracle|ladder|regression|fuzz|mutation|wire)[^/]*\.test\.js$/;
const secondsMax = 600; // one file; corpus suites on a busy machine take minutes

function testFiles(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? testFiles(join(directory, entry.name)) : [join(directory, entry.name)]))
    .filter((file) => file.endsWith('.test.js'))
    .sort();
}

/** Totals and the reasons of skips, from the raw TAP that tap saved. */
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
  .filter((file) => !(quick && slow.test(file)) && (words.length === 0 || words.some((word) => file.includes(word))));
if (files.length === 0) {
  console.error(`test: no test file ${words.length > 0 ? `matches ${words.join(', ')}` : 'in build/'}; run \`node bin/build.mjs\` first, and compare the spelling with the tree.`);
  console.log('0 passed, 0 failed, 0 skipped');
  process.exit(1);
}

const tapFile = join(root, '.tap', 'last-run.tap');
mkdirSync(dirname(tapFile), { recursive: true });
const runner = join(root, 'node_modules/tap/dist/esm/run.mjs');
const reporter = process.env.TAP_REPORTER ?? 'terse';
const outcome = spawnSync(process.execPath, [runner, 'run', '--jobs=2', `--timeout=${secondsMax}`, `--reporter=${reporter}`, '--disable-coverage', `--output-file=${tapFile}`, ...files], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

const { totals, reasons, failed } = read(tapFile);
const died = outcome.status !== 0 && totals.fail === 0 ? 1 : 0;
const failures = totals.fail + died;
for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
for (const file of failed) console.log(`failed file: ${file}`);
if (died === 1) console.log(`tap ended with ${outcome.status ?? outcome.signal} although no assertion failed: a test file died or none was read; see above`);
console.log(`${files.length} test files`);
console.log(`${totals.pass} passed, ${failures} failed, ${totals.skip + totals.todo} skipped`);
process.exit(failures > 0 || totals.pass === 0 ? 1 : 0);
