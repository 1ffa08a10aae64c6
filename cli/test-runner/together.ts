// Run as a process: several test files one after another, each when the tests of the one before are over.
//   GATEHOUSE_TEST_FILES='["FILE",…]' node build/cli/test-runner/together.js FILE    relative to the working directory
// The first file is the argument, which makes its directories (t.testdir) the company's own; with all as arguments,
// whose names tap puts into one, that name would be too long for a file system.
// What they share is what costs most and is theirs to share: Node.js, the modules, one server of each database, whose
// databases are emptied between suites. Which files may share is said by companions.ts.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { describeTook, filesVariable } from './companions.js';
import { readSeconds } from './processor-time.js';

const files = JSON.parse(process.env[filesVariable] ?? '[]') as readonly string[];
delete process.env[filesVariable];
const secondsMax = Number(process.env['TAP_TIMEOUT'] ?? 30); // tap's default

/** Takes back what a file may set for those that run after it: how properties are drawn, how long the root may take. */
async function restore(file: string): Promise<void> {
  root.setTimeout(1000 * secondsMax);
  if (!readFileSync(file, 'utf8').includes('configureGlobal')) return;
  const { default: fc } = await import('fast-check');
  fc.resetConfigureGlobal();
}

/**
 * The root of tap ends as soon as it has nothing to do, and takes no test after that: a file is imported inside a test,
 * during which its own are queued, and the next import is queued behind them.
 */
function queueFile(index: number): void {
  const file = files[index];
  if (file === undefined) return;
  const startedMs = performance.now();
  // what a company shares, its start and its databases, is the first file's; of PostgreSQL nobody's before its end
  const before = index === 0 ? 0 : readSeconds();
  void t.test(`import ${file}`, async (t) => {
    await import(pathToFileURL(resolve(file)).href);
    t.pass('imported');
    void root.test(`${file} is over`, async (t) => {
      await restore(resolve(file));
      const now = readSeconds();
      const seconds = before === null || now === null ? null : now - before;
      t.pass(describeTook({ file, tookMs: performance.now() - startedMs, seconds }));
      queueFile(index + 1);
    });
  });
}

const root = t;
queueFile(0);
