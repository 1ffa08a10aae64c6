// `make crs`: the CRS's own regression tests, in process, with the configuration of the CRS's CI. The cases are not
// part of this repository; where they are absent this says so and does nothing.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installCrs } from './crs.mjs';
import { root } from './environment.mjs';

const corpus = resolve(root, process.env.GATEHOUSE_SHARED ?? '../shared', 'corpora/ftw');
const cases = join(corpus, 'cases.jsonl');
if (!existsSync(cases)) {
  console.log(`skipped: ${cases} is not there (GATEHOUSE_SHARED names another folder that holds corpora/ftw)`);
  process.exit(0);
}
const crs = await installCrs({ say: (text) => console.error(`crs: ${text}`) });
const rules = [
  join(corpus, 'ci-setup/modsecurity.ci.conf'),
  join(corpus, 'ci-setup/crs-setup.ci.conf'),
  join(crs.directory, 'rules/*.conf'),
];
process.env.GATEHOUSE_UNICODE_MAPPING ??= crs.unicodeMapping ?? '';
const { main } = await import(join(root, 'build/compiler/cli/index.js'));
process.exitCode = await main([
  'ftw',
  ...rules.flatMap((glob) => ['--rules', glob]),
  '--cases',
  cases,
  ...process.argv.slice(2),
]);
