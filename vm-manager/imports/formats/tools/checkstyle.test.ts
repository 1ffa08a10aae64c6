// Checkstyle XML, which says nothing of its tool, over HTTP: a finding is of the kind and severity of its tool's own
// format. Reports are written here.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const xml = '<?xml version="1.0"?>\n';
const errorOf = (path: string, source: string, message = 'Found'): string =>
  `<file name="${path}"><error line="3" column="1" severity="error" message="${message}" ` +
  `source="${source.replace(/>/g, '&gt;')}"/></file>`;

/** File, rule as Checkstyle XML has it, tool and rule in the hub, and kind. */
const named: readonly (readonly [path: string, source: string, tool: string | null, rule: string, kind: string])[] = [
  ['f.html', 'htmlhint.doctype-first', 'HTMLHint', 'doctype-first', 'quality'],
  ['a.swift', 'swiftlint.rules.line_length', 'swiftlint', 'line_length', 'quality'],
  ['a.kt', 'detekt.MagicNumber', 'detekt', 'MagicNumber', 'quality'],
  ['a.kt', 'standard:no-wildcard-imports', 'ktlint', 'standard:no-wildcard-imports', 'quality'],
  ['a.kt', 'final-newline', 'ktlint', 'final-newline', 'quality'],
  ['a.py', 'pylint.C0114', 'Pylint', 'C0114', 'quality'],
  ['a.py', 'C0114', 'Pylint', 'C0114', 'quality'],
  ['a.py', 'W0123', 'Pylint', 'W0123', 'sast'],
  ['a.py', 'E302', 'Flake8', 'E302', 'quality'],
  ['a.py', 'flake8.W291', 'Flake8', 'W291', 'quality'],
  ['a.py', 'S602', 'Flake8', 'S602', 'sast'],
  ['a.py', 'B602', 'Bandit', 'B602', 'sast'],
  ['a.yml', 'yamllint.truthy', 'yamllint', 'truthy', 'quality'],
  ['a.yml', 'truthy', 'yamllint', 'truthy', 'quality'],
  ['a.js', 'eslint.no-unused-vars', 'ESLint', 'no-unused-vars', 'quality'],
  ['a.js', 'eslint.rules.no-unused-vars', 'ESLint', 'no-unused-vars', 'quality'],
  ['a.js', 'eslint.rules.no-eval', 'ESLint', 'no-eval', 'sast'],
  ['a.css', 'stylelint.rules.color-no-invalid-hex', 'stylelint', 'color-no-invalid-hex', 'quality'],
  ['a.css', 'eslint.rules.no-ids', 'stylelint', 'no-ids', 'quality'],
  [
    'a.php',
    'PSR12.Files.FileHeader.SpacingAfterBlock',
    'PHP_CodeSniffer',
    'PSR12.Files.FileHeader.SpacingAfterBlock',
    'quality',
  ],
  ['a.php', 'House.Arrays.Comma.Missing', 'PHP_CodeSniffer', 'House.Arrays.Comma.Missing', 'quality'],
  ['a.php', 'Squiz.PHP.Eval.Discouraged', 'PHP_CodeSniffer', 'Squiz.PHP.Eval.Discouraged', 'sast'],
  ['a.php', 'TaintedSql', 'Psalm', 'TaintedSql', 'sast'],
  ['a.php', 'argument.type', 'PHPStan', 'argument.type', 'quality'],
  ['a.tf', 'terraform_naming_convention', 'tflint', 'terraform_naming_convention', 'quality'],
  ['t.yaml', 'E3012', 'cfn-lint', 'E3012', 'quality'],
  ['a.ts', 'lint/style/useConst', 'Biome', 'lint/style/useConst', 'quality'],
  ['a.ts', 'lint/security/noGlobalEval', 'Biome', 'lint/security/noGlobalEval', 'sast'],
  ['a.js', 'eslint(no-debugger)', 'oxlint', 'eslint(no-debugger)', 'quality'],
  ['a.js', 'jshint.W033', 'JSHint', 'W033', 'quality'],
  ['a.js', 'W033', 'JSHint', 'W033', 'quality'],
  ['a.css', 'net.csslint.Disallowids', 'csslint', 'Disallowids', 'quality'],
  [
    'a.scala',
    'org.scalastyle.file.HeaderMatchesChecker',
    'Scalastyle',
    'org.scalastyle.file.HeaderMatchesChecker',
    'quality',
  ],
  ['a.lua', 'W211', 'luacheck', 'W211', 'quality'],
  ['a.ts', 'failure.tslint.semicolon', 'TSLint', 'semicolon', 'quality'],
  ['a.rb', 'com.puppycrawl.tools.checkstyle.Style/StringLiterals', 'RuboCop', 'Style/StringLiterals', 'quality'],
  ['a.rb', 'Security/Eval', 'RuboCop', 'Security/Eval', 'sast'],
  [
    'A.java',
    'com.puppycrawl.tools.checkstyle.checks.javadoc.JavadocMethodCheck',
    'checkstyle',
    'com.puppycrawl.tools.checkstyle.checks.javadoc.JavadocMethodCheck',
    'quality',
  ],
  ['a.go', 'errcheck', 'golangci-lint', 'errcheck', 'quality'],
  ['a.go', 'gosec', 'golangci-lint', 'gosec', 'sast'],
  ['a.md', 'MD013', 'markdownlint', 'MD013', 'quality'],
  ['a.cs', 'CA1822', 'Roslyn', 'CA1822', 'quality'],
  ['a.cs', 'CA3001', 'Roslyn', 'CA3001', 'sast'],
  ['Dockerfile', 'DL3002', 'Hadolint', 'DL3002', 'iac'],
  ['a.c', 'nullPointer', 'Cppcheck', 'nullPointer', 'sast'],
  [
    'a.env',
    'eslint.rules.@secretlint/secretlint-rule-preset-recommend > @secretlint/secretlint-rule-slack',
    'secretlint',
    '@secretlint/secretlint-rule-slack',
    'secret',
  ],
  ['a.env', 'gitleaks.aws-access-token', 'Gitleaks', 'aws-access-token', 'secret'],
  ['a.js', 'house-rule', null, 'house-rule', 'sast'],
  ['a.c', 'HOUSE-1', null, 'HOUSE-1', 'sast'],
  ['a.js', 'typescript.react.best-practice.x', null, 'typescript.react.best-practice.x', 'sast'],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const all = async (app: string, source: string): Promise<Json[]> =>
    (await client.call('GET', `/findings?application_id=${app}&source=${source}`)).body['items'];
  await t.test('22 H2: Checkstyle XML: the tool comes from the rule, and its rules are of one kind', async (t) => {
    const app = await client.application();
    const files = named.map(([path, source], index) => errorOf(`${index}/${path}`, source));
    const sent = await client.send(app, `${xml}<checkstyle>${files.join('')}</checkstyle>`, { format: 'checkstyle' });
    t.match(sent, { status: 202, body: { report: { unread: 0, created: named.length } } }, JSON.stringify(sent.body));
    const rows = [...(await client.findings(app)), ...(await all(app, 'quality'))];
    for (const [index, [path, source, tool, rule, kind]] of named.entries()) {
      const found = rows.find(({ location }) => String(location).includes(`${index}/${path}`));
      t.match(found, { rule_id: rule, source: kind, tool: tool ?? 'Checkstyle report' }, `${source} of ${path}`);
    }
    for (const [path, source, verdict] of [
      ['f.html', 'htmlhint.doctype-first', 'pass'],
      ['a.swift', 'swiftlint.rules.line_length', 'pass'],
      ['a.js', 'house-rule', 'fail'],
      ['a.env', 'eslint.rules.@secretlint/secretlint-rule-aws', 'fail'],
    ] as const) {
      const gated = await client.application();
      await client.send(gated, `${xml}<checkstyle>${errorOf(path, source)}</checkstyle>`, {
        commit: 'c',
        branch: 'main',
      });
      const gate = await client.call('POST', '/gate/evaluate', { application_id: gated, commit: 'c' });
      t.match(gate.body, { verdict }, source);
    }
  });
  await t.test('22 H2: a leak is one finding in Checkstyle XML, JSON and SARIF of secretlint', async (t) => {
    const rule = '@secretlint/secretlint-rule-slack';
    const preset = '@secretlint/secretlint-rule-preset-recommend';
    const message = `[SLACK_TOKEN] found slack token: **** (${preset} &gt; ${rule})`;
    const reports = [
      `${xml}<checkstyle>${errorOf('a.env', `eslint.rules.${preset} > ${rule}`, message)}</checkstyle>`,
      JSON.stringify([
        {
          filePath: 'a.env',
          sourceContentType: 'text',
          sourceContent: 'a\nb\nk=ZZTOPSECRET\n',
          messages: [
            {
              type: 'message',
              ruleId: rule,
              messageId: 'SLACK_TOKEN',
              severity: 'error',
              message: 'found slack token: ****',
              range: [6, 17],
              loc: { start: { line: 3, column: 2 } },
            },
          ],
        },
      ]),
    ];
    for (const order of [reports, reports.toReversed()]) {
      const app = await client.application();
      for (const report of order) {
        await client.send(app, report);
        const found = await client.findings(app);
        t.match(found, [{ source: 'secret', cwe: ['CWE-798'], rule_id: rule, title: 'found slack token: ****' }]);
        t.equal(found.length, 1);
      }
    }
  });
}

t.test('22: Checkstyle XML', (t) => onBothDatabases(t, 'checkstyle', suite));
