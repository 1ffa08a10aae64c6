import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { diskReader, expandGlob } from './disk-reader.js';

/** `at(name)` is a path in a directory of the test, `at(name, text)` writes it. */
function setup(t: Test): { readonly at: (name: string, text?: string) => string } {
  const folder = t.testdir({});
  return {
    at: (name, text) => {
      const path = join(folder, name);
      if (text !== undefined) writeFileSync(path, text, 'latin1');
      return path;
    },
  };
}

t.test('patterns sort by name', (t) => {
  const { at } = setup(t);
  mkdirSync(at('d'));
  for (const name of ['d/b.conf', 'd/a.conf', 'd/c.data', 'd/.hidden.conf']) at(name, '');
  t.same(expandGlob(at('d/*.conf')), [at('d/a.conf'), at('d/b.conf')]);
  t.same(
    expandGlob(at('d/?.*')),
    ['a.conf', 'b.conf', 'c.data'].map((name) => at(`d/${name}`)),
  );
  t.same(expandGlob(at('d/[!a-b].*')), [at('d/c.data')]);
  t.same(expandGlob(at('d/[ab].conf')), [at('d/a.conf'), at('d/b.conf')]);
  t.same(expandGlob(at('d/[z-a].conf')), []);
  at('d/[ab].conf', '');
  t.same(expandGlob(at('d/[ab].conf')), [at('d/[ab].conf')], 'a name with brackets is itself');
  mkdirSync(at('e'));
  t.same(expandGlob(at('*/a.conf')), [at('d/a.conf')], 'only where it exists');
  t.same(expandGlob(at('nothing.conf')), [at('nothing.conf')], 'a plain path is itself');
  t.end();
});

t.test('what cannot be read is absent', (t) => {
  const { at } = setup(t);
  mkdirSync(at('d'));
  for (const path of ['a\0b', 'x'.repeat(5000), at('d'), at('no/such')])
    t.equal(diskReader.read(path), null, `${JSON.stringify(path.slice(0, 20))} is absent`);
  t.end();
});
