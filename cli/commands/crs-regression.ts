// `make crs`: the CRS's own regression tests, in process, with the configuration of the CRS's CI. The cases are not
// part of this repository; where they are absent this says so and does nothing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sharedDirectory } from '../environment/directories.js';
import { runRuleCommand } from '../main.js';
import { tellRefusals } from '../refusal.js';
import { installCrs } from '../rule-set/install.js';

async function runCrsRegression(args: readonly string[]): Promise<number> {
  const corpus = join(sharedDirectory(), 'corpora/ftw');
  const cases = join(corpus, 'cases.jsonl');
  if (!existsSync(cases)) {
    console.log(`skipped: ${cases} is not there (GATEHOUSE_SHARED names another folder that holds corpora/ftw)`);
    return 0;
  }
  const crs = await installCrs({ say: (text) => console.error(`crs: ${text}`) });
  process.env['GATEHOUSE_UNICODE_MAPPING'] ??= crs.unicodeMapping ?? '';
  const rules = [
    join(corpus, 'ci-setup/modsecurity.ci.conf'),
    join(corpus, 'ci-setup/crs-setup.ci.conf'),
    join(crs.directory, 'rules/*.conf'),
  ];
  return runRuleCommand('ftw', [...rules.flatMap((glob) => ['--rules', glob]), '--cases', cases, ...args]);
}

process.exitCode = await tellRefusals('crs', () => runCrsRegression(process.argv.slice(2)));
