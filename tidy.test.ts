// The house rules that a program can check (tidy/). Each check is first fed bad samples that it must report.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { arrowChecks } from './tidy/arrows.js';
import { longFiles } from './tidy/exceptions.js';
import { shapeChecks } from './tidy/shape.js';
import { readTree, root } from './tidy/source.js';
import { textChecks } from './tidy/text.js';
import { treeChecks } from './tidy/tree.js';
import { wordChecks } from './tidy/words.js';

const tree = readTree('');

t.test('the tree was read', (t) => {
  t.ok(tree.length > 50, `${tree.length} files`);
  for (const path of ['package.json', 'tidy/arrows.ts', 'bin/gatehouse', 'Makefile'])
    t.ok(
      tree.some((file) => file.path === path),
      path,
    );
  t.ok(existsSync(join(root, 'LICENSE')), 'the licence is there');
  t.end();
});

for (const { name, check, canaries } of [...arrowChecks, ...shapeChecks, ...textChecks, ...treeChecks, ...wordChecks]) {
  t.test(name, (t) => {
    for (const [index, canary] of canaries.entries()) t.ok(check(canary).length > 0, `canary ${index + 1} is reported`);
    const findings = check(tree);
    for (const finding of findings) t.fail(finding);
    t.equal(findings.length, 0, 'findings');
    t.end();
  });
}

t.test('tables of exceptions name what exists', (t) => {
  for (const path of Object.keys(longFiles))
    t.ok(
      tree.some((file) => file.path === path),
      `${path} exists`,
    );
  t.end();
});
