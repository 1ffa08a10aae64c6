// Groups, clusters, duplicates and evidence of findings, through HTTP, on reports of several tools.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { exercise } from '../../testing/api/examples.js';
import { Client, type Json } from '../../testing/import-client.js';
import { clustersOf, type Clustered } from './clusters.js';
import { latestOf } from './groups.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

interface Told {
  readonly rule: string;
  readonly cwe: number;
  readonly uri: string;
  readonly line: number;
}

const sarifOf = (tool: string, told: readonly Told[]): Json => ({
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: tool,
          rules: told.map(({ rule, cwe }) => ({ id: rule, properties: { tags: [`external/cwe/cwe-${cwe}`] } })),
        },
      },
      results: told.map(({ rule, uri, line }) => ({
        ruleId: rule,
        level: 'error',
        message: { text: `${rule} of ${tool}` },
        locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: line } } }],
      })),
    },
  ],
});

const trivy = (packages: readonly (readonly [name: string, cve: string, fixed: string])[]): Json => ({
  SchemaVersion: 2,
  ArtifactName: 'shop:1',
  ArtifactType: 'container_image',
  Results: [
    {
      Target: 'package-lock.json',
      Class: 'lang-pkgs',
      Type: 'npm',
      Vulnerabilities: packages.map(([PkgName, VulnerabilityID, FixedVersion]) => ({
        VulnerabilityID,
        PkgName,
        InstalledVersion: '1.0.0',
        FixedVersion,
        Severity: 'HIGH',
        Layer: { DiffID: 'sha256:aa' },
        PkgIdentifier: { PURL: `pkg:npm/${PkgName}@1.0.0` },
      })),
    },
  ],
});

class Stage {
  readonly client: Client;
  readonly application: string;
  constructor(client: Client, application: string) {
    [this.client, this.application] = [client, application];
  }
  async send(report: Json, fields: Record<string, string> = {}): Promise<void> {
    const sent = await this.client.send(this.application, report, fields);
    if (sent.status !== 202) throw new Error(JSON.stringify(sent.body));
  }
  async items(path: string): Promise<Json[]> {
    const reply = await this.client.call('GET', path);
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.body['items'] as Json[];
  }
  clusters = (query = ''): Promise<Json[]> =>
    this.items(`/findings/clusters?application_id=${this.application}${query}`);
  async statusOf(id: string): Promise<unknown> {
    return (await this.client.call('GET', `/vulnerabilities/${id}`)).body['status'];
  }
}

async function stageOf(t: Test, database: Database): Promise<Stage> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const stage = new Stage(client, await client.application());
  const uri = 'src/orders.js';
  await stage.send(sarifOf('first tool', [{ rule: 'sql', cwe: 89, uri, line: 10 }]), { commit: 'c1', branch: 'main' });
  await stage.send(
    sarifOf('second tool', [
      { rule: 'injection', cwe: 564, uri: `shop/${uri}`, line: 12 },
      { rule: 'hash', cwe: 328, uri, line: 40 },
    ]),
    { commit: 'c2', branch: 'main' },
  );
  return stage;
}

async function clusters(t: Test, stage: Stage): Promise<void> {
  const { client } = stage;
  const [one, ...others] = await stage.clusters();
  t.same(others, []);
  t.match(one, {
    state: 'proposed',
    confidence: 0.8,
    reasons: [{ reason: 'same_line_and_weakness', confidence: 0.8 }],
    items: [{ tool: 'first tool' }, { tool: 'second tool' }],
  });
  t.same(await stage.clusters('&min_confidence=0.9'), [], 'no surer than that');
  const [left, right] = ((one?.['items'] ?? []) as Json[]).map(({ id }) => String(id)) as [string, string];
  const merged = await client.call('POST', '/findings/clusters/merge', { vuln_ids: [right, left], reason: 'one' });
  t.match(merged, { status: 200, body: { id: left, state: 'merged', items: [{ id: left }, { id: right }] } });
  t.equal(await stage.statusOf(right), 'duplicate', 'the oldest stays');
  t.same(await stage.clusters(), []);
  t.match(await stage.clusters('&state=merged'), [{ id: left, items: [{}, { id: right, canonical_id: left }] }]);
  const again = { vuln_ids: [right], reason: 'circle' };
  t.match(await client.call('POST', `/vulnerabilities/${right}/duplicates`, { vuln_ids: [left] }), {
    status: 409,
    body: { detail: /is a duplicate of .+ itself/ },
  });
  t.equal((await client.call('POST', `/vulnerabilities/${left}/duplicates`, again)).status, 200, 'linked already');
  const apart = await client.call('POST', `/findings/clusters/${left}/split`, { reason: 'two parameters' });
  t.match(apart, { status: 200, body: { vuln_ids: [left, right], reopened: 1, distinct: 1 } }, apart.text);
  t.equal(await stage.statusOf(right), 'reopened');
  t.same(await stage.clusters(), [], 'never proposed again');
  t.match(await client.call('POST', '/findings/clusters/merge', { vuln_ids: [left, right] }), {
    status: 409,
    body: { detail: /said to be two/ },
  });
  t.equal((await client.call('POST', `/findings/clusters/${left}/split`, {})).status, 404, 'there is none any more');
}

async function duplicates(t: Test, stage: Stage): Promise<void> {
  const { client, application } = stage;
  const make = async (title: string, application_id = application): Promise<string> => {
    const reply = await client.call('POST', '/vulnerabilities', { application_id, title, severity: 'low' });
    return String(reply.body['id']);
  };
  const [a, b, c] = [await make('a'), await make('b'), await make('c')];
  const elsewhere = await make('d', await client.application());
  const link = (id: string, vuln_ids: string[]) =>
    client.call('POST', `/vulnerabilities/${id}/duplicates`, { vuln_ids });
  t.equal((await link(b, [c])).status, 200);
  t.equal((await link(a, [b])).status, 200);
  const { body } = await client.call('GET', `/vulnerabilities/${c}`);
  t.match(body, { status: 'duplicate', canonical_id: a }, 'flattened');
  for (const [ids, status, detail] of [
    [[a], 409, /of itself/],
    [[elsewhere], 422, /another application/],
    [['999999'], 404, /no finding/],
  ] as const)
    t.match(await link(a, [...ids]), { status, body: { detail } });
  t.equal((await client.call('DELETE', `/vulnerabilities/${a}/duplicates/${c}`)).status, 204);
  t.equal(await stage.statusOf(c), 'reopened');
  t.equal((await client.call('DELETE', `/vulnerabilities/${a}/duplicates/${c}`)).status, 404);
  t.equal(await stage.statusOf(b), 'duplicate');
}

async function groups(t: Test, stage: Stage): Promise<void> {
  const { application } = stage;
  await stage.send(
    trivy([
      ['lodash', 'CVE-2021-0001', '4.17.9'],
      ['lodash', 'CVE-2021-0002', '4.17.21'],
      ['express', 'CVE-2021-0003', ''],
    ]),
  );
  const by = (name: string): Promise<Json[]> =>
    stage.items(`/findings/groups?application_id=${application}&by=${name}`);
  t.match(await by('component_fix'), [
    { key: 'pkg:npm/lodash', findings: 2, applications: 1, fix: '4.17.21', severity: 'high', by_severity: { high: 2 } },
  ]);
  t.match(await by('image_layer'), [{ key: 'sha256:aa', findings: 3 }]);
  const weaknesses = (await by('cwe')).map(({ key, findings }) => [key, findings]);
  t.same(new Map(weaknesses as never).get('CWE-328'), 1);
  t.ok((await by('rule')).some(({ key }) => key === 'second tool: hash'));
  t.same((await by('commit')).map(({ key }) => String(key)).sort(), ['c1', 'c2']);
  const dynamic = { title: 'd', severity: 'high', url: 'https://shop.example/orders/17?x=1', method: 'GET' };
  const { url, ...rest } = dynamic;
  await stage.send(
    {
      site: [
        {
          '@name': 'https://shop.example',
          alerts: [
            {
              pluginid: '40018',
              alert: rest.title,
              riskcode: '3',
              confidence: '2',
              cweid: '89',
              instances: [
                { uri: url, method: 'GET', param: 'x' },
                { uri: url.replace('17', '18'), method: 'GET', param: 'y' },
              ],
            },
          ],
        },
      ],
    },
    { format: 'zap-json' },
  );
  t.match(await by('endpoint'), [{ key: 'GET https://shop.example/orders/{id}', findings: 2 }]);
  for (const [versions, latest] of [
    [['1.2.3, 2.0.0', '1.10.0'], '2.0.0'],
    [['1.9.0', '1.10.0'], '1.10.0'],
    [[], null],
  ] as const)
    t.equal(latestOf('pkg:npm/x', versions), latest);
  t.equal(latestOf('no purl', ['1', '2']), null, 'what cannot be compared is not guessed');
}

async function evidence(t: Test, stage: Stage): Promise<void> {
  const { client, application } = stage;
  const made = await client.call('POST', '/vulnerabilities', {
    application_id: application,
    title: 'e',
    severity: 'high',
  });
  const id = String(made.body['id']);
  const path = `/vulnerabilities/${id}/evidence`;
  const added = await client.call('POST', path, {
    kind: 'exchange',
    title: 'Another order',
    request: 'GET /orders/43 HTTP/1.1\nAuthorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    response: 'HTTP/1.1 200 OK\n\n{"password":"Hunter2-Secret-99"}',
    proof: 'exploit',
  });
  t.match(added, { status: 201, body: { kind: 'exchange', proof: 'exploit' } }, added.text);
  t.match((await client.call('GET', `/vulnerabilities/${id}`)).body, { exploit_confirmed: true, status: 'confirmed' });
  const fields = { kind: 'log', title: 'log', name: 'server.log' };
  const sent = await client.send(
    application,
    'token=ghp_0123456789abcdefghijABCDEFGHIJ012345\nplain line\n',
    fields,
    path,
  );
  t.equal(sent.status, 422, 'application_id is no field of evidence');
  const upload = async (name: string, bytes: string) => {
    const reply = await client.at.app.inject({
      method: 'POST',
      url: `/api/v1${path}?kind=log&title=log&name=${name}`,
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' },
      payload: bytes,
    });
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  };
  const file = await upload('server.log', 'token=ghp_0123456789abcdefghijABCDEFGHIJ012345\nplain line\n');
  t.match(file, { status: 201, body: { file: { name: 'server.log', content_base64: null } } });
  t.match(await upload('page.html', '<p>'), { status: 422, body: { detail: /no kind of file/ } });
  t.match(await upload('shot.png', 'no picture'), { status: 422, body: { detail: /not what .png says/ } });
  const shown = await stage.items(path);
  t.equal(shown.length, 2);
  const one = await stage.items(`${path}?evidence_id=${file.body['id']}`);
  const content = Buffer.from(String(one[0]?.['file'].content_base64), 'base64').toString();
  t.match(content, /plain line/);
  t.notMatch(JSON.stringify(shown) + content, /Hunter2|c2lnbmF0dXJl|ghp_0123/, 'without secrets');
  t.match(await client.call('POST', path, { kind: 'note', title: 'n' }), { status: 422, body: { detail: /text/ } });
  const proven = (
    await client.call('POST', '/vulnerabilities', { application_id: application, title: 'f', severity: 'low' })
  ).body;
  const other = String(proven['id']);
  await client.call('POST', `/vulnerabilities/${other}/transition`, { to: 'out_of_scope', reason: 'r' });
  await client.call('POST', `/vulnerabilities/${other}/evidence`, {
    kind: 'poc',
    title: 'p',
    text: 'x',
    proof: 'exploit',
  });
  t.equal(await stage.statusOf(other), 'reopened', 'a proof beats an opinion');
  await exercise(t, client, '/vulnerabilities/:id/evidence', (route) => route.replace(':id', id));
}

t.test('findings together', (t) =>
  onBothDatabases(t, 'vm_together', async (t, database) => {
    const stage = await stageOf(t, database);
    await t.test('30.findings: clusters are proposed with reasons, merged and taken apart', (t) => clusters(t, stage));
    await t.test('30.findings: duplicates are flat, without circles', (t) => duplicates(t, stage));
    await t.test('30.findings: groups say what closes how much', (t) => groups(t, stage));
    await t.test('30.findings: evidence has no secrets, and a proof reopens', (t) => evidence(t, stage));
  }),
);

const rowArbitrary: fc.Arbitrary<Omit<Clustered, 'id'>> = fc.record({
  application_id: fc.integer({ min: 1, max: 2 }),
  tool: fc.constantFrom('a', 'b', 'c'),
  cluster_key: fc.constantFrom(null, 'k', 'l'),
  cwes: fc.constantFrom([89], [564], [79]),
  vuln_ids: fc.constantFrom([], ['CVE-1']),
  place: fc.oneof(
    fc.record({
      kind: fc.constant('code' as const),
      path: fc.constantFrom('x/y', 'z'),
      line: fc.integer({ min: 1, max: 9 }),
    }),
    fc.record({ kind: fc.constant('web' as const), url: fc.constantFrom('http://h/1', 'http://h/2') }),
    fc.constant(null),
  ),
});

t.test('30.findings: no cluster has a tool twice, two applications, or a pair that was said to be two', async (t) => {
  fc.assert(
    fc.property(
      fc.array(rowArbitrary, { maxLength: 30 }),
      fc.array(fc.tuple(fc.nat(29), fc.nat(29))),
      (made, pairs) => {
        const rows = made.map((row, id) => ({ ...row, id }));
        const pinned = new Set(pairs.filter(([left, right]) => left < right).map((pair) => pair.join(':')));
        const found = clustersOf(rows, pinned);
        const seen = found.flatMap(({ ids }) => ids);
        if (new Set(seen).size !== seen.length) return false;
        return found.every(({ ids }) => {
          const of = ids.flatMap((id) => rows[id] ?? []);
          const isOne = new Set(of.map(({ application_id: id }) => id)).size === 1;
          const areDifferent = new Set(of.map(({ tool }) => tool)).size === of.length;
          const isPinned = ids.some((left) => ids.some((right) => pinned.has(`${left}:${right}`)));
          return isOne && areDifferent && !isPinned && ids.length > 1;
        });
      },
    ),
    { numRuns: 300, seed: Number(process.env['SEED'] ?? 7) },
  );
  t.pass('300 runs');
});
