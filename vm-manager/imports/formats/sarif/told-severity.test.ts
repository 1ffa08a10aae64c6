// Severities that reports tell beside the one that everybody reads: SARIF of writers that have no
// `security-severity`, and advisories in Semgrep. Over HTTP.
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { Client } from '../../../testing/import-client.js';

t.setTimeout(testMsMax);

const sarif = (level: string, ofRule: object, ofResult: object = {}) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'dependency-check', rules: [{ id: 'CVE-2020-99999', properties: ofRule }] } },
      results: [
        {
          ...{ ruleId: 'CVE-2020-99999', level, message: { text: 'jackson' }, properties: ofResult },
          locations: [{ physicalLocation: { artifactLocation: { uri: 'a.jar' } } }],
        },
      ],
    },
  ],
});
const semgrep = (severity: string, metadata: object) => ({
  ...{ version: '1.60', errors: [], paths: { scanned: ['poetry.lock'] } },
  results: [
    {
      ...{ check_id: 'ssc-1', path: 'poetry.lock', start: { line: 1 }, end: { line: 1 } },
      extra: {
        ...{ message: 'm', severity, metadata },
        sca_info: { reachable: true, dependency_match: { found_dependency: { package: 'django', version: '3.2' } } },
      },
    },
  ],
});

const cases: readonly (readonly [what: string, report: unknown, severity: string])[] = [
  ['dependency-check', sarif('error', { cvssv3_baseSeverity: 'CRITICAL', cvssv3_baseScore: '9.8' }), 'critical'],
  ['a score alone', sarif('warning', { cvssv2_score: 7.5 }), 'high'],
  ['a word of the result', sarif('error', { severity: 'HIGH' }, { severity: 'Critical' }), 'critical'],
  ['a milder word', sarif('error', { severity: 'low' }), 'high'],
  ['a milder score', sarif('error', { cvssv3_baseScore: 3.1 }), 'high'],
  ['a word of linters', sarif('warning', { severity: 'error' }), 'medium'],
  ['security-severity wins', sarif('error', { 'security-severity': '5.0', severity: 'CRITICAL' }), 'medium'],
  ['Semgrep, a graver advisory', semgrep('HIGH', { 'sca-severity': 'CRITICAL' }), 'critical'],
  ['Semgrep, a milder advisory', semgrep('HIGH', { 'sca-severity': 'LOW' }), 'high'],
  ['Semgrep, no advisory', semgrep('MEDIUM', {}), 'medium'],
];

await onBothDatabases(t, '22: severities beside the level', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, report, severity] of cases) {
    const app = await client.application();
    const sent = await client.send(app, report);
    t.match(sent.body['report'], { created: 1, unknown_severities: 0 }, what);
    const [found] = await client.findings(app);
    t.match(found, { severity, severity_basis: 'report' }, what);
    if (what.startsWith('Semgrep')) t.match(found?.['location'], /poetry\.lock/, 'its file is not lost');
  }
});
