import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { allTestsOf, builtFrom, nearTests, readImports } from './imports.js';
import { selectTests } from './selection.js';

/** A directory that looks like this project, with these files in build/. */
function makeProject(t: Test, files: Readonly<Record<string, string>>): string {
  const root = t.testdir({ 'package.json': '{"imports":{"#a":"./build/a/door.js","#b/*":"./build/b/*.js"}}' });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'build', path)), { recursive: true });
    writeFileSync(join(root, 'build', path), text);
  }
  return root;
}

const files = {
  'a/leaf.js': '',
  'a/leaf.test.js': '',
  'a/door.js': 'export { x } from "./leaf.js";\nimport fs from "node:fs";\nimport "tap";\n',
  'a/door.test.js': 'import { x } from "./leaf.js";\nprocess.env["SEED"];\n',
  'b/far.js': 'import { x } from "#a";\nconst y = await import("./late.js");\n',
  'b/late.js': 'const z = new URL("../a/leaf.js", import.meta.url);\n',
  'b/e2e/whole.test.js': 'import { far } from "#b/far";\n',
  'b/other.test.js': 'import "./none.js";\n',
};

t.test('imports by path, by door, later, and by address', async (t) => {
  const graph = readImports(makeProject(t, files));
  t.same(graph.get('build/a/door.js'), ['build/a/leaf.js']);
  t.same(graph.get('build/b/far.js'), ['build/a/door.js', 'build/b/late.js']);
  t.same(graph.get('build/b/late.js'), ['build/a/leaf.js']);
  t.same(graph.get('build/b/e2e/whole.test.js'), ['build/b/far.js']);
});

t.test('the tests of a change', async (t) => {
  const root = makeProject(t, files);
  const graph = readImports(root);
  const tests = selectTests(root, { words: [], quick: false, seeded: false });
  const near = (source: string): string[] => nearTests(tests, [builtFrom(source)], graph);
  const all = (source: string): string[] => allTestsOf(tests, [builtFrom(source)], graph);
  t.same(near('a/leaf.ts'), ['build/a/door.test.js', 'build/a/leaf.test.js'], 'beside it, and who imports it');
  t.same(near('b/other.test.ts'), ['build/b/other.test.js'], 'a test itself');
  t.same(near('b/late.ts'), []);
  t.same(all('b/late.ts'), ['build/b/e2e/whole.test.js'], 'however far away');
  t.same(all('a/leaf.ts'), ['build/a/door.test.js', 'build/b/e2e/whole.test.js'], 'who needs it');
});

t.test('selections', async (t) => {
  const root = makeProject(t, files);
  const select = (words: string[], quick = false, seeded = false): string[] =>
    selectTests(root, { words, quick, seeded });
  t.equal(select([]).length, 4);
  t.same(select(['leaf', 'whole']), ['build/a/leaf.test.js', 'build/b/e2e/whole.test.js']);
  t.notOk(select([], true).includes('build/b/e2e/whole.test.js'), 'what is slow');
  t.same(select([], false, true), ['build/a/door.test.js'], 'what is drawn with a seed');
});

t.test('what is quick', async (t) => {
  const slow = [
    'import { onBothDatabases } from "../testing/databases.js";',
    'import { onBothDatabases } from "#api/testing/databases";',
    'import { startTestApp } from "#api/testing/app";',
    'import { startUp } from "#api/testing/processes/up";',
    'import { startPlane } from "../e2e/harness.js";',
    'import { startNode } from "../testing/data-plane.js";',
    'import { PGlite } from "@electric-sql/pglite";',
    't.setTimeout(testMsMax);',
  ];
  const quick = ['import { settings } from "../testing/settings.js";', '  t2.setTimeout(9);', ''];
  const files = [...slow, ...quick].map((text, index): [string, string] => [`a/${index}.test.js`, text]);
  const found = selectTests(makeProject(t, Object.fromEntries(files)), { words: [], quick: true, seeded: false });
  t.same(
    found.sort(),
    quick.map((_, index) => `build/a/${slow.length + index}.test.js`).sort(),
    'what starts databases or planes is not, nor what asks for more time',
  );
});
