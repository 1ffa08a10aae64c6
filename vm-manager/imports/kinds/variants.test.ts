// What an attack on issue 22 found, over HTTP: security rules of linters count and others do not, reports of tools that
// did not read everything stop the gate in every format, secrets and weaknesses are known without a CWE in the report,
// and two formats of one tool make one finding. Reports are written here.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { linters } from '../../testing/linter-rules.js';
import { canonicalName } from './tools.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

interface Rule extends Json {
  readonly id: string;
}
const result = (ruleId: string | null, text: string, line: number, more: Json = {}) => ({
  ...(ruleId === null ? {} : { ruleId }),
  level: 'error',
  message: { text },
  locations: [{ physicalLocation: { artifactLocation: { uri: 'src/a.x' }, region: { startLine: line } } }],
  ...more,
});
const sarif = (tool: string, results: readonly Json[], more: Json = {}, rules: readonly Rule[] = []) => ({
  version: '2.1.0',
  runs: [{ tool: { driver: { name: tool, rules } }, results, ...more }],
});

/** What a rule of style says, in words that leave no doubt, is about security all the same. */
const spoken: readonly (readonly [string, Json, Rule?])[] = [
  ['detekt', result('custom.Raw', 'This query is open to SQL injection', 1)],
  ['RuboCop', result('House/Html', 'Tagging a string as html safe may be a security risk.', 1)],
  ['SwiftLint', result('house', 'x', 1), { id: 'house', properties: { tags: ['security'] } }],
  ['PMD', result('House', 'x', 1), { id: 'House', properties: { ruleset: 'Security' } }],
  ['golangci-lint', result('gosec', 'G404: Use of weak random number generator', 1)],
];

/** Of an invocation, with whether the run is whole. */
const courses: readonly (readonly [string, Json, boolean])[] = [
  ['nothing', {}, true],
  ['success', { executionSuccessful: true }, true],
  ['1, as many end that have found something', { exitCode: 1 }, true],
  ['success, and a code of its own', { executionSuccessful: true, exitCode: 7 }, true],
  ['a warning', { executionSuccessful: true, toolExecutionNotifications: [{ level: 'warning' }] }, true],
  ['without a level, which is a warning', { executionSuccessful: true, toolExecutionNotifications: [{}] }, true],
  ['no success', { executionSuccessful: false }, false],
  [
    'an error of a file',
    { executionSuccessful: true, toolExecutionNotifications: [{ level: 'error', message: { text: 'Syntax error' } }] },
    false,
  ],
  [
    'an error of the configuration',
    { executionSuccessful: true, toolConfigurationNotifications: [{ level: 'error' }] },
    false,
  ],
  [
    'an extraction error that is a warning',
    {
      executionSuccessful: true,
      toolExecutionNotifications: [
        { level: 'warning', descriptor: { id: 'js/diagnostics/extraction-errors' }, message: { text: 'x' } },
      ],
    },
    false,
  ],
  ['2 without success', { exitCode: 2 }, false],
  ['a signal', { executionSuccessful: true, exitSignalName: 'SIGKILL' }, false],
  ['a signal as a code', { executionSuccessful: true, exitCode: 137 }, false],
  ['a number of a signal', { exitSignalNumber: 9 }, false],
  ['no start', { executionSuccessful: true, processStartFailureMessage: 'ENOENT' }, false],
];

/** Results that say that a file was not read. */
const faults: readonly (readonly [string, string | null, string, Rule?])[] = [
  ['Flake8', 'E999', 'SyntaxError: invalid syntax'],
  ['flake8', 'E902', 'FileNotFoundError'],
  ['Pylint', 'E0001', 'Parsing failed'],
  ['Pylint', 'F0001', 'No module named x'],
  ['Pylint', 'syntax-error', 'Parsing failed'],
  ['Pylint', 'astroid-error', 'Fatal'],
  ['RuboCop', 'Lint/Syntax', 'unexpected token'],
  ['ESLint', null, 'Parsing error: Unexpected token'],
  ['ESLint', 'security/detect-eval', "Definition for rule 'security/detect-eval' not found."],
  ['ruff', 'invalid-syntax', 'Expected an expression'],
  ['Ruff', null, 'SyntaxError: Expected an expression'],
  ['PHPStan', 'phpstan.internal', 'Internal error: x'],
  ['PHPStan', 'phpstan.parse', 'Syntax error, unexpected EOF'],
  ['Psalm', '173', 'Syntax error', { id: '173', name: 'ParseError' }],
  ['ShellCheck', 'SC1073', 'Could not parse this if expression'],
  ['Hadolint', 'DL1000', 'unexpected end of input'],
  ['stylelint', 'CssSyntaxError', 'Unknown word'],
  ['Cppcheck', 'syntaxError', 'syntax error'],
  ['golangci-lint', 'typecheck', 'undefined: x'],
  ['tsc', 'TS1005', "';' expected"],
  ['clang-tidy', 'clang-diagnostic-error', 'file not found'],
  ['clippy', 'E0432', 'unresolved import'],
  ['Biome', 'parse', 'Expected an identifier'],
  ['SonarQube', 'javascript:S2260', 'Fix the syntax error'],
  ['an unknown tool', 'parse-error', 'x'],
];

const secretTools = [
  'trufflehog3',
  'SecretScanner',
  'GitHub secret scanning',
  '2ms',
  'credential-digger',
  'DeepSecrets',
  'Veles',
  'CredSweeper',
  'rusty-hog',
  'Semgrep Secrets',
  'a house finder of secrets',
];
const secretRules = ['generic-api-key', 'github-pat', 'aws-access-token', 'AWS Access Key', 'slack-webhook-url'];
const noSecretRules = ['missing-csrf-token', 'weak-password', 'js/insecure-private-key', 'sql-injection'];

const ids = [
  'PYSEC-2021-1',
  'RUSTSEC-2021-0001',
  'GO-2022-0969',
  'OSV-2020-111',
  'MAL-2022-1234',
  'ALAS2-2021-1234',
  'ALAS-2021-1467',
  'DSA-4667-1',
  'DLA-2346-1',
  'USN-4527-1',
  'RHSA-2021:1234',
  'SNYK-JS-LODASH-1040724',
  'GSD-2021-1234567',
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  let commits = 0;
  const push = async (report: unknown) => {
    const app = await client.application();
    const commit = `c${++commits}`;
    const sent = await client.send(app, report, { commit, branch: 'main' });
    t.equal(sent.status, 202, JSON.stringify(sent.body));
    const verdict = (await client.call('POST', '/gate/evaluate', { application_id: app, commit })).body;
    return { app, report: sent.body['report'] as Json, verdict: verdict as Json };
  };
  const listed = async (app: string, query = ''): Promise<Json[]> =>
    (await client.call('GET', `/findings?application_id=${app}&limit=500&sort=id${query}`)).body['items'];

  for (const [tool, security, style] of linters)
    await t.test(`22 Q8: ${tool}: security counts, style does not`, async (t) => {
      const all = [...Object.keys(security), ...style];
      const { app, verdict } = await push(
        sarif(
          tool,
          all.map((rule, index) => result(rule, `said ${index}`, index + 1)),
        ),
      );
      const lineOf = ({ location }: Json): number => Number(/:(\d+)\)?$/.exec(String(location))?.[1]);
      const shown = new Map((await listed(app)).map((row) => [all[lineOf(row) - 1], row]));
      t.same([...shown.keys()].sort(), Object.keys(security).sort(), 'what is shown');
      for (const [rule, cwe] of Object.entries(security))
        if (cwe !== null) t.same(shown.get(rule)?.['cwe'], [`CWE-${cwe}`], rule);
      t.equal(verdict['exit_code'], Object.keys(security).length > 0 ? 1 : 0, 'the gate');
    });
  for (const [tool, one, rule] of spoken)
    await t.test(`22 Q8: ${tool}: its words and categories count`, async (t) => {
      const { app, verdict } = await push(sarif(tool, [one], {}, rule === undefined ? [] : [rule]));
      t.equal((await listed(app)).length, 1);
      t.equal(verdict['exit_code'], 1);
      if (tool === 'golangci-lint') t.match(await listed(app), [{ cwe: ['CWE-338'] }]);
    });
  for (const [what, invocation, isWhole] of courses)
    await t.test(`22 Q3: a run that ended with ${what}`, async (t) => {
      const { report, verdict } = await push(sarif('checker', [], { invocations: [invocation] }));
      t.equal(report['complete'], isWhole);
      t.equal(verdict['exit_code'], isWhole ? 0 : 1, JSON.stringify(verdict));
      if (!isWhole) t.match(report['problems'], [{ detail: /could not read/ }], 'and says what');
    });
  for (const [tool, rule, text, described] of faults)
    await t.test(`22 Q3: ${tool}: ${rule ?? text}: a file was not read`, async (t) => {
      const { app, report, verdict } = await push(
        sarif(tool, [result(rule, text, 1)], {}, described === undefined ? [] : [described]),
      );
      t.match(report, { complete: false, problems: [{ at: /src\/a\.x:1/, detail: /could not read/ }] });
      t.equal(verdict['exit_code'], 1, JSON.stringify(verdict));
      t.same(await listed(app), []);
    });
  await t.test('22 Q3: the same in formats of their own', async (t) => {
    const xml = `<?xml version="1.0"?><checkstyle version="1"><file name="a.js"><error line="1" severity="error"
      message="Parsing error: Unexpected token" source=""/></file></checkstyle>`;
    for (const report of [xml, 'a.c:3:1: error: expected expression [clang-diagnostic-error]\n'])
      t.match(await push(report), { report: { complete: false }, verdict: { exit_code: 1 } }, report);
  });
  for (const [tool, rule, kind] of [
    ...secretTools.map((one) => [one, 'r1', 'secret'] as const),
    ...secretRules.map((one) => ['some scanner', one, 'secret'] as const),
    ...noSecretRules.map((one) => ['some scanner', one, 'sast'] as const),
  ])
    await t.test(`22 Q4: ${tool}, ${rule}: ${kind}`, async (t) => {
      const { app } = await push(sarif(tool, [result(rule, 'found', 1)]));
      t.match(await listed(app), [{ source: kind, ...(kind === 'secret' ? { cwe: ['CWE-798'] } : {}) }]);
    });
  await t.test('22 Q9: ids of advisories', async (t) => {
    const { app } = await push(
      sarif(
        'some scanner',
        ids.map((id, index) => result(id, 'found', index + 1)),
      ),
    );
    const rows = await listed(app);
    t.same(rows.map((row) => row['vuln_ids']).sort(), ids.map((id) => [id]).sort());
    t.ok(rows.every(({ source }) => source === 'sca'));
    const aliased = await push(
      sarif(
        'govulncheck',
        [result('GO-2022-0969', 'Your code depends on 1 vulnerable module (golang.org/x/net)', 1)],
        {},
        [{ id: 'GO-2022-0969', properties: { tags: ['CVE-2022-27664', 'GHSA-69cg-p879-7622'] } }],
      ),
    );
    const wanted = ['CVE-2022-27664', 'GHSA-69CG-P879-7622', 'GO-2022-0969'];
    t.match(await listed(aliased.app), [{ vuln_ids: wanted }], 'one finding, with its aliases');
  });
  await t.test('22 Q4: ssh-dsa-1024 is no advisory', async (t) => {
    const { app } = await push(sarif('some scanner', [result('ssh-dsa-1024-key-size', 'found', 1)]));
    t.match(await listed(app), [{ vuln_ids: [] }]);
  });
  for (const [what, own, other, wanted] of pairs)
    for (const [order, reports] of Object.entries({ 'its own first': [own, other], 'SARIF first': [other, own] }))
      await t.test(`22 Q4: ${what}: ${order}: one finding`, async (t) => {
        const app = await client.application();
        for (const report of reports) {
          const sent = await client.send(app, report);
          t.equal(sent.status, 202, JSON.stringify(sent.body));
        }
        const rows = await client.findings(app);
        t.equal(rows.length, 1, JSON.stringify(rows.map(({ tool, location }) => [tool, location])));
        t.match(rows, [wanted]);
      });
}

const zap = (param: string) => ({
  '@version': '2.14.0',
  site: [
    {
      '@name': 'https://shop.example',
      alerts: [
        {
          pluginid: '40018',
          alertRef: '40018',
          alert: 'SQL Injection',
          riskcode: '3',
          confidence: '2',
          cweid: '89',
          instances: [{ uri: 'https://shop.example/s?q=1', method: 'GET', param, attack: 'x' }],
        },
      ],
    },
  ],
});
const page = (uri: string, more: Json = {}) => ({
  physicalLocation: { artifactLocation: { uri, ...more } },
});
const os = (more: Json) => ({
  VulnerabilityID: 'CVE-2026-4911',
  PkgName: 'libc6',
  InstalledVersion: '2.36-9',
  Severity: 'HIGH',
  CweIDs: ['CWE-122'],
  ...more,
});
const image = (name: string, target: string) => ({
  SchemaVersion: 2,
  ArtifactName: name,
  ArtifactType: 'container_image',
  Results: [{ Target: target, Class: 'os-pkgs', Vulnerabilities: [os({ Status: 'will_not_fix' })] }],
});
const imageSarif = (uri: string) =>
  sarif(
    'Trivy',
    [
      {
        ruleId: 'CVE-2026-4911',
        level: 'error',
        message: { text: 'Package: libc6\nInstalled Version: 2.36-9\nSeverity: HIGH\nFixed Version: ' },
        locations: [page(uri)],
      },
    ],
    { properties: { imageName: uri } },
    [{ id: 'CVE-2026-4911', name: 'OsPackageVulnerability', properties: { tags: ['HIGH'] } }],
  );
const nuclei = {
  'template-id': 'CVE-2026-1773',
  info: { name: 'Traversal', severity: 'high', classification: { 'cwe-id': ['cwe-22'] } },
  host: 'https://h.example',
  'matched-at': 'https://h.example/icons/x/etc/passwd',
};
const nucleiSarif = (tool: string, place: Json, text = 'Traversal found') =>
  sarif(tool, [{ ruleId: 'CVE-2026-1773', level: 'error', message: { text }, locations: [place] }]);

/** What → the tool's own format, its SARIF, and the one finding of both. */
const pairs: readonly (readonly [string, unknown, unknown, Json])[] = [
  [
    'Trivy, an image',
    image('debian:12', 'debian:12 (debian 12.1)'),
    imageSarif('library/debian'),
    { source: 'container', cwe: ['CWE-122'], fix_state: 'wont_fix' },
  ],
  [
    'Trivy, an image of a registry',
    image('reg.example:5000/shop/web:1', 'reg.example:5000/shop/web:1 (alpine 3.19)'),
    imageSarif('shop/web'),
    { cwe: ['CWE-122'] },
  ],
  [
    'Nuclei, an address in a description',
    `${JSON.stringify(nuclei)}\n`,
    nucleiSarif(
      'nuclei',
      page('file:///icons/x/etc/passwd', { description: { text: 'https:/h.example/icons/x/etc/passwd' } }),
    ),
    { tool: 'Nuclei', location: /h\.example\/icons\/x\/etc\/passwd/ },
  ],
  [
    'Nuclei, a host in the message',
    `${JSON.stringify(nuclei)}\n`,
    nucleiSarif('ProjectDiscovery Nuclei', page('file:///icons/x/etc/passwd'), 'Traversal found on https://h.example'),
    { tool: 'Nuclei' },
  ],
  [
    'ZAP',
    zap('q'),
    sarif('OWASP ZAP', [
      {
        ruleId: '40018',
        level: 'error',
        message: { text: 'SQL injection' },
        locations: [page('https://shop.example/s?q=1')],
        webRequest: { method: 'GET' },
      },
    ]),
    { tool: 'ZAP' },
  ],
];

t.test('22: kinds, faults and formats', (t) => onBothDatabases(t, 'variants', suite));

t.test('22 Q4: one name of a tool, however a report spells it', async (t) => {
  const wanted: Readonly<Record<string, readonly string[]>> = {
    ZAP: ['zap', 'OWASP ZAP', 'owasp-zap', 'Checkmarx ZAP', 'ZAP by Checkmarx'],
    Nuclei: ['nuclei', 'NUCLEI', 'Nuclei v3.1', 'ProjectDiscovery Nuclei'],
    Trivy: ['trivy', 'Aqua Trivy', 'Trivy 0.50'],
    Grype: ['grype', 'Anchore Grype'],
    Nmap: ['nmap'],
    Wapiti: ['wapiti', 'Wapiti 3.1.7'],
    'dependency-check': ['OWASP Dependency-Check', 'dependency-check'],
    ESLint: ['eslint', 'eslint@9'],
  };
  for (const [name, spellings] of Object.entries(wanted))
    for (const spelling of [name, ...spellings]) t.equal(canonicalName(spelling), name, spelling);
  for (const name of ['ZAP', 'Nuclei', 'Nmap', 'Wapiti', 'testssl', 'Lynis', 'npm audit', 'Retire.js', 'secretlint'])
    for (const one of [name, name.toLowerCase(), name.toUpperCase()]) t.equal(canonicalName(one), name, one);
});
