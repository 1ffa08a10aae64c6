// Run as a process: several test files one after another, each when the tests of the one before are over.
//   node build/cli/test-runner/together.js FILE…     relative to the working directory
// What they share is what costs most and is theirs to share: Node.js, the modules, one server of each database, whose
// databases are emptied between suites. Which files may share is said by companions.ts.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { describeTook } from './companions.js';

const files = process.argv.slice(2);

/**
 * The root of tap ends as soon as it has nothing to do, and takes no test after that: a file is imported inside a test,
 * during which its own are queued, and the next import is queued behind them.
 */
function queueFile(index: number): void {
  const file = files[index];
  if (file === undefined) return;
  const startedMs = performance.now();
  void t.test(`import ${file}`, async (t) => {
    await import(pathToFileURL(resolve(file)).href);
    t.pass('imported');
    void root.test(`${file} is over`, async (t) => {
      t.pass(describeTook(file, performance.now() - startedMs));
      queueFile(index + 1);
    });
  });
}

const root = t;
queueFile(0);
