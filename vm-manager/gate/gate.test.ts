// The gate and the runs of pipelines, through the API on both databases: commits, baselines, chains, policies, formats.
import { SaxesParser } from 'saxes';
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const rules: Readonly<Record<string, readonly [cwe: string, severity: string, title: string]>> = {
  ssrf: ['918', '8.0', 'Server-side request forgery'],
  idor: ['639', '7.5', 'Statements of others can be read'],
  hash: ['328', '3.0', 'Weak hash'],
  'sql<&"1\'>': ['89', '9.5', 'SQL of <input> & "more"'],
};

/** A report that finds each rule once. */
const report = (...found: string[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: 'checker',
          rules: Object.entries(rules).map(([id, [cwe, score, title]]) => ({
            id,
            shortDescription: { text: title },
            properties: { tags: [`external/cwe/cwe-${cwe}`], 'security-severity': score },
          })),
        },
      },
      results: found.map((id) => ({
        ruleId: id,
        message: { text: id },
        locations: [{ physicalLocation: { artifactLocation: { uri: `src/a ${id}.js` }, region: { startLine: 3 } } }],
      })),
    },
  ],
});

class Pipeline extends Client {
  application_id = '';

  async scan(commit: string, branch: string, ...found: string[]): Promise<void> {
    const { status, body } = await this.send(this.application_id, report(...found), { commit, branch, mode: 'sync' });
    if (status !== 202) throw new Error(JSON.stringify(body));
  }

  async gate(commit: string, more: Json = {}): Promise<Json> {
    return (await this.call('POST', '/gate/evaluate', { application_id: this.application_id, commit, ...more })).body;
  }

  async push(commit: string, branch: string, ...found: string[]): Promise<Json> {
    await this.scan(commit, branch, ...found);
    return this.gate(commit);
  }
}

async function open(at: TestApp, more: Json = {}): Promise<Pipeline> {
  const { token } = await at.user('admin', `a${Math.random()}@example.org`);
  const pipeline = new Pipeline(at, token);
  const body = { name: `shop ${Math.random()}`, environment: 'prod', business_criticality: 'critical', ...more };
  pipeline.application_id = String((await pipeline.call('POST', '/applications', body)).body['id']);
  return pipeline;
}

async function commits(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const shop = await open(at);

  t.match(await shop.gate('c0'), { verdict: 'fail', exit_code: 2, reason: 'no completed scan for commit c0' });
  await shop.scan('m1', 'main', 'idor');
  t.match(await shop.gate('m1'), { verdict: 'fail', baseline: null, new_findings: 1 }, 'nothing to compare with');
  t.match(await shop.push('f1', 'feature', 'idor'), {
    verdict: 'pass',
    exit_code: 0,
    baseline: { commit: 'm1', branch: 'main' },
    new_findings: 0,
  });
  const failed = await shop.push('f2', 'feature', 'idor', 'ssrf', 'hash');
  t.match(failed, { verdict: 'fail', exit_code: 1, new_findings: 2, reason: /new_high is 1, not lte 0/ });
  t.equal(failed['blocking_vuln_ids'].length, 1, 'the low one does not stop it');
  t.match(await shop.push('f3', 'feature', 'idor', 'ssrf'), { verdict: 'fail' }, 'a second push makes nothing old');
  t.match(await shop.gate('f2'), { verdict: 'fail', new_findings: 1 }, 'hash was fixed since; f2 is asked again');
  t.match(await shop.push('f4', 'feature', 'idor'), { verdict: 'pass' }, 'fixed');

  // a branch of its own, whose findings do not stop others
  await shop.scan('x1', 'experiment', 'idor', 'ssrf');
  t.match(await shop.push('f5', 'feature', 'idor'), { verdict: 'pass', open_findings: 1 });
  t.match(await shop.gate('x1', { baseline: 'f5' }), { verdict: 'fail', baseline: { commit: 'f5' } });
  t.match(await shop.gate('x1', { baseline: 'none' }), { detail: /baseline/ });
  t.match(await shop.gate('x1', { baseline: 'x1' }), { detail: /baseline/ });

  // without branches a commit is compared with the last one that was not refused
  const plain = await open(at);
  await plain.scan('1', '', 'idor');
  t.match(await plain.push('2', '', 'idor', 'ssrf'), { verdict: 'fail', baseline: { commit: '1' } });
  t.match(await plain.push('3', '', 'idor', 'ssrf'), { verdict: 'fail', baseline: { commit: '1' } });
  t.match(await plain.push('4', '', 'idor', 'hash'), { verdict: 'pass' });
  const [found] = (await plain.findings(plain.application_id)).filter(({ title }) => title === 'Weak hash');
  await plain.call('POST', `/vulnerabilities/${found?.['id']}/transition`, {
    to: 'false_positive',
    reason: 'test',
    justification: 'component_not_present',
  });
  t.match(await plain.gate('4'), { excluded: 1, new_findings: 0 }, 'what people called wrong is counted apart');
}

async function chains(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const first = await open(at);
  const project = String((await first.call('POST', '/projects', { name: 'p' })).body['id']);
  const shop = await open(at, { project_id: project });
  const vault = await open(at, { project_id: project, name: 'vault', environment: 'staging' });
  await vault.scan('v1', 'main', 'idor');
  await shop.scan('m1', 'main', 'hash');
  const only = [{ metric: 'new_danger_chains' }];
  const gate = await shop.call('POST', '/gate/definitions', { name: 'no new danger chain', conditions: only });
  t.equal(gate.status, 201, gate.text);
  t.match(await shop.push('f1', 'feature', 'hash', 'ssrf'), { verdict: 'pass' }, 'a chain, but no danger');
  const ssrf = (await shop.findings(shop.application_id)).find(({ title }) => title.startsWith('Server'))?.['id'];
  await shop.call('PATCH', `/vulnerabilities/${ssrf}`, { reachable: true });
  const failed = await shop.gate('f1');
  t.match(failed, { verdict: 'fail', conditions: [{ metric: 'new_danger_chains', actual: 1, ok: false }] });
  t.match(failed['chains'], [{ id: `chain:${shop.application_id}:cross-${vault.application_id}`, danger: true }]);
  t.equal(failed['blocking_vuln_ids'].length, 2);

  // whoever sees the shop alone gets the same verdict and learns nothing of the vault
  const narrow = await shop.call('POST', '/tokens', {
    name: 'ci',
    scopes: ['ci'],
    application_ids: [shop.application_id],
  });
  const seen = (
    await at.call('POST', '/api/v1/gate/evaluate', {
      token: String(narrow.body['token']),
      body: { application_id: shop.application_id, commit: 'f1' },
    })
  ).body;
  t.match(seen, { verdict: 'fail', blocking_vuln_ids: [ssrf], chains: [{ name: /do not see/ }] });
  t.notMatch(JSON.stringify(seen), /vault/);

  // the chain is new for the one that it ends at, too
  await shop.scan('m2', 'main', 'hash', 'ssrf');
  t.match(await shop.push('f2', 'feature', 'hash', 'ssrf'), { verdict: 'pass', new_findings: 0 }, 'the chain is old');
  t.match(await vault.push('v2', 'other', 'idor'), { verdict: 'pass' });
  const late = await open(at, { project_id: project, name: 'late', environment: 'staging' });
  await late.scan('l1', 'main', 'hash');
  t.match(await late.push('l2', 'feature', 'hash', 'idor'), {
    verdict: 'fail',
    chains: [{ id: `chain:${shop.application_id}:cross-${late.application_id}` }],
  });
}

/** Throws for what is no well-formed XML. */
function parseXml(text: string): void {
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(text).close();
}

async function policies(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const shop = await open(at);
  const define = (body: Json) => shop.call('POST', '/gate/definitions', { name: `g${Math.random()}`, ...body });
  const secret = { field: 'title', op: 'contains', value: 'hash' };
  const wrong: readonly (readonly [Json, RegExp])[] = [
    [{ conditions: [{}] }, /conditions\/0/],
    [{ conditions: [{ metric: 'new_high', predicate: secret }] }, /conditions\/0/],
    [{ conditions: [{ metric: 'nonsense' }] }, /metric/],
    [{ conditions: [{ predicate: { field: 'nonsense', op: 'eq', value: 1 } }] }, /conditions\/0\/predicate/],
    [{ conditions: [{ metric: 'new_high', of: 'new' }] }, /conditions\/0\/of/],
    [{ conditions: [{ metric: 'new_high', threshold: -1 }] }, /threshold/],
    [{ conditions: [] }, /conditions/],
    [{ conditions: [{ metric: 'new_high' }], selector: { field: 'title', op: 'eq', value: 'x' } }, /selector/],
  ];
  for (const [body, detail] of wrong) t.match(await define(body), { status: 422, body: { detail } });

  await shop.scan('m1', 'main', 'hash');
  const gate = (
    await define({
      position: 1,
      mode: 'warn',
      selector: { field: 'environment', op: 'eq', value: 'prod' },
      conditions: [{ name: 'no hashes', predicate: secret, of: 'open' }, { metric: 'new_medium' }],
    })
  ).body;
  t.match(await shop.gate('none'), { verdict: 'warn', exit_code: 0 }, 'a warning lets go on');
  t.match(await shop.gate('m1'), { verdict: 'warn', gate: { id: gate['id'] }, reason: 'no hashes is 1, not lte 0' });
  await shop.call('PATCH', `/gate/definitions/${gate['id']}`, {
    selector: { field: 'environment', op: 'eq', value: 'x' },
  });
  t.match((await shop.gate('m1'))['gate'], { id: null, name: 'built-in' }, 'another gate for another environment');
  await shop.call('POST', '/policies', { name: 'hashes', predicate: secret, action: 'gate' });
  t.match(await shop.push('f1', 'f', 'hash'), { verdict: 'fail', reason: 'policy hashes is 1, not lte 0' });

  const failed = await shop.push('f2', 'f', 'hash', 'sql<&"1\'>');
  const read = async (format: string) =>
    (await shop.call('GET', `/gate/evaluations/${failed['evaluation_id']}?format=${format}`)).text;
  const junit = await read('junit');
  parseXml(junit);
  t.match(junit, /failures="2"/);
  t.match(junit, /critical: SQL of &lt;input&gt; &amp; &quot;more&quot;/);
  const sarif = JSON.parse(await read('sarif')) as Json;
  t.match(sarif, { version: '2.1.0', runs: [{ tool: { driver: { name: 'Gatehouse gate' } } }] });
  t.equal(sarif['runs'][0].results.length, 2);
  t.match(
    sarif['runs'][0].results.find(({ ruleId }: Json) => String(ruleId).startsWith('sql')),
    { level: 'error', baselineState: 'new', locations: [{ physicalLocation: { region: { startLine: 3 } } }] },
  );
  await database.sql`delete from vm_occurrences`;
  t.same((await shop.call('GET', `/gate/evaluations/${failed['evaluation_id']}`)).body, failed, 'kept as it was');

  const override = (body: Json) => shop.call('POST', `/gate/evaluations/${failed['evaluation_id']}/override`, body);
  t.equal((await override({ reason: 'hotfix', expires_at: '2001-01-01T00:00:00Z' })).status, 422);
  const soon = new Date(at.clock.nowMs + 3_600_000).toISOString();
  t.match((await override({ reason: 'hotfix', expires_at: soon })).body, { verdict: 'pass', computed_verdict: 'fail' });
  t.match(await shop.gate('f2'), { verdict: 'pass', exit_code: 0, override: { reason: 'hotfix' } }, 'asked again');
  const token = String((await shop.call('POST', '/tokens', { name: 'r', scopes: ['read'] })).body['token']);
  at.clock.nowMs += 3_700_000;
  const later = await at.call('GET', `/api/v1/gate/evaluations/${failed['evaluation_id']}`, { token });
  t.match(later.body, { verdict: 'fail', computed_verdict: 'fail' }, 'the override has ended');
}

async function ci(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const shop = await open(at);
  const reader = String((await shop.call('POST', '/tokens', { name: 'r', scopes: ['read'] })).body['token']);
  const token = String((await shop.call('POST', '/tokens', { name: 'c', scopes: ['ci'] })).body['token']);
  const pipeline = new Client(at, token);
  const body = { application_id: shop.application_id, commit: 'abc', branch: 'main', provider: 'make' };
  t.equal((await at.call('POST', '/api/v1/ci/runs', { token: reader, body })).status, 403, 'a read-only token');
  const run = await pipeline.call('POST', '/ci/runs', body);
  t.match(run, { status: 202, body: { status: 'running', input: { commit: 'abc' }, imports: [], gate: null } });
  const url = `/ci/runs/${run.body['id']}`;
  const artifact = await pipeline.send('', report('ssrf'), {}, `${url}/artifacts`);
  t.equal(artifact.status, 422, 'application_id is the run’s own');
  t.equal((await sendArtifact(at, token, url, 'nonsense')).status, 422);
  t.match(await sendArtifact(at, token, url, JSON.stringify(report('ssrf'))), { status: 202 });
  const done = await pipeline.call('POST', `${url}/complete`);
  t.match(done, { status: 200, body: { verdict: 'fail', exit_code: 1, commit: 'abc', branch: 'main' } });
  t.match((await pipeline.call('GET', url)).body, {
    status: 'succeeded',
    result: { verdict: 'fail', exit_code: 1 },
    imports: [{ status: 'succeeded', input: { commit: 'abc', branch: 'main', mode: 'sync' } }],
    gate: { verdict: 'fail' },
  });
  t.equal((await pipeline.call('POST', `${url}/complete`)).status, 409);
  t.equal((await sendArtifact(at, token, url, JSON.stringify(report('ssrf')))).status, 409);
  t.equal((await pipeline.call('GET', '/ci/runs')).body['total'], 1);

  const badge = await pipeline.call('POST', `/ci/badge/${shop.application_id}`);
  const get = (path: string) => at.call('GET', path);
  const picture = await get(String(badge.body['path']));
  t.match(picture, { status: 200, headers: { 'content-type': /^image\/svg\+xml/ }, text: />fail</ });
  parseXml(picture.text);
  t.equal((await get(`/api/v1/ci/badge/${shop.application_id}?key=wrong`)).status, 404);
  t.equal((await get(`/api/v1/ci/badge/${shop.application_id}`)).status, 404);
  await pipeline.call('DELETE', `/ci/badge/${shop.application_id}`);
  t.equal((await get(String(badge.body['path']))).status, 404, 'the address has ended');
  const [left] = await database.sql<{ n: number }[]>`select count(*) as n from vm_badges`;
  t.equal(left?.n, 0);
}

/** What says nothing about findings, beside what does. */
async function gaps(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const shop = await open(at);
  const { token, application_id } = shop;
  const vex = {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    statements: [{ vulnerability: { name: 'CVE-2020-1111' }, products: [{ '@id': 'pkg:npm/o@1' }], status: 'fixed' }],
  };
  const csaf = { document: { csaf_version: '2.0' }, vulnerabilities: [] };
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    components: [{ type: 'library', name: 'l', version: '1' }],
  };
  const spdx = { spdxVersion: 'SPDX-2.3', packages: [{ name: 'a', SPDXID: 'SPDXRef-a', versionInfo: '1' }] };
  const compared = { ...bill, vulnerabilities: [] };
  const isGap = { verdict: 'fail', exit_code: 1, evaluated: true };
  const isNoScan = { verdict: 'fail', exit_code: 2, evaluated: false };
  const passes = { verdict: 'pass', exit_code: 0, evaluated: true, gaps: [] };
  for (const [what, sent, statuses, verdict] of [
    ['VEX alone', [vex], [202], isNoScan],
    ['CSAF alone', [csaf], [202], isNoScan],
    ['a bill alone', [bill], [202], isNoScan],
    ['SPDX alone', [spdx], [202], isNoScan],
    ['bills and VEX', [spdx, bill, vex], [202, 202, 202], isNoScan],
    ['a bill that was compared', [compared], [202], passes],
    ['a clean report', [report()], [202], passes],
    ['a bill and VEX beside a report', [bill, report(), vex], [202, 202, 202], passes],
    ['a report, and one that is refused', [report(), 'garbage'], [202, 422], isGap],
    ['one that is refused, and a report', ['garbage', report()], [422, 202], isGap],
    ['a tool that did not finish', [{ ...report(), runs: [{ tool: { driver: { name: 'x' } } }] }], [202], isGap],
  ] as const)
    await t.test(what, async (t) => {
      const commit = what.replaceAll(' ', '-');
      const { body: run } = await shop.call('POST', '/ci/runs', { application_id, commit, branch: 'f' });
      const got: number[] = [];
      for (const one of sent) {
        const text = typeof one === 'string' ? one : JSON.stringify(one);
        got.push((await sendArtifact(at, token, `/ci/runs/${run['id']}`, text)).status);
      }
      t.same(got, statuses);
      t.match((await shop.call('POST', `/ci/runs/${run['id']}/complete`)).body, verdict);
      t.match(await shop.gate(commit), verdict, 'asked again');
    });
  const { body: asked } = await shop.call('POST', '/ci/runs', { application_id, commit: 'asked', branch: 'f' });
  const clean = JSON.stringify(report());
  t.equal((await sendArtifact(at, token, `/ci/runs/${asked['id']}`, clean, '?format=trivy')).status, 422);
  t.equal((await sendArtifact(at, token, `/ci/runs/${asked['id']}`, clean)).status, 202);
  const answered = await shop.call('POST', `/ci/runs/${asked['id']}/complete`);
  t.match(answered.body, passes, 'the same report, sent again as it has to be, is no gap');
  const { body: again } = await shop.call('POST', '/ci/runs', {
    application_id,
    commit: 'one-that-is-refused,-and-a-report',
  });
  await sendArtifact(at, token, `/ci/runs/${again['id']}`, JSON.stringify(report()));
  t.match((await shop.call('POST', `/ci/runs/${again['id']}/complete`)).body, passes, 'a new run without a gap');
}

async function sendArtifact(at: TestApp, token: string, url: string, text: string, query = '') {
  const reply = await at.app.inject({
    method: 'POST',
    url: `/api/v1${url}`.replace(/\/?$/, '/artifacts') + query,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    payload: text,
  });
  return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
}

t.test('14.6: a commit against its baseline', (t) => onBothDatabases(t, 'commits', commits));
t.test('14.6: no new danger chain', (t) => onBothDatabases(t, 'chains', chains));
t.test('14.6: gates, policies, formats, overrides', (t) => onBothDatabases(t, 'policies', policies));
t.test('14.6: reports that prove nothing', (t) => onBothDatabases(t, 'gaps', gaps));
t.test('14.6: runs of pipelines and the badge', (t) => onBothDatabases(t, 'ci', ci));
