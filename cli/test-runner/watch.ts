// `node bin/test.mjs --watch [word…]`: what changed is built again, and its tests run again, until Ctrl-C.
//
// With words the selected tests run at once, and each again whenever something changed that it needs, however far away.
// Without words a change runs the test beside it and the tests that import it themselves: of a file that everything
// needs all tests would be minutes.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { watchSources } from '../environment/watch-sources.js';
import { allTestsOf, builtFrom, nearTests, readImports } from './imports.js';
import { selectTests, type Selection } from './selection.js';

const rooms = ['settings', 'engine', 'compiler', 'proxy', 'api', 'vm-manager', 'cli', 'bench', 'fixtures', 'tidy'];

/** The tests that a change of these sources concerns. */
export function testsOfChange(root: string, selection: Selection, changed: readonly string[]): string[] {
  const tests = selectTests(root, selection);
  const files = changed.map(builtFrom);
  const choose = selection.words.length > 0 ? allTestsOf : nearTests;
  return choose(tests, files, readImports(root));
}

function build(root: string, changed: readonly string[]): boolean {
  const touched = [...new Set(changed.map((path) => path.split('/')[0] ?? ''))];
  return spawnSync(process.execPath, [join(root, 'bin/build.mjs'), ...touched], { stdio: 'inherit' }).status === 0;
}

/** Resolves with an exit code, when it is told to end. */
export function watchTests(
  root: string,
  selection: Selection,
  run: (files: readonly string[]) => Promise<boolean>,
): Promise<number> {
  const waiting = new Set<string>();
  let isBusy = false;
  const work = async (first: readonly string[]): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    if (first.length > 0) await run(first);
    while (waiting.size > 0) {
      const changed = [...waiting];
      waiting.clear();
      console.log(`\nchanged: ${changed.join(', ')}`);
      if (!build(root, changed)) continue; // it has said what does not parse
      const tests = testsOfChange(root, selection, changed);
      if (tests.length > 0) await run(tests);
      else console.log('no test of it to run');
    }
    isBusy = false;
    console.log('watching; Ctrl-C ends it');
  };
  const stop = watchSources(root, rooms, (paths) => {
    for (const path of paths) waiting.add(path);
    void work([]);
  });
  void work(selection.words.length > 0 ? selectTests(root, selection) : []);
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        stop();
        resolve(0);
      });
  });
}
