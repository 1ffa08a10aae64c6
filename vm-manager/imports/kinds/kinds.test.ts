// Kinds of findings over HTTP: a tool's own format and its SARIF make one finding of one kind and severity; lint levels
// stop no gate; rules without a CWE get the one of the tables. Reports are written here.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { enriched } from './enrich.js';
import { record } from '../record.js';
import { profileOf } from './tools.js';
import { topics, weaknessesOf, weaknessTables } from './weaknesses.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

interface Said {
  readonly rule?: Json;
  readonly result?: Json;
  readonly path?: string;
  readonly line?: number;
  readonly snippet?: string;
}
const sarif = (
  tool: string,
  ruleId: string,
  { rule = {}, result = {}, path = 'a.js', line = 3, snippet }: Said = {},
) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: tool, rules: [{ id: ruleId, ...rule }] } },
      results: [
        {
          ruleId,
          message: { text: 'found' },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: path },
                region: { startLine: line, ...(snippet === undefined ? {} : { snippet: { text: snippet } }) },
              },
            },
          ],
          ...result,
        },
      ],
    },
  ],
});

const secret = 'SECRETVALUE0123456789';
const trivy = (result: Json) => ({
  SchemaVersion: 2,
  ArtifactName: '.',
  Results: [{ Target: 'package-lock.json', ...result }],
});

/** What it shows → the tool's own format, its SARIF, and the one finding of both. */
const pairs: readonly (readonly [string, unknown, unknown, Json])[] = [
  [
    'Gitleaks',
    [{ RuleID: 'aws-key', Description: 'AWS key', File: 'a.env', StartLine: 2, Secret: secret, Match: `k=${secret}` }],
    sarif('gitleaks', 'aws-key', {
      rule: { shortDescription: { text: 'AWS key' } },
      path: 'a.env',
      line: 2,
      snippet: secret,
      result: { partialFingerprints: { author: 'a', commitSha: 'c' } },
    }),
    { source: 'secret', severity: 'critical', cwe: ['CWE-798'], tool: 'Gitleaks' },
  ],
  [
    'Trivy, a dependency',
    trivy({
      Vulnerabilities: [
        {
          VulnerabilityID: 'CVE-2026-4004',
          PkgName: 'left',
          InstalledVersion: '1',
          FixedVersion: '2',
          Severity: 'HIGH',
        },
      ],
    }),
    sarif('Trivy', 'CVE-2026-4004', {
      rule: { properties: { 'security-severity': '9.8', tags: ['vulnerability', 'security', 'HIGH'] } },
      path: 'package-lock.json',
      result: {
        level: 'error',
        message: {
          text: 'Package: left\nInstalled Version: 1\nVulnerability CVE-2026-4004\nSeverity: HIGH\nFixed Version: 2',
        },
      },
    }),
    { source: 'sca', severity: 'high', vuln_ids: ['CVE-2026-4004'], fix_state: 'fixed_available', tool: 'Trivy' },
  ],
  [
    'Trivy, a misconfiguration',
    trivy({
      Target: 'Dockerfile',
      Misconfigurations: [
        {
          ID: 'DS002',
          AVDID: 'DS002',
          Status: 'FAIL',
          Title: 'Image user is root',
          Severity: 'LOW',
          CauseMetadata: { StartLine: 1 },
        },
      ],
    }),
    sarif('Trivy', 'DS002', {
      rule: { shortDescription: { text: 'Image user is root' }, properties: { tags: ['misconfiguration', 'LOW'] } },
      path: 'Dockerfile',
      line: 1,
      result: { level: 'error' },
    }),
    { source: 'iac', severity: 'low' },
  ],
  [
    'Grype',
    {
      descriptor: { name: 'grype' },
      matches: [
        {
          vulnerability: { id: 'CVE-2026-5005', severity: 'Critical', fix: { state: 'fixed', versions: ['4'] } },
          artifact: { name: 'y', version: '3', type: 'npm', purl: 'pkg:npm/y@3' },
          matchDetails: [{ type: 'exact-direct-match' }],
        },
      ],
    },
    sarif('grype', 'CVE-2026-5005-y', {
      rule: {
        shortDescription: { text: 'CVE-2026-5005 critical vulnerability for y package' },
        help: { text: 'Vulnerability CVE-2026-5005\nSeverity: critical\nPackage: y\nVersion: 3\nFix Version: 4' },
        properties: { 'security-severity': '7.5', purls: ['pkg:npm/y@3'] },
      },
      path: 'package.json',
    }),
    { source: 'sca', severity: 'critical', vuln_ids: ['CVE-2026-5005'], fix_state: 'fixed_available' },
  ],
  [
    'Checkov',
    {
      check_type: 'terraform',
      results: {
        failed_checks: [
          {
            check_id: 'CKV_AWS_20',
            check_name: 'Bucket is public',
            severity: null,
            file_path: '/m.tf',
            file_line_range: [3, 5],
            resource: 'b.x',
          },
        ],
      },
    },
    sarif('Checkov', 'CKV_AWS_20', {
      rule: { shortDescription: { text: 'Bucket is public' } },
      path: 'm.tf',
      result: { level: 'error' },
    }),
    { source: 'iac', severity: 'medium', cwe: ['CWE-284'] },
  ],
  [
    'Semgrep',
    {
      results: [
        {
          check_id: 'js.eval',
          path: 'a.js',
          start: { line: 3 },
          extra: { severity: 'INFO', message: 'm', metadata: { cwe: ['CWE-95'] } },
        },
      ],
      errors: [],
      paths: { scanned: ['a.js'] },
    },
    sarif('Semgrep OSS', 'js.eval', {
      rule: { properties: { tags: ['CWE-95: Eval', 'security'] } },
      snippet: 'eval(x)',
      result: { level: 'note' },
    }),
    { source: 'sast', severity: 'low', cwe: ['CWE-95'], tool: 'Semgrep' },
  ],
  [
    'Bandit',
    {
      errors: [],
      generated_at: '2026-11-20T10:00:00Z',
      metrics: {},
      results: [{ filename: './a.py', issue_severity: 'HIGH', issue_text: 'shell', line_number: 3, test_id: 'B602' }],
    },
    sarif('Bandit', 'B602', { path: 'a.py', snippet: 'x', result: { level: 'error' } }),
    { source: 'sast', severity: 'high', cwe: ['CWE-78'], tool: 'Bandit' },
  ],
];

/** Tool, rule and kind of what only SARIF or other formats bring. */
const kinds: readonly (readonly [string, string, string])[] = [
  ...[
    'secretlint',
    'ggshield',
    'GitGuardian',
    'Nosey Parker',
    'noseyparker',
    'TruffleHog',
    'detect-secrets',
    'Kingfisher',
    'whispers',
  ].map((tool) => [tool, 'aws', 'secret'] as const),
  ['Snyk Open Source', 'SNYK-JS-LEFT-1', 'sca'],
  ['SnykCode', 'javascript/Sqli', 'sast'],
  ['osv-scanner', 'CVE-2026-1', 'sca'],
  ['some scanner', 'GHSA-2222-3333-4444', 'sca'],
  ['KICS', 'a1', 'iac'],
  ['tfsec', 'aws-s3', 'iac'],
  ['terrascan', 'AC_1', 'iac'],
  ['kubescape', 'C-0001', 'k8s'],
  ['kube-linter', 'run-as-non-root', 'k8s'],
  ['hadolint', 'DL3002', 'iac'],
  ['Checkov', 'CKV_SECRET_6', 'secret'],
  ['Semgrep OSS', 'generic.secrets.security.detected-key', 'secret'],
  ['CodeQL', 'js/sql-injection', 'sast'],
  ['OWASP ZAP', '40018', 'dast'],
  ['JFrog Xray Scanner', 'CVE-2022-1_lodash_4.1', 'sca'],
  ['JFrog Xray', 'XRAY-94201_lodash_4.1', 'sca'],
  ['JFrog Applicability Scanner', 'applic_CVE-2026-12345', 'sca'],
  ['JFrog Terraform scanner', 'aws_s3_no_encryption', 'iac'],
  ['JFrog Terraform Scanner', 'aws_s3_no_encryption', 'iac'],
  ['JFrog Secrets scanner', 'REQ.SECRET.GENERIC.TEXT', 'secret'],
  ['JFrog SAST', 'js-sqli', 'sast'],
  ['poutine', 'untrusted_checkout_exec', 'iac'],
  ['zizmor', 'zizmor/template-injection', 'iac'],
  ['DevSkim', 'DS173237', 'secret'],
  ['Spectral', 'CFG001', 'secret'],
  ['Spectral', 'AWS014 Visible Key', 'secret'],
  ['OPA', 'deny_public_bucket', 'iac'],
  ['Open Policy Agent', 'main/deny', 'iac'],
  ['devskim', 'DS117838', 'secret'],
  ['Microsoft DevSkim', 'DS126858', 'sast'],
  ['QDJVM', 'RuntimeExecWithNonConstantString', 'sast'],
  ['QDJVM', 'VulnerableLibrariesLocal', 'sca'],
];

/** Tool, rule, and whether it is about security. */
const rules: readonly (readonly [string, string, boolean])[] = [
  ['ESLint', 'no-undef', false],
  ['ESLint', '@typescript-eslint/no-unused-vars', false],
  ['ESLint', 'security/detect-eval-with-expression', true],
  ['ESLint', 'no-eval', true],
  ['ESLint', 'house/no-raw-sql', true],
  ['eslint-plugin-house', 'no-raw-sql', true],
  ['HTMLHint', 'tag-pair', false],
  ['stylelint', 'color-no-invalid-hex', false],
  ['Standard Security Scanner', 'x', true],
  ['ShellCheck', 'SC2034', false],
  ['ShellCheck', 'SC2115', true],
  ['Pylint', 'C0114', false],
  ['Pylint', 'eval-used', true],
  ['ruff', 'E501', false],
  ['ruff', 'S602', true],
  ['flake8', 'W291', false],
  ['cppcheck', 'unusedFunction', false],
  ['cppcheck', 'bufferAccessOutOfBounds', true],
  ['clang-tidy', 'readability-braces-around-statements', false],
  ['clang-tidy', 'clang-analyzer-security.insecureAPI.strcpy', true],
  ['checkstyle', 'JavadocMethod', false],
  ['PMD', 'UnusedLocalVariable', false],
  ['PMD', 'HardCodedCryptoKey', true],
  ['RuboCop', 'Style/StringLiterals', false],
  ['RuboCop', 'Security/Eval', true],
  ['golangci-lint', 'errcheck', false],
  ['golangci-lint', 'gosec', true],
  ['hadolint', 'DL3008', false],
  ['QDJVM', 'UnusedDeclaration', false],
  ['QDPY', 'PyUnresolvedReferencesInspection', false],
  ['Qodana for JS', 'JSUnusedLocalSymbols', false],
  ['QDJVMC', 'UnsecureRandomNumberGeneration', true],
  ['a tool that nobody knows', 'style-of-braces', true],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, own, other, wanted] of pairs)
    for (const [order, reports] of Object.entries({ 'its own first': [own, other], 'SARIF first': [other, own] }))
      await t.test(`22 Q4: ${what}: ${order}: one finding`, async (t) => {
        const app = await client.application();
        for (const report of reports) {
          const sent = await client.send(app, report);
          t.equal(sent.status, 202, JSON.stringify(sent.body));
        }
        const found = await client.findings(app);
        t.equal(found.length, 1, JSON.stringify(found.map(({ rule_id, location }) => [rule_id, location])));
        t.match(found[0], wanted);
        for (const report of reports) {
          const alone = await client.application();
          await client.send(alone, report);
          t.match(await client.findings(alone), [wanted], 'alone');
        }
      });
  await t.test('22 Q4: the kind of what SARIF brings', async (t) => {
    for (const [tool, rule, kind] of kinds) {
      const app = await client.application();
      await client.send(app, sarif(tool, rule, { snippet: 'text' }), { commit: 'c', branch: 'main' });
      t.match(await client.findings(app), [{ source: kind }], `${tool} ${rule}`);
      if (kind !== 'secret') continue;
      const gate = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c' });
      t.match(gate.body, { verdict: 'fail', exit_code: 1 }, `${tool}: a leak stops the gate`);
    }
  });
  await t.test('22 Q8: lint levels are hidden, stop no gate, and have no risk and no term', async (t) => {
    for (const [tool, rule, isSecurity] of rules) {
      const app = await client.application();
      await client.send(app, sarif(tool, rule, { result: { level: 'error' } }), { commit: 'c', branch: 'main' });
      const gate = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c' });
      t.match(gate.body, { verdict: isSecurity ? 'fail' : 'pass' }, `${tool} ${rule}`);
      t.equal((await client.findings(app)).length, isSecurity ? 1 : 0, `${tool} ${rule}: listed`);
      const quality = (await client.call('GET', `/findings?application_id=${app}&source=quality`)).body['items'];
      const lint = { source: 'quality', effective_risk: 0, sla: { due_at: null } };
      t.match(quality, isSecurity ? [] : [lint], `${tool} ${rule}: with the filter`);
      const { open_total: open } = (await client.call('GET', `/findings/stats?application_id=${app}`)).body;
      t.equal(open, isSecurity ? 1 : 0, `${tool} ${rule}: counted`);
    }
  });
  await t.test('22 Q9: a rule without a CWE gets that of the tables', async (t) => {
    const app = await client.application();
    await client.send(app, sarif('Bandit', 'B608'));
    await client.send(app, 'title,severity,rule\nBad,high,x\n');
    t.match(await client.findings(app), [{ cwe: ['CWE-89'] }, { cwe: [] }]);
  });
}

t.test('22: kinds of findings', (t) => onBothDatabases(t, 'kinds', suite));

t.test('22 Q9: the tables name weaknesses that exist, and each rule once', async (t) => {
  // categories and views of the CWE list: they are no weaknesses
  const categories = new Set([
    16, 17, 18, 19, 21, 189, 199, 254, 255, 264, 265, 310, 320, 355, 361, 371, 388, 398, 399,
  ]);
  const isWeakness = (cwe: number): boolean => Number.isInteger(cwe) && cwe > 0 && cwe < 1435 && !categories.has(cwe);
  for (const [tool, table] of Object.entries(weaknessTables)) {
    const all = Object.values(table).flatMap((text) => text.split(/\s+/));
    t.same(
      all.filter((rule, index) => rule === '' || all.indexOf(rule) !== index),
      [],
      `${tool}: each rule once`,
    );
    t.same(
      Object.keys(table)
        .map(Number)
        .filter((cwe) => !isWeakness(cwe)),
      [],
      `${tool}: weaknesses`,
    );
  }
  t.same(
    topics.filter(([, cwe]) => !isWeakness(cwe)),
    [],
  );
  const cases: readonly (readonly [string, string, string, number])[] = [
    ['gosec', 'G201', '', 89],
    ['Security Code Scan', 'SCS0018', '', 22],
    ['Security Code Scan', 'SCS0029', '', 79],
    ['Brakeman', 'x', 'CheckSQL/SQL Injection', 89],
    ['ruff', 'S602', '', 78],
    ['SpotBugs', 'XXE_DTD', '', 611],
    ['Find Security Bugs', 'SQL_INJECTION_JDBC', '', 89],
    ['ZAP', '40018-1', '', 89],
    ['hadolint', 'DL3002', '', 250],
    ['Checkov', 'CKV_AWS_1', 'Ensure the bucket is not publicly readable', 284],
    ['Flawfinder', 'strcpy', '', 120],
    ['ESLint', 'security/detect-child-process', '', 78],
  ];
  const of = (ruleId: string, title = '', tags: readonly string[] = []) => ({ ruleId, title, tags, description: '' });
  for (const [tool, rule, title, cwe] of cases) t.same(weaknessesOf(tool, of(rule, title)), [cwe], `${tool} ${rule}`);
  t.same(weaknessesOf('Nuclei', of('x', '', ['tech', 'sqli'])), [89]);
  t.same(weaknessesOf('nobody', of('B608')), [], 'another tool has other rules');
  const own = record({
    title: 't',
    severity: 'high',
    source: 'sast',
    ruleId: 'B608',
    cwes: [20],
    location: { kind: 'code', path: 'a' },
  });
  t.same(enriched(own, 'Bandit').cwes, [20], 'what the tool says wins');
  t.equal(profileOf('never heard of'), null);
});
