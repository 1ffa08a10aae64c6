// The archive of the chart: what is in it, of which version, and that two of them are the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run } from '../release/commands.js';
import { chartFileName, packageChart } from './chart-archive.js';
import { root } from './chart.js';

t.test('a chart is packed', async (t) => {
  const directory = t.testdir({});
  const [one, other] = [join(directory, 'one.tgz'), join(directory, 'other.tgz')];
  for (const file of [one, other])
    packageChart({ root, version: '1.2.3~rc1', epoch: 1_700_000_000 }, join(directory, 'scratch'), file);
  t.ok(readFileSync(one).equals(readFileSync(other)), 'the same bytes twice');
  const names = run('tar', ['-tzf', one]).trim().split('\n');
  for (const name of ['Chart.yaml', 'values.yaml', 'values.schema.json', 'README.md', 'templates/NOTES.txt'])
    t.ok(names.includes(`gatehouse/${name}`), name);
  t.same(
    names.filter((name) => /\/ci\/|helmignore/.test(name)),
    [],
    'nothing that is for tests',
  );
  const meta = run('tar', ['-xzOf', one, 'gatehouse/Chart.yaml']);
  t.match(meta, /^version: 1\.2\.3-rc1$/m);
  t.match(meta, /^appVersion: "1\.2\.3~rc1"$/m);
  t.equal(chartFileName('1.2.3'), 'gatehouse-1.2.3.tgz');
});
