// What a data plane loads with the door #engine: nothing that only a compiler needs. Read from what was built, import
// by import, so that a careless line in some file of the hot road shows here and not as memory of every worker.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const here = dirname(fileURLToPath(import.meta.url));

/** Every file of the engine that importing `door` runs, relative to this folder. */
function loadedBy(door: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (path: string): void => {
    const name = relative(here, path);
    if (found.has(name)) return;
    found.add(name);
    const text = readFileSync(path, 'utf8');
    for (const match of text.matchAll(/^(?:import|export|\}) ?[^;'"]*?from "(\.[^"]+)"|^import "(\.[^"]+)"/gm))
      visit(join(dirname(path), match[1] ?? match[2] ?? ''));
  };
  visit(join(here, door));
  return found;
}

const onlyForCompilers = [
  'compile.js',
  'evaluate/interpreter.js',
  'native/database-worker.js',
  'native/re2.js',
  'operators/literals.js',
  'regex/analysis.js',
  'regex/hyperscan-source.js',
];

t.test('the door of the data plane loads no part of the planner', (t) => {
  const run = loadedBy('index.js');
  t.ok(run.has('compiled/inspect.js') && run.has('native/hyperscan.js'), `${run.size} files, the product among them`);
  for (const file of onlyForCompilers) t.notOk(run.has(file), file);
  t.end();
});

t.test('they are behind the other door', (t) => {
  const compile = loadedBy('compile.js');
  // The pool's worker is named by its address: whoever compiles loads it in threads of its own.
  for (const file of onlyForCompilers.filter((one) => !one.includes('worker'))) t.ok(compile.has(file), file);
  t.end();
});
