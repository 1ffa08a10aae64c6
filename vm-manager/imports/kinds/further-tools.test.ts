// Kinds, style and weaknesses of tools that a sixth attack on issue 22 tried, and formats of one tool that say unlike
// much. Over HTTP. Reports are written here.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onEmbeddedDatabase } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onEmbeddedDatabase>[2]>[1];

const sarif = (tool: string, all: readonly (readonly [rule: string, result?: Json])[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: tool, rules: all.map(([id]) => ({ id })) } },
      results: all.map(([ruleId, result], index) => ({
        ruleId,
        level: 'error',
        message: { text: 'found' },
        locations: [{ physicalLocation: { artifactLocation: { uri: `src/f${index}.x` }, region: { startLine: 3 } } }],
        ...result,
      })),
    },
  ],
});

/** Tool, rule → kind and weakness. */
const told: readonly (readonly [tool: string, rule: string, kind: string, cwe?: number])[] = [
  ['Checkmarx SCA', 'CVE-2021-1', 'sca'],
  ['Acme IaC Scanner', 'open-port', 'iac'],
  ['Acme Software Composition Analysis', 'x', 'sca'],
  ['Bicep', 'x', 'iac'],
  ['Bicep', 'outputs-should-not-contain-secrets', 'iac'],
  ['Bicep', 'no-unused-params', 'quality'],
  ['PSRule', 'Azure.Storage.SecureTransfer', 'iac'],
  ['PSRule.Rules.Azure', 'Azure.AKS.Version', 'iac'],
  ['Template Analyzer', 'TA-000001', 'iac'],
  ['templateanalyzer', 'TA-000007', 'iac'],
  ['Scorecard', 'TokenPermissionsID', 'iac'],
  ['OpenSSF Scorecard', 'BranchProtectionID', 'iac'],
  ['MegaLinter', 'no-undef', 'quality'],
  ['MegaLinter', 'no-eval', 'sast', 95],
  ['reviewdog', 'prefer-const', 'quality'],
  ['Slither', 'naming-convention', 'quality'],
  ['Slither', '3-0-solc-version', 'quality'],
  ['Slither', 'reentrancy-eth', 'sast', 841],
  ['Slither', '0-0-arbitrary-send-eth', 'sast', 284],
  ['Brakeman', 'BRAKE0000', 'sast', 89],
  ['Brakeman', 'BRAKE0014', 'sast', 78],
  ['DevSkim', 'DS126858', 'sast', 328],
  ['DevSkim', 'DS137138', 'sast', 319],
  ['njsscan', 'node_sqli_injection', 'sast', 89],
  ['njsscan', 'generic_os_command_exec', 'sast', 78],
  ['njsscan', 'express_xss', 'sast', 79],
];
/** Functions of Flawfinder whose report names no weakness. */
const functions: readonly (readonly [string, number])[] = [
  ['LoadLibrary', 426],
  ['CreateProcess', 78],
  ['getenv', 20],
  ['wcscpy', 120],
  ['lstrcpy', 120],
  ['_tcscpy', 120],
  ['StrCpy', 120],
  ['realpath', 785],
  ['readlink', 362],
  ['SetSecurityDescriptorDacl', 732],
  ['ImpersonateNamedPipeClient', 250],
];

const site = 'https://h.example';
const zap = {
  '@version': '2.14',
  site: [
    {
      '@name': site,
      '@host': 'h.example',
      '@port': '443',
      '@ssl': 'true',
      alerts: [
        {
          pluginid: '40018',
          alertRef: '40018-1',
          alert: 'SQL Injection',
          riskcode: '3',
          confidence: '2',
          cweid: '89',
          instances: [{ uri: `${site}/a?id=1`, method: 'GET', param: 'id', attack: "1'" }],
        },
      ],
    },
  ],
};
const web = (tool: string, ruleId: string, uri: string) =>
  sarif(tool, [
    [
      ruleId,
      {
        locations: [{ physicalLocation: { artifactLocation: { uri } } }],
        ...(tool === 'ZAP' ? { webRequest: { method: 'GET', target: uri } } : {}),
      },
    ],
  ]);
const nuclei = JSON.stringify({
  'template-id': 'CVE-2021-41773',
  info: { name: 'Traversal', severity: 'high', classification: { 'cve-id': ['cve-2021-41773'], 'cwe-id': ['cwe-22'] } },
  type: 'http',
  host: site,
  'matched-at': `${site}/icons/.%2e/`,
  'matcher-status': true,
});
const formats: readonly (readonly [what: string, first: unknown, second: unknown, cwe: string])[] = [
  ['ZAP', zap, web('ZAP', '40018', `${site}/a?id=1`), 'CWE-89'],
  ['ZAP, SARIF first', web('ZAP', '40018', `${site}/a?id=1`), zap, 'CWE-89'],
  ['Nuclei', `${nuclei}\n`, web('Nuclei', 'CVE-2021-41773', `${site}/icons/.%2e/`), 'CWE-22'],
  ['Nuclei, SARIF first', web('Nuclei', 'CVE-2021-41773', `${site}/icons/.%2e/`), `${nuclei}\n`, 'CWE-22'],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  /** With those of style. */
  const all = async (app: string): Promise<Json[]> => {
    const lists = await Promise.all(
      ['', '&source=quality'].map((more) => client.call('GET', `/findings?application_id=${app}&limit=500${more}`)),
    );
    return lists.flatMap(({ body }) => body['items'] as Json[]);
  };

  await t.test('22 K6, K7: kinds, style and weaknesses', async (t) => {
    for (const tool of new Set(told.map(([name]) => name))) {
      const rules = told.filter(([name]) => name === tool);
      const app = await client.application();
      const sent = await client.send(
        app,
        sarif(
          tool,
          rules.map(([, rule]) => [rule] as const),
        ),
      );
      t.equal(sent.status, 202, JSON.stringify(sent.body));
      const found = new Map((await all(app)).map((one) => [one['rule_id'], one]));
      for (const [, rule, kind, cwe] of rules) {
        const wanted = { source: kind, ...(cwe === undefined ? {} : { cwe: [`CWE-${cwe}`] }) };
        t.match(found.get(rule), wanted, `${tool} ${rule}`);
      }
    }
  });

  await t.test('22 K6: functions of Flawfinder', async (t) => {
    const head =
      'File,Line,Column,DefaultLevel,Level,Category,Name,Warning,Suggestion,Note,CWEs,Context,Fingerprint,' +
      'ToolVersion,RuleId,HelpUri';
    const rows = functions.map(([name], index) => `a${index}.c,3,1,4,4,buffer,${name},w,,,,x,f${index},2,,`);
    const app = await client.application();
    const sent = await client.send(app, `${[head, ...rows].join('\n')}\n`);
    t.equal(sent.status, 202, JSON.stringify(sent.body));
    const found = new Map((await all(app)).map((one) => [String(one['rule_id']).split('/').at(-1), one['cwe']]));
    for (const [name, cwe] of functions) t.same(found.get(name), [`CWE-${cwe}`], name);
  });

  for (const [what, first, second, cwe] of formats)
    await t.test(`22 K10: ${what}: one finding, whose weakness stays`, async (t) => {
      const app = await client.application();
      for (const report of [first, second]) {
        const sent = await client.send(app, report);
        t.equal(sent.status, 202, JSON.stringify(sent.body));
      }
      const found = await all(app);
      t.match(found, [{ cwe: [cwe] }], JSON.stringify(found));
      t.equal(found.length, 1);
    });
}

t.test('22: further tools', (t) => onEmbeddedDatabase(t, 'further tools', suite));
