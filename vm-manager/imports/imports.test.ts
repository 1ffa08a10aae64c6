// Reports of tools through POST /imports: mappings, numbers that add up, the same report twice, what is closed and what
// is not, and files that mean harm. All reports are written here; none is a tool's own.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { adds, Client } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';

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
    const torn = await client.send(app, sarif([...one, {}]), { mode: 'sync' });
    t.match(torn.body['report'], { closed: 0, unverified_absence: 1, complete: false }, 'a record was not read');
    t.match(torn.body['report'].problems, [{ detail: /nothing is closed/ }, { at: '/runs/0/results/1' }]);
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
    'too many runs': [JSON.stringify({ version: '2.1.0', runs: Array(1001).fill({ results: [] }) }), 413],
    'too many rules': [
      JSON.stringify({
        version: '2.1.0',
        runs: [{ tool: { driver: { rules: Array(50_001).fill({}) } }, results: [] }],
      }),
      413,
    ],
    'a bomb of empty objects': [
      `{"auditReportVersion":2,"vulnerabilities":{},"metadata":{},"x":[${'{},'.repeat(2_000_000)}{}]}`,
      413,
    ],
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
  const fields: readonly [Readonly<Record<string, string>>, RegExp][] = [
    [{}, /commit is missing/],
    [{ commit: 'c1', foo: '1' }, /foo is not a known field/],
  ];
  for (const [given, reason] of fields) {
    const parts = Object.entries({ application_id: '1', ...given }).map(
      ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="r.json"\r\n\r\n{}\r\n--b--\r\n';
    const refused = await client.at.app.inject({
      method: 'POST',
      url: `${v1}/ci/runs`,
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
      payload: `${parts.join('')}${file}`,
    });
    t.equal(refused.statusCode, 422);
    t.match(refused.body, reason, 'what is wrong with the fields of a form is said in words');
  }
}

const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  components: [{ type: 'library', name: 'left', version: '1.0.0', purl: 'pkg:npm/left@1.0.0' }],
};
const advisory = {
  id: 'GHSA-2222-3333-4444',
  modified: '2026-02-01T00:00:00Z',
  aliases: ['CVE-2026-1111'],
  affected: [
    {
      package: { ecosystem: 'npm', name: 'left' },
      ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '2.0.0' }] }],
    },
  ],
};
const trivy = (id: string, ...targets: string[]) => ({
  SchemaVersion: 2,
  ArtifactName: '.',
  Results: targets.map((Target) => ({
    Target,
    Vulnerabilities: [
      {
        VulnerabilityID: id,
        PkgName: 'left',
        InstalledVersion: '1.0.0',
        Severity: 'LOW',
        PkgIdentifier: { PURL: 'pkg:npm/left@1.0.0' },
      },
    ],
  })),
});
const grype = (id: string, path: string) => ({
  descriptor: { name: 'grype' },
  matches: [
    {
      vulnerability: { id, severity: 'High' },
      matchDetails: [{ type: 'exact-direct-match' }],
      artifact: { name: 'left', version: '1.0.0', type: 'npm', purl: 'pkg:npm/left@1.0.0', locations: [{ path }] },
    },
  ],
});
const orders = ['OTG', 'OGT', 'TOG', 'TGO', 'GOT', 'GTO'] as const;

/** O: advisories beside the bill, T: Trivy with two manifests, G: Grype with one of them; each by another id. */
async function sameWeaknessSuite(t: Test, client: Client): Promise<void> {
  const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' };
  const payload = JSON.stringify([advisory]);
  await client.at.app.inject({ method: 'POST', url: `${v1}/threat-intel/bundles`, headers, payload });
  for (const order of orders) {
    const app = await client.application();
    await client.send(app, bill, { format: 'cyclonedx', mode: 'sync' });
    const steps: Readonly<Record<string, () => Promise<Record<string, unknown>>>> = {
      O: async () => (await client.call('POST', '/sca/match', { application_id: app })).body['report'],
      T: async () =>
        (await client.send(app, trivy('CVE-2026-1111', 'b/lock', 'a/lock'), { format: 'trivy', mode: 'sync' })).body[
          'report'
        ],
      G: async () =>
        (await client.send(app, grype('GHSA-2222-3333-4444', 'a/lock'), { format: 'grype', mode: 'sync' })).body[
          'report'
        ],
    };
    for (const step of order) adds(t, (await steps[step]?.()) as Record<string, unknown>);
    const all = await client.findings(app);
    t.equal(all.length, 2, `VM1: ${order}: one of each manifest: ${all.map(({ title }) => title).join(', ')}`);
    const seen = await Promise.all(
      all.map(async ({ id }) => (await client.call('GET', `/vulnerabilities/${id}/occurrences`)).body['items']),
    );
    const told = seen.map((list: { tool: string }[]) => list.map(({ tool }) => tool).sort()).flat();
    t.same(told.sort(), ['Grype', 'OSV', 'Trivy', 'Trivy'], `VM1: ${order}: each tool has its sightings`);
    for (const step of [...order].reverse())
      t.match(await steps[step]?.(), { created: 0, updated: 0, closed: 0 }, `VM1: ${order}: ${step} again`);
    const clean = { ...trivy(''), Results: [{ Target: 'a/lock', Class: 'lang-pkgs' }] };
    await client.send(app, clean, { format: 'trivy', mode: 'sync' });
    await client.send(app, { descriptor: { name: 'grype' }, matches: [] }, { format: 'grype', mode: 'sync' });
    const left = (await client.findings(app)).filter(({ status }) => status !== 'resolved');
    t.equal(left.length, 1, `VM1: ${order}: what the bill still has stays open`);
  }
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  await sarifSuite(t, client);
  await t.test('VM1: one weakness of one package, told by several tools', (t) => sameWeaknessSuite(t, client));
  await t.test('14.4: files that mean harm', (t) => hostileSuite(t, client));
}

t.test('imports', (t) => onBothDatabases(t, 'imports', suite));
