// Pipelines whose only report shows that nothing was looked at, or that something was not: the gate does not pass.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { Client } from '../../testing/import-client.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const notified = (notification: object) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'T' } },
      results: [],
      invocations: [{ executionSuccessful: true, toolExecutionNotifications: [notification] }],
    },
  ],
});
const checkov = (summary: object) => ({
  check_type: 'terraform',
  results: { passed_checks: [], failed_checks: [], parsing_errors: [] },
  summary: { passed: 0, failed: 0, skipped: 0, parsing_errors: 0, resource_count: 0, ...summary },
});
const cppcheck = (id: string): string =>
  `<?xml version="1.0"?><results version="2"><cppcheck version="2.10"/><errors><error id="${id}" ` +
  'severity="information" msg="x"/></errors></results>';
const npm = { auditReportVersion: 2, vulnerabilities: {} };
const metadata = { vulnerabilities: { total: 0 }, dependencies: { total: 5 } };
const bill = { bomFormat: 'CycloneDX', specVersion: '1.5', vulnerabilities: [] };
const scanTime = { id: 'scanTime', severity: 'INFO', finding: '9', ip: 'h.example/192.0.2.1', port: '443' };

/** Exit code of the pipeline: 0 goes on, 1 does not, 2: nobody knows. */
const cases: readonly (readonly [what: string, format: string, report: unknown, exitCode: number])[] = [
  ['SARIF: an exception', 'sarif', notified({ message: { text: 'x' }, exception: { message: 'out of memory' } }), 1],
  ['SARIF: a noted one', 'sarif', notified({ level: 'note', message: { text: 'x' }, exception: { message: 'y' } }), 0],
  ['npm audit: no metadata', 'npm-audit', npm, 1],
  ['npm audit: an error beside', 'npm-audit', { ...npm, metadata, error: { code: 'EAUDITNOLOCK' } }, 1],
  ['npm audit', 'npm-audit', { ...npm, metadata }, 0],
  [
    'Checkov: no file',
    'checkov',
    { passed: 0, failed: 0, skipped: 0, parsing_errors: 0, resource_count: 0, checkov_version: '3' },
    2,
  ],
  ['Checkov: no file of a kind', 'checkov', [checkov({}), checkov({})], 2],
  ['Checkov: no file that it could read', 'checkov', checkov({ parsing_errors: 2 }), 1],
  ['Checkov', 'checkov', [checkov({}), checkov({ passed: 3, resource_count: 2 })], 0],
  ['Cppcheck: not analyzed', 'cppcheck', cppcheck('noValidConfiguration'), 1],
  ['Cppcheck', 'cppcheck', cppcheck('missingIncludeSystem'), 0],
  ['Checkstyle: no file', 'checkstyle', '<?xml version="1.0"?><checkstyle version="4.3"></checkstyle>', 1],
  ['Checkstyle', 'checkstyle', '<?xml version="1.0"?><checkstyle version="4.3"><file name="a.sh"/></checkstyle>', 0],
  ['secretlint: no file', 'secretlint', [], 1],
  ['secretlint', 'secretlint', [{ filePath: '/a/x.js', messages: [] }], 0],
  ['lines: none', 'gcc', '\n', 1],
  ['CycloneDX: no component', 'cyclonedx', { ...bill, components: [] }, 1],
  ['CycloneDX', 'cyclonedx', { ...bill, components: [{ type: 'library', name: 'a', version: '1' }] }, 0],
  ['testssl.sh: no test', 'testssl', [scanTime], 1],
  ['testssl.sh', 'testssl', [{ ...scanTime, id: 'TLS1_3', severity: 'OK' }, scanTime], 0],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, format, report, exitCode] of cases) {
    const app = await client.application();
    const opened = await client.send(app, report, { format, commit: 'abc1234', branch: 'main' }, '/ci/runs');
    t.equal(opened.status, 202, `${what}: ${JSON.stringify(opened.body).slice(0, 200)}`);
    const ended = await client.call('POST', `/ci/runs/${opened.body['id']}/complete`);
    t.equal(ended.body['exit_code'], exitCode, `${what}: ${ended.body['reason']}`);
  }
}

await onBothDatabases(t, '22: a pipeline whose report has nothing in it', suite);
