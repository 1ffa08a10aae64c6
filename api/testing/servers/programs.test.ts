import t from 'tap';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../temporary.js';
import { findPrograms, required, skipWithout, type Wanted } from './programs.js';

const wanted: Wanted = {
  server: 'frobnicator',
  untested: 'frobnication',
  install: 'apt-get install frobnicator',
  variable: 'TEST_WITHOUT_FROBNICATOR',
};

t.test('a server that is there is tested, unless somebody says otherwise', async (t) => {
  t.equal(skipWithout('/usr/bin', wanted, {}), false);
  t.equal(skipWithout('/usr/bin', wanted, { CI: 'true' }), false);
  t.match(skipWithout('/usr/bin', wanted, { TEST_WITHOUT_FROBNICATOR: '1' }), /frobnication is not tested/);
  t.equal(required('/usr/bin', wanted), '/usr/bin');
});

t.test('one that is not there is skipped with one line, and fails where everything has to be there', async (t) => {
  t.equal(
    skipWithout(null, wanted, {}),
    'frobnicator is not on this machine, so frobnication is not tested: apt-get install frobnicator',
  );
  t.equal(skipWithout(null, wanted, { CI: 'true' }), false);
  t.match(skipWithout(null, wanted, { CI: 'true', TEST_WITHOUT_FROBNICATOR: '1' }), /frobnication is not tested/);
  t.throws(() => required(null, wanted), /there is no frobnicator: apt-get install frobnicator, or set TEST_WITHOUT/);
});

t.test('programs are looked for on the PATH first, and all in one place', async (t) => {
  const [first, second, half] = [await makeDirectory(t, '1'), await makeDirectory(t, '2'), await makeDirectory(t, '3')];
  for (const directory of [first, second, half]) await writeFile(join(directory, 'frobnicate'), '', { mode: 0o755 });
  for (const directory of [first, second]) await writeFile(join(directory, 'frob_isready'), '', { mode: 0o755 });
  const path = process.env['PATH'];
  t.teardown(() => (process.env['PATH'] = path));
  const names = ['frobnicate', 'frob_isready'];
  process.env['PATH'] = `/nowhere::${half}:${second}`;
  t.equal(findPrograms(names, [first]), second);
  t.equal(findPrograms(['frobnicate'], [first]), half);
  process.env['PATH'] = '/nowhere';
  t.equal(findPrograms(names, ['/nowhere', half, first, second]), first);
  t.equal(findPrograms(names), null);
});
