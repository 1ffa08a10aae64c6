// By what a memory knows that it is of other scanners.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { versionOf } from './memory.js';

t.test('a program with other rules has another memory, also where all its files have one size and one time', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-memory-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const room of ['scanners', 'secrets', 'components', 'osv']) mkdirSync(join(root, room));
  const now = new Date('2027-01-31T00:00:00Z');
  const base = pathToFileURL(`${root}/`);
  const versionWith = (name: string, rule: string): string => {
    writeFileSync(join(root, name), rule);
    utimesSync(join(root, name), 1, 1);
    return versionOf(now, base);
  };
  const first = versionWith('scanners/rules.js', 'rule 1');
  t.equal(versionWith('scanners/rules.js', 'rule 1'), first);
  t.not(versionWith('scanners/rules.js', 'rule 2'), first);
  versionWith('scanners/rules.js', 'rule 1');
  t.not(versionWith('secrets/forms.js', 'rule 1'), first, 'what scanners stand on counts as well');
  t.not(versionOf(new Date('2027-02-01T00:00:00Z'), base), versionOf(now, base), 'and the month');
  t.match(versionOf(now), /^[0-9a-f]{64}$/, 'of the program that is installed');
  t.end();
});
