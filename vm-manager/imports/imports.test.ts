// Reports of tools through POST /imports: mappings, numbers that add up, the same report twice, what is closed and what
// is not, and files that mean harm. All reports are written here; none is a tool's own.
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
type Json = Record<string, any>; // reports have many shapes; each assertion says what it expects
const v1 = '/api/v1';

class Client {
  readonly at: TestApp;
  readonly token: string;
  constructor(at: TestApp, token: string) {
    [this.at, this.token] = [at, token];
  }
  call(method: string, url: string, body?: unknown) {
    return this.at.call(method, `${v1}${url}`, { token: this.token, body });
  }
  async application(): Promise<string> {
    return String(
      (await this.call('POST', '/applications', { name: `a${Math.random()}`, environment: 'prod' })).body['id'],
    );
  }
  async send(application: string, report: unknown, fields: Record<string, string> = {}, url = '/imports') {
    const text = typeof report === 'string' ? report : JSON.stringify(report);
    const parts = Object.entries({ application_id: application, ...fields }).map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="r"\r\nContent-Type: text/plain\r\n\r\n`;
    const payload = Buffer.from(`${parts.join('')}${file}${text}\r\n--b--\r\n`);
    const reply = await this.at.app.inject({
      method: 'POST',
      url: `${v1}${url}`,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'multipart/form-data; boundary=b' },
      payload,
    });
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  }
  async findings(application: string): Promise<Json[]> {
    const rows = (await this.call('GET', `/findings?application_id=${application}&limit=500&sort=id`)).body['items'];
    return Promise.all((rows as Json[]).map(async ({ id }) => (await this.call('GET', `/vulnerabilities/${id}`)).body));
  }
}

function adds(t: Test, report: Json): void {
  const { parsed, created, updated, reopened, unchanged, duplicates_in_file, dropped } = report;
  t.equal(created + updated + reopened + unchanged + duplicates_in_file + dropped, parsed, 'the numbers add up');
}

const result = (rule: string, path: string, line: number, more: object = {}) => ({
  ruleId: rule,
  message: { text: `${rule} at ${path}` },
  locations: [{ physicalLocation: { artifactLocation: { uri: path }, region: { startLine: line } } }],
  ...more,
});
const sarif = (results: object[], more: object = {}) => ({
  version: '2.1.0',
  runs: [
    {
      results,
      tool: {
        driver: {
          name: 'checker',
          version: '1.2',
          rules: [
            {
              id: 'sqli',
              shortDescription: { text: 'SQL from input' },
              helpUri: 'https://example.org/sqli',
              properties: { tags: ['external/cwe/cwe-089'], 'security-severity': '9.1' },
            },
            { id: 'hash', name: 'Weak hash', defaultConfiguration: { level: 'note' } },
          ],
        },
      },
      ...more,
    },
  ],
});

async function sarifSuite(t: Test, client: Client): Promise<void> {
  await t.test('14.4: SARIF: fields', async (t) => {
    const app = await client.application();
    const snippet = { snippet: { text: 'db.query(x)' } };
    const done = await client.send(
      app,
      sarif([
        result('sqli', 'file:///github/workspace/src/a.ts', 5, {
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: 'file:///github/workspace/src/a.ts' },
                region: { startLine: 5, ...snippet },
              },
            },
          ],
          partialFingerprints: { primaryLocationLineHash: 'abc:1' },
        }),
        result('hash', '../../etc/x.ts', 9),
        result('sqli', 'b.ts', 1, { suppressions: [{ kind: 'external', status: 'accepted' }] }),
        result('sqli', 'c.ts', 1, { suppressions: [{ kind: 'external', status: 'rejected' }] }),
        result('sqli', 'd.ts', 1, { kind: 'pass' }),
        result('unheard/of', 'e.ts', 1, { level: 'error' }),
      ]),
    );
    t.match(done, {
      status: 202,
      body: { status: 'succeeded', report: { parsed: 6, created: 4, dropped: 2, tool: 'checker' } },
    });
    adds(t, done.body['report']);
    const all = await client.findings(app);
    t.match(all[0], {
      title: 'SQL from input',
      severity: 'critical',
      cwe: ['CWE-89'],
      location: 'src/a.ts:5',
      location_detail: { snippet: 'db.query(x)' },
      references: ['https://example.org/sqli'],
      source: 'sast',
      tool: 'checker',
      rule_id: 'sqli',
    });
    t.match(all[1], { title: 'Weak hash', severity: 'low', location: 'etc/x.ts:9' });
    t.match(all[3], { severity: 'high', rule_id: 'unheard/of' });
  });
  await t.test('14.4: the same report again changes nothing', async (t) => {
    const app = await client.application();
    const report = sarif([
      result('sqli', 'a.ts', 1),
      result('sqli', 'a.ts', 9),
      result('sqli', 'a.ts', 1),
      result('hash', 'b.ts', 2),
    ]);
    const first = await client.send(app, report);
    t.match(first.body['report'], { parsed: 4, created: 3, duplicates_in_file: 1 });
    const before = await client.findings(app);
    client.at.clock.nowMs += 60_000;
    const again = await client.send(app, report, { mode: 'sync' });
    t.match(again.body['report'], { created: 0, updated: 0, unchanged: 3, closed: 0 });
    adds(t, again.body['report']);
    const after = await client.findings(app);
    t.same(
      after.map((row) => ({ ...row, last_seen: '' })),
      before.map((row) => ({ ...row, last_seen: '' })),
    );
  });
  await t.test('14.4: what is gone is closed with proof only, and comes back as the same finding', async (t) => {
    const app = await client.application();
    const both = sarif([result('sqli', 'a.ts', 1), result('hash', 'b.ts', 2)]);
    const one = [result('sqli', 'a.ts', 1)];
    await client.send(app, both, { mode: 'sync' });
    const failed = { invocations: [{ executionSuccessful: false }] };
    const early = await client.send(app, sarif(one, failed), { mode: 'sync' });
    t.match(early.body['report'], { closed: 0, unverified_absence: 1 }, 'the tool did not run to its end');
    t.match((await client.send(app, sarif(one))).body['report'], { closed: 0 }, 'mode add closes nothing');
    t.match(
      (await client.send(app, sarif([]), { mode: 'sync', branch: 'other' })).body['report'],
      { closed: 0 },
      'another scope',
    );
    t.match((await client.send(app, sarif(one), { mode: 'sync' })).body['report'], { closed: 1 });
    const [, hash] = await client.findings(app);
    t.match(hash, { status: 'resolved' });
    t.match((await client.send(app, both, { mode: 'sync' })).body['report'], { reopened: 1, created: 0 });
    t.match((await client.findings(app))[1], { id: hash?.['id'], status: 'reopened', reopen_count: 1 });
    const move = { to: 'false_positive', reason: 'r', justification: 'component_not_present' };
    await client.call('POST', `/vulnerabilities/${hash?.['id']}/transition`, move);
    await client.send(app, both, { mode: 'sync' });
    t.match((await client.findings(app))[1], { status: 'false_positive' }, 'a decision of people outranks a report');
  });
  await t.test('14.4: a preview keeps nothing', async (t) => {
    const app = await client.application();
    const done = await client.send(app, sarif([result('sqli', 'a.ts', 1)]), {}, '/imports/preview');
    t.match(done, { status: 200, body: { report: { created: 1 } } });
    t.equal((await client.findings(app)).length, 0);
    t.equal((await client.call('GET', `/imports?application_id=${app}`)).body['total'], 0);
  });
}

const zap = `<?xml version="1.0"?><OWASPZAPReport version="2.15"><site name="https://a.example"><alerts><alertitem>
<pluginid>40012</pluginid><alertRef>40012-1</alertRef><alert>Script in page</alert><riskcode>3</riskcode>
<confidence>2</confidence><desc>&lt;p&gt;It runs&lt;/p&gt;</desc><cweid>79</cweid><instances>
<instance><uri>https://a.example/items/17</uri><method>GET</method><param>q</param></instance>
<instance><uri>https://a.example/items/18</uri><method>GET</method><param>q</param></instance></instances></alertitem>
</alerts></site></OWASPZAPReport>`;

const nucleiLines = ['m1', 'm2']
  .map((matcher) => ({
    'template-id': 't1',
    info: { name: 'Panel', severity: 'high', classification: { 'cwe-id': ['cwe-306'] } },
    'matched-at': 'https://a.example/x',
    'matcher-name': matcher,
  }))
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

/** Format → a report, and what becomes of it. */
const others: Readonly<Record<string, readonly [unknown, Json[]]>> = {
  cyclonedx: [
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      components: [{ 'bom-ref': 'r1', name: 'left', version: '1.0.0', purl: 'pkg:npm/left@1.0.0' }],
      vulnerabilities: [
        {
          id: 'CVE-2026-1000',
          cwes: [79],
          ratings: [
            {
              method: 'CVSSv31',
              score: 1,
              vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
              severity: 'critical',
            },
          ],
          affects: [{ ref: 'r1' }],
        },
      ],
    },
    [
      {
        title: 'CVE-2026-1000 in left',
        severity: 'critical',
        vuln_ids: ['CVE-2026-1000'],
        cvss: { score: 9.8 },
        source: 'sca',
        cwe: ['CWE-79'],
      },
    ],
  ],
  openvex: [
    {
      '@context': 'https://openvex.dev/ns/v0.2.0',
      statements: [
        { vulnerability: { name: 'CVE-2026-1' }, products: [{ '@id': 'pkg:npm/a@1' }], status: 'affected' },
        { vulnerability: { name: 'CVE-2026-2' }, products: [{ '@id': 'pkg:npm/a@1' }], status: 'not_affected' },
      ],
    },
    [{ vuln_ids: ['CVE-2026-1'] }],
  ],
  csaf: [
    {
      document: { csaf_version: '2.0' },
      product_tree: {
        branches: [{ product: { product_id: 'P', name: 'p', product_identification_helper: { purl: 'pkg:rpm/p@1' } } }],
      },
      vulnerabilities: [{ cve: 'CVE-2026-3', cwe: { id: 'CWE-20' }, product_status: { known_affected: ['P'] } }],
    },
    [{ vuln_ids: ['CVE-2026-3'], location: 'pkg:rpm/p@1', cwe: ['CWE-20'] }],
  ],
  trivy: [
    {
      SchemaVersion: 2,
      Results: [
        {
          Target: 'package-lock.json',
          Class: 'lang-pkgs',
          Vulnerabilities: [
            {
              VulnerabilityID: 'CVE-2026-4',
              PkgName: 'x',
              InstalledVersion: '1',
              FixedVersion: '2',
              Severity: 'HIGH',
              Title: 'Bad x',
              CweIDs: ['CWE-400'],
            },
          ],
          Misconfigurations: [
            { ID: 'M1', Status: 'PASS' },
            { ID: 'M2', Status: 'FAIL', Title: 'Root', Severity: 'LOW' },
          ],
          Secrets: [{ RuleID: 'aws', Title: 'Key', Severity: 'CRITICAL', StartLine: 4, Match: 'key = ****' }],
        },
      ],
    },
    [
      { title: 'Bad x', severity: 'high', fix_state: 'fixed_available', source: 'sca' },
      { title: 'Root', severity: 'low', source: 'iac' },
      { title: 'Key', severity: 'critical', source: 'secret' },
    ],
  ],
  grype: [
    {
      descriptor: { name: 'grype', version: '0.8' },
      matches: [
        {
          vulnerability: { id: 'GHSA-aaaa-bbbb-cccc', severity: 'Medium', fix: { state: 'not-fixed', versions: [] } },
          relatedVulnerabilities: [{ id: 'CVE-2026-5' }],
          matchDetails: [{ type: 'exact-direct-match' }],
          artifact: { name: 'y', version: '3', type: 'npm', purl: 'pkg:npm/y@3' },
        },
      ],
    },
    [{ severity: 'medium', vuln_ids: ['CVE-2026-5', 'GHSA-AAAA-BBBB-CCCC'], fix_state: 'no_fix' }],
  ],
  semgrep: [
    {
      version: '1',
      results: [
        {
          check_id: 'js.eval',
          path: 'src/e.js',
          start: { line: 3 },
          extra: {
            message: 'eval',
            severity: 'ERROR',
            metadata: { cwe: ['CWE-95: Eval'] },
            lines: 'eval(x)',
            fingerprint: 'requires login',
          },
        },
        {
          check_id: 'js.odd',
          path: 'src/o.js',
          start: { line: 1 },
          extra: { severity: 'NEVER-HEARD-OF', message: '' },
        },
      ],
      errors: [],
      paths: { scanned: ['src/e.js', 'src/o.js'] },
    },
    [{ severity: 'high', cwe: ['CWE-95'], location: 'src/e.js:3', source: 'sast' }, { severity: 'info' }],
  ],
  gitleaks: [
    [
      {
        RuleID: 'aws-key',
        Description: 'AWS key',
        File: 'a.env',
        StartLine: 2,
        Secret: 'SECRETVALUE0123456789',
        Match: 'k=SECRETVALUE0123456789',
        Email: 'a@b.c',
      },
      {
        RuleID: 'aws-key',
        Description: 'AWS key',
        File: 'b.env',
        StartLine: 9,
        Secret: 'SECRETVALUE0123456789',
        Match: 'k=SECRETVALUE0123456789',
      },
    ],
    [{ severity: 'critical', cwe: ['CWE-798'], source: 'secret', description: 'k=SECR****' }],
  ],
  'zap-json': [
    {
      '@version': '2',
      site: [
        {
          alerts: [
            {
              pluginid: '1',
              alert: 'Header',
              riskcode: '1',
              confidence: '2',
              cweid: '-1',
              desc: '<p>x</p>',
              instances: [{ uri: 'https://a.example/p', method: 'GET', param: '' }],
            },
          ],
        },
      ],
    },
    [{ title: 'Header', severity: 'low', cwe: [], location: 'GET https://a.example/p', description: 'x' }],
  ],
  'zap-xml': [
    zap,
    [
      {
        title: 'Script in page',
        severity: 'high',
        cwe: ['CWE-79'],
        description: 'It runs',
        location: 'GET https://a.example/items/17 [q]',
      },
    ],
  ],
  nuclei: [nucleiLines, [{ title: 'Panel (m1)', severity: 'high', cwe: ['CWE-306'] }, { title: 'Panel (m2)' }]],
  checkov: [
    {
      check_type: 'terraform',
      results: {
        failed_checks: [
          {
            check_id: 'C1',
            check_name: 'Public bucket',
            severity: null,
            file_path: '/m.tf',
            file_line_range: [1, 5],
            resource: 'b.x',
          },
        ],
        skipped_checks: [{ check_id: 'C2', check_name: 'n', resource: 'b.y', file_path: '/m.tf' }],
      },
      summary: {},
    },
    [{ title: 'Public bucket', severity: 'medium', source: 'iac', location: 'b.x (m.tf:1)' }],
  ],
  'kube-bench': [
    {
      Controls: [
        {
          node_type: 'master',
          tests: [
            {
              section: '1.2',
              results: [
                { test_number: '1.2.1', test_desc: 'Anonymous authorization off', status: 'FAIL', scored: true },
                { test_number: '1.2.2', status: 'PASS' },
              ],
            },
          ],
        },
      ],
    },
    [{ severity: 'high', cwe: ['CWE-306'], location: 'master/1.2.1', source: 'k8s' }],
  ],
  'npm-audit': [
    {
      auditReportVersion: 2,
      vulnerabilities: {
        low: {
          name: 'low',
          severity: 'high',
          range: '<2',
          fixAvailable: true,
          via: [
            {
              source: 1,
              name: 'low',
              dependency: 'low',
              title: 'Bad low',
              url: 'https://github.com/advisories/GHSA-2222-3333-4444',
              severity: 'moderate',
              cwe: ['CWE-1321'],
              cvss: { score: 0, vectorString: null },
            },
          ],
        },
        top: { name: 'top', via: ['low'] },
      },
    },
    [{ title: 'Bad low', severity: 'medium', vuln_ids: ['GHSA-2222-3333-4444'], cwe: ['CWE-1321'] }],
  ],
  csv: [
    '\ufefftitle;severity;file;line;cwe;team\r\n"A; b";HIGH;src/a.c;3;120;blue\r\n;LOW;x;1;;\r\n',
    [{ title: 'A; b', severity: 'high', cwe: ['CWE-120'], location: 'src/a.c:3', extra: { team: 'blue' } }],
  ],
};

async function formatSuite(t: Test, client: Client): Promise<void> {
  for (const [format, [report, wanted]] of Object.entries(others))
    await t.test(`14.4: ${format}: detected, mapped, twice the same`, async (t) => {
      const app = await client.application();
      const done = await client.send(app, report);
      t.match(done, { status: 202, body: { input: { format } } }, JSON.stringify(done.body));
      adds(t, done.body['report']);
      const all = await client.findings(app);
      t.equal(all.length, wanted.length);
      for (const [index, one] of wanted.entries()) t.match(all[index], one);
      const again = await client.send(app, report, { mode: 'sync' });
      t.match(again.body['report'], { created: 0, updated: 0, unchanged: wanted.length });
      t.notMatch(JSON.stringify(all), /SECRETVALUE/, 'no secret is kept');
    });
  await t.test('14.4: a mapping profile takes any other JSON', async (t) => {
    const app = await client.application();
    const mapping = {
      name: 'house',
      format: 'json',
      rows_path: 'data.rows',
      fields: { title: 'what', severity: 'how.bad', path: 'where' },
      severity_map: { awful: 'critical' },
    };
    t.equal((await client.call('POST', '/imports/mappings', mapping)).status, 201);
    const report = { data: { rows: [{ what: 'Odd', how: { bad: 'awful' }, where: 'a/b' }] } };
    t.equal((await client.send(app, report, { format: 'mapping:house' })).status, 202);
    t.match(await client.findings(app), [{ title: 'Odd', severity: 'critical', location: 'a/b', tool: 'house' }]);
    t.equal((await client.send(app, report, { format: 'mapping:none' })).status, 422);
  });
}

async function hostileSuite(t: Test, client: Client): Promise<void> {
  const app = await client.application();
  const entity = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><OWASPZAPReport><site/></OWASPZAPReport>';
  const many = `{"version":"2.1.0","runs":[{"results":[${'{"ruleId":"r"},'.repeat(200_001)}{}]}]}`;
  const cases: Readonly<Record<string, readonly [string, number]>> = {
    'no JSON': ['{"version":"2.1.0","runs":[}', 400],
    'cut off': [JSON.stringify(sarif([result('sqli', 'a.ts', 1)])).slice(0, -9), 400],
    'cut off in a result': [JSON.stringify(sarif([result('sqli', 'a.ts', 1)])).slice(0, 60), 400],
    'an element that is no JSON': ['{"version":"2.1.0","runs":[{"results":[{"a":}]}]}', 400],
    'a bomb of brackets': [`{"version":"2.1.0","runs":${'['.repeat(100_000)}`, 400],
    'a bomb of brackets in a result': [`{"version":"2.1.0","runs":[{"results":[${'['.repeat(100_000)}`, 400],
    'runs of a wrong type': ['{"version":"2.1.0","runs":7}', 422],
    entities: [entity, 400],
    'XML that is none': ['<OWASPZAPReport><site></OWASPZAPReport>', 400],
    'an unknown format': ['hello', 422],
    'a huge text': [`{"version":"2.1.0","runs":[{"results":[{"ruleId":"${'x'.repeat(2_000_000)}"}]}]}`, 413],
    'too many results': [many, 413],
    'rows of unequal length': ['title,severity\na,high,x,y\n', 400],
  };
  for (const [name, [report, status]] of Object.entries(cases)) {
    const done = await client.send(app, report);
    t.equal(done.status, status, `14.4: ${name}: ${JSON.stringify(done.body).slice(0, 200)}`);
    t.type(done.body['detail'], 'string');
  }
  t.equal((await client.findings(app)).length, 0, 'nothing is stored');
  t.equal((await client.call('GET', `/imports?application_id=${app}`)).body['total'], 0, 'not even a run');
  const odd = {
    version: '2.1.0',
    runs: [
      {
        tool: 3,
        results: [
          7,
          null,
          'x',
          { message: [], locations: 'no', ruleId: { a: 1 } },
          { ruleId: '\u0000a\ud800', message: { text: '\u0000\ud800' } },
        ],
      },
    ],
  };
  const taken = await client.send(app, odd);
  t.match(
    taken,
    { status: 202, body: { report: { parsed: 5, dropped: 3 } } },
    'wrong types are absent, never an exception',
  );
  t.equal((await client.send(app, sarif([]), { application_id: '999999' })).status, 404);
  t.equal((await client.send(app, sarif([]), { nonsense: 'x' })).status, 422);
  t.equal((await client.send(app, sarif([]), { mode: 'all' })).status, 422);
  const json = await client.at.call('POST', `${v1}/imports?application_id=${app}`, {
    token: client.token,
    body: { a: 1 },
  });
  t.equal(json.status, 415);
  const upload = await client.at.app.inject({
    method: 'POST',
    url: `${v1}/projects`,
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    payload: '--b--',
  });
  t.equal(upload.statusCode, 415, 'only imports take uploads');
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  await sarifSuite(t, client);
  await formatSuite(t, client);
  await t.test('14.4: files that mean harm', (t) => hostileSuite(t, client));
}

t.test('imports', (t) => onBothDatabases(t, 'imports', suite));
