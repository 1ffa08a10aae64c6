// Importers of single tools over HTTP: recognised by themselves, what they find, one finding in all formats of a tool,
// and what they do not take for a finding. Reports are written here, in the shape that the tools have.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';
const cppcheck = `${xml}<results version="2"><cppcheck version="2.13"/><errors>
<error id="nullPointer" severity="error" msg="Null pointer: q" verbose="Null pointer: q" cwe="476">
<location file="src/a.c" line="7" column="3"/><symbol>q</symbol></error>
<error id="odd" severity="style" msg="Odd" verbose="Odd" cwe="398">
<location file="src/a.c" line="9" column="1"/></error>
<error id="checkersReport" severity="information" msg="Active" verbose=""/></errors></results>`;
const plist = `${xml}<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"
  "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>clang_version</key><string>clang 17</string><key>diagnostics</key><array><dict>
<key>path</key><array/><key>description</key><string>Null is read</string>
<key>category</key><string>Logic error</string>
<key>check_name</key><string>core.NullDereference</string>
<key>issue_hash_content_of_line_in_context</key><string>ab12</string>
<key>location</key><dict><key>line</key><integer>7</integer><key>col</key><integer>3</integer>
<key>file</key><integer>0</integer></dict>
</dict></array><key>files</key><array><string>/home/alice/shop/src/a.c</string></array></dict></plist>`;
const clangSarif = {
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'clang', rules: [{ id: 'core.NullDereference', name: 'core.NullDereference' }] } },
      results: [
        {
          ruleId: 'core.NullDereference',
          level: 'warning',
          message: { text: 'Null is read' },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: 'file:///home/alice/shop/src/a.c' },
                region: { startLine: 7, startColumn: 3 },
              },
            },
          ],
        },
      ],
    },
  ],
};
const shell = {
  file: 'a.sh',
  line: 2,
  endLine: 2,
  column: 8,
  endColumn: 10,
  level: 'info',
  code: 2086,
  message: 'Quote',
};
const banditText = `Test ID: B602 Severity: HIGH Confidence: HIGH\nshell\nLocation a.py:3`;
const secret = 'ZZTOPSECRETVALUE0123456789';
const secretSarif = {
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'secretlint', rules: [{ id: '@secretlint/secretlint-rule-aws' }] } },
      results: [
        {
          ruleId: '@secretlint/secretlint-rule-aws',
          level: 'error',
          message: { text: 'found a key' },
          locations: [{ physicalLocation: { artifactLocation: { uri: 'a.env' }, region: { startLine: 2 } } }],
        },
      ],
    },
  ],
};
const nmapOf = (ports: string, end = '<runstats><finished exit="success"/></runstats>') =>
  `${xml}<!DOCTYPE nmaprun>\n<nmaprun scanner="nmap" start="1760000000" version="7.95"><host><status state="up"/>
<address addr="192.0.2.7" addrtype="ipv4"/><hostnames><hostname name="shop.example" type="user"/></hostnames>
<ports>${ports}</ports></host>${end}</nmaprun>`;
const openPort = `<port protocol="tcp" portid="443"><state state="open"/>
<service name="https" product="nginx" version="1.9"/>`;
const vulners = `<script id="vulners"
  output="&#xa;  cpe:/a:x:&#xa;    CVE-2026-1234  9.8  https://vulners.example/CVE-2026-1234"/>`;
const library = `<script id="ssl-hole"
  output="&#xa;  VULNERABLE:&#xa;  A hole of TLS&#xa;    State: VULNERABLE&#xa;    IDs:  ${[
    'CVE:CVE-2026-9009',
    '    Risk factor: High',
  ].join('&#xa;')}"/>`;
const harmless = `<script id="other" output="&#xa;  NOT VULNERABLE:&#xa;  Another&#xa;    State: NOT VULNERABLE"/>`;
const testsslRow = {
  id: 'BREACH',
  ip: 'shop.example/192.0.2.7',
  port: '443',
  severity: 'MEDIUM',
  cve: 'CVE-2013-3587',
  cwe: 'CWE-310',
  finding: 'may be vulnerable',
};
const testsslOk = { ...testsslRow, id: 'CCS', severity: 'OK', finding: 'not vulnerable' };

/** What it shows → reports of one tool in its formats, and the one finding of all of them. */
const cases: readonly (readonly [string, readonly unknown[], Json])[] = [
  [
    'cppcheck',
    [cppcheck],
    { title: 'Null pointer: q', severity: 'high', source: 'sast', tool: 'Cppcheck', cwe: ['CWE-476'] },
  ],
  [
    'clang',
    [plist, clangSarif],
    { title: 'Null is read', severity: 'medium', source: 'sast', cwe: ['CWE-476'], location: 'src/a.c:7' },
  ],
  [
    'shellcheck',
    [
      [shell],
      { comments: [shell] },
      `${xml}<checkstyle version='4.3'><file name='a.sh' >
<error line='2' column='8' severity='info' message='Quote' source='ShellCheck.SC2086' /></file></checkstyle>`,
      'a.sh:2:8: note: Quote [SC2086]\n',
    ],
    { title: 'Quote', severity: 'low', source: 'sast', tool: 'ShellCheck', rule_id: 'SC2086', cwe: ['CWE-78'] },
  ],
  [
    'bandit',
    [
      'filename,test_name,test_id,issue_severity,issue_confidence,issue_cwe,issue_text,line_number,col_offset,' +
        'line_range,more_info\na.py,x,B602,HIGH,HIGH,https://cwe.example/data/definitions/' +
        'CWE-78.html,shell,3,0,[3],https://docs.example/b602\n',
      `${xml}<testsuite name="bandit" tests="1">
<testcase classname="a.py" name="x">
<error more_info="https://docs.example" type="HIGH" message="shell">${banditText}</error></testcase></testsuite>`,
      {
        errors: [],
        generated_at: '2026-11-20T10:00:00Z',
        metrics: {},
        results: [{ filename: './a.py', issue_severity: 'HIGH', issue_text: 'shell', line_number: 3, test_id: 'B602' }],
      },
    ],
    { title: 'shell', severity: 'high', source: 'sast', tool: 'Bandit', cwe: ['CWE-78'], location: 'a.py:3' },
  ],
  [
    'flawfinder',
    [
      'File,Line,Column,DefaultLevel,Level,Category,Name,Warning,Suggestion,Note,CWEs,Context,Fingerprint,' +
        'ToolVersion,RuleId,HelpUri\nsrc/a.c,4,39,4,4,buffer,strcpy,"Copies without a bound (CWE-120).",' +
        'Use another,,CWE-120,"strcpy(b, v);",5c00,2.0.19,FF1001,https://cwe.example/120\n',
    ],
    { severity: 'high', source: 'sast', tool: 'Flawfinder', cwe: ['CWE-120'], rule_id: 'FF1001' },
  ],
  [
    'wapiti',
    [
      {
        classifications: { 'SQL Injection': { desc: 'd', sol: 's', ref: { a: 'https://ref.example' }, wstg: [] } },
        vulnerabilities: {
          'SQL Injection': [
            {
              method: 'GET',
              path: '/list?id=1',
              info: 'SQL via id',
              level: 4,
              parameter: 'id',
              module: 'sql',
              http_request: 'GET /list',
              curl_command: 'curl x',
              wstg: ['WSTG-INPV-05'],
            },
          ],
        },
        anomalies: {},
        additionals: { Fingerprint: [{ path: '/', level: 0 }] },
        infos: { target: 'https://shop.example/', date: 'Fri, 27 Nov 2026 00:00:00 +0000', version: 'Wapiti 3.2' },
      },
    ],
    {
      title: 'SQL Injection',
      severity: 'critical',
      source: 'dast',
      cwe: ['CWE-89'],
      location: 'GET https://shop.example/list?id=1 [id]',
    },
  ],
  [
    'testssl',
    [
      [testsslRow, testsslOk],
      {
        Invocation: 'x',
        version: '3.2',
        startTime: '1760000000',
        scanResult: [
          { targetHost: 'shop.example', ip: '192.0.2.7', port: '443', vulnerabilities: [testsslRow, testsslOk] },
        ],
      },
    ],
    {
      severity: 'medium',
      source: 'dast',
      tool: 'testssl',
      vuln_ids: ['CVE-2013-3587'],
      location: 'https://shop.example:443',
    },
  ],
  [
    'secretlint',
    [
      [
        {
          filePath: '/home/alice/shop/a.env',
          sourceContentType: 'text',
          sourceContent: `a=1\nk=${secret}\n`,
          messages: [
            {
              type: 'message',
              ruleId: '@secretlint/secretlint-rule-aws',
              messageId: 'KEY',
              severity: 'error',
              message: 'found a key',
              range: [6, 6 + secret.length],
              loc: { start: { line: 2, column: 2 } },
            },
          ],
        },
      ],
      secretSarif,
    ],
    { severity: 'high', source: 'secret', tool: 'secretlint', cwe: ['CWE-798'], location: 'a.env:2' },
  ],
  [
    'nmap',
    [nmapOf(`${openPort}</port>`)],
    { title: 'Open port 443/tcp: https nginx 1.9', severity: 'info', source: 'dast' },
  ],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [tool, reports, wanted] of cases)
    await t.test(`22 E: ${tool}`, async (t) => {
      const app = await client.application();
      for (const [index, report] of reports.entries()) {
        const sent = await client.send(app, report);
        t.match(
          sent,
          { status: 202, body: { report: { unread: 0, unknown_severities: 0 } } },
          JSON.stringify(sent.body),
        );
        const alone = await client.application();
        await client.send(alone, report);
        t.match(await client.findings(alone), [wanted], `format ${index} alone`);
        t.equal((await client.findings(app)).length, 1, `format ${index}: one finding`);
      }
      t.notMatch(JSON.stringify(await client.findings(app)), /ZZTOPSECRET/, 'no secret is shown');
    });

  await t.test('22 E: vulnerabilities that scripts of Nmap report, and what is none', async (t) => {
    const app = await client.application();
    await client.send(
      app,
      nmapOf(
        `${openPort}${vulners}${library}${harmless}</port>
<port protocol="tcp" portid="80"><state state="closed"/></port>`,
      ),
    );
    const found = (await client.findings(app)).sort((left, right) =>
      String(left['title']) < String(right['title']) ? -1 : 1,
    );
    t.match(found, [
      { title: 'A hole of TLS', severity: 'high', vuln_ids: ['CVE-2026-9009'] },
      { title: 'CVE-2026-1234 in https nginx 1.9', severity: 'critical', vuln_ids: ['CVE-2026-1234'] },
      { title: 'Open port 443/tcp: https nginx 1.9' },
    ]);
  });

  await t.test('22 E: a run that did not end says so; what is no report is refused', async (t) => {
    const unfinished: readonly unknown[] = [
      nmapOf(`${openPort}</port>`, ''),
      cppcheck.replace('id="odd"', 'id="syntaxError"'),
      [testsslRow, { ...testsslRow, id: 'scanProblem', severity: 'FATAL', finding: 'lost' }],
    ];
    for (const report of unfinished)
      t.match((await client.send(await client.application(), report)).body, { report: { complete: false } });
    const entity = plist
      .replace('DTD PLIST 1.0//EN"', '$&')
      .replace(/<!DOCTYPE[^>]*>/, '<!DOCTYPE plist [<!ENTITY a "b">]>');
    for (const [report, format] of [
      [entity, 'clang-plist'],
      ['<results></results>', 'cppcheck'],
      ['<a/>', 'nmap'],
      ['{}', 'wapiti'],
      ['a,b\n1,2\n', 'bandit-csv'],
      ['<a/>', 'checkstyle'],
    ] as const) {
      const { status } = await client.send(await client.application(), report, { format });
      t.ok([400, 422].includes(status), `${format}: ${status}`);
    }
  });

  await t.test('22 E: mappings read XML, and rows_path is checked when it is made', async (t) => {
    const fields = {
      title: '@name',
      severity: '@level',
      path: 'place.@file',
      line: 'place.@line',
      description: 'text',
    };
    const made = await client.call('POST', '/imports/mappings', {
      name: 'own',
      format: 'xml',
      rows_path: 'list/hit',
      fields,
    });
    t.equal(made.status, 201, JSON.stringify(made.body));
    const app = await client.application();
    const report = `${xml}<list><hit name="Bad" level="high"><place file="a.c" line="3"/>
<place file="b.c"/><text>why</text></hit>
<other><hit name="no" level="low"/></other></list>`;
    t.match(await client.send(app, report, { format: 'mapping:own' }), {
      status: 202,
      body: { report: { created: 1 } },
    });
    t.match(await client.findings(app), [{ title: 'Bad', severity: 'high', location: 'a.c:3', description: 'why' }]);
    for (const [format, rows_path] of [
      ['json', '/results'],
      ['json', 'a..b'],
      ['json', 'results[*]'],
      ['json', '$.results'],
      ['xml', ''],
      ['xml', 'a//b'],
      ['xml', '//hit'],
      ['xml', 'issues.grp.issue'],
      ['xml', 'results.error'],
      ['xml', '$.results'],
      ['csv', 'rows'],
    ] as const) {
      const refused = await client.call('POST', '/imports/mappings', {
        name: 'bad',
        format,
        rows_path,
        fields: { title: 't' },
      });
      t.match(refused, { status: 422, body: { detail: /rows_path/ } }, `${format} ${rows_path}`);
    }
    const changed = await client.call('PATCH', `/imports/mappings/${made.body['id']}`, { rows_path: '$.x' });
    t.ok([422, 428].includes(changed.status), String(changed.status));
  });

  await t.test('22 E: filters take several words', async (t) => {
    const app = await client.application();
    await client.send(app, 'title,severity\nA,critical\nB,high\nC,low\n');
    const total = async (query: string) =>
      (await client.call('GET', `/findings?application_id=${app}&${query}`)).body['total'];
    t.equal(await total('severity=high,critical'), 2);
    t.equal(await total('severity=high, critical'.replace(' ', '%20')), 2);
    t.equal(await total('severity=high&severity=low'), 2);
    t.equal(await total('severity=low'), 1);
    t.equal(await total('status=open,resolved'), 3);
    t.equal(await total('source=sast,dast&sla_state=ok,none,at_risk'), 3);
    t.equal((await client.call('GET', `/findings?severity=high,odd`)).status, 422);
    for (const url of [
      '/runs?status=running,succeeded',
      '/imports?status=failed,succeeded',
      '/applications?status=active,archived',
    ])
      t.equal((await client.call('GET', url)).status, 200, url);
  });

  await t.test('22 E: a pipeline opens its run with its first report', async (t) => {
    const app = await client.application();
    const sent = await client.send(app, [shell], { commit: 'c1', branch: 'main' }, '/ci/runs');
    t.match(
      sent,
      { status: 202, body: { kind: 'ci', imports: [{ kind: 'import', status: 'succeeded' }] } },
      JSON.stringify(sent.body),
    );
    t.equal((await client.findings(app)).length, 1);
    t.equal((await client.send(app, 'no report', { commit: 'c2' }, '/ci/runs')).status, 422);
    t.equal((await client.send(app, [shell], {}, '/ci/runs')).status, 422, 'the commit is missing');
    t.equal(
      (await client.call('GET', `/ci/runs?application_id=${app}`)).body['total'],
      1,
      'what is refused leaves no run',
    );
    t.equal(
      (await client.call('POST', '/ci/runs', { application_id: app, commit: 'c3' })).status,
      202,
      'JSON as before',
    );
    t.equal((await client.call('POST', '/ci/runs', { application_id: app })).status, 422);
    t.equal((await client.call('POST', '/ci/runs', { application_id: app, commit: 'x', odd: 1 })).status, 422);
  });
}

t.test('22 E: importers, mappings and filters', (t) => onBothDatabases(t, 'tools', suite));
