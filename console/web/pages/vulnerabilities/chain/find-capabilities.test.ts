import t from 'tap';
import { findCapabilities } from './find-capabilities.js';

const row = (cwe: number, label: string, capability: string, stage: string, mitre: string, technique: string) => ({
  ...{ cwe: `CWE-${cwe}`, label, capability, stage, mitre, technique },
});
const rows = [
  row(79, 'Cross-site scripting', 'xss', 'entry', 'T1059.007', 'JavaScript'),
  row(89, 'SQL injection', 'sqli', 'entry', 'T1190', 'Exploit Public-Facing Application'),
  row(798, 'Hard-coded credentials', 'hardcoded_secret', 'credential', 'T1552.001', 'Credentials In Files'),
];

const cases: readonly (readonly [typed: string, stage: string, found: readonly number[]])[] = [
  ['', '', [79, 89, 798]],
  ['79', '', [79]],
  ['CWE-79', '', [79]],
  ['cwe-079', '', [79]],
  ['7', '', []],
  ['injection', '', [89]],
  ['HARDCODED', '', [798]],
  ['t1190', '', [89]],
  ['credentials files', '', [798]],
  ['credentials sql', '', []],
  ['', 'entry', [79, 89]],
  ['798', 'entry', []],
];

t.test('capabilities are found by number, by words and by stage', async (t) => {
  for (const [typed, stage, found] of cases)
    t.same(
      findCapabilities(rows, typed, stage).map(({ cwe }) => Number(cwe.slice(4))),
      found,
      `${JSON.stringify(typed)} at ${stage || 'any stage'}`,
    );
});
