// Rules of scanners over /api/v1: what is changed counts in the next scan, for built-in and for own rules.
import t, { type Test } from 'tap';
import { createHash } from 'node:crypto';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { zipOf, type Packed } from '../testing/archives.js';
import { Client, type Json } from '../testing/import-client.js';
import { madeChecked } from '../scanners/testing/made-secrets.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const token = (seed: number): string => `t = '${madeChecked('ghp_', seed)}'\n`;
const own = (id: string, pattern: string) => ({
  ...{ id, title: `Found ${id}`, severity: 'high', pattern, description: 'Why.', remediation: 'What to do.' },
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const scan = async (app: string, path: string, files: readonly Packed[]): Promise<Json> => {
    at.clock.nowMs += 60_000;
    const { status, body } = await client.send(app, zipOf(files), { covers: 'whole' }, path);
    t.equal(status, 202, JSON.stringify(body).slice(0, 300));
    let run: Json = {};
    await until('the scan ends', async () => {
      run = (await client.call('GET', `${path}/${body['id']}`)).body;
      return run['status'] !== 'queued' && run['status'] !== 'running';
    });
    t.equal(run['status'], 'succeeded', String(run['error']));
    return run;
  };
  const found = async (app: string): Promise<string[]> =>
    (await client.findings(app)).map(({ location, status, severity }) => `${location} ${status} ${severity}`).sort();
  const change = async (path: string, body: object): Promise<Json> => {
    const reply = await client.call('PATCH', path, body);
    t.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  const ruleOf = async (path: string, app: string): Promise<string> => {
    const { rule_id: rule } = (await client.findings(app))[0] as Json;
    const { items } = (await client.call('GET', path)).body as { items: Json[] };
    t.ok(items.some(({ id }) => id === rule));
    return String(rule);
  };

  await t.test('a rule is switched off and on, and gets another severity', async (t) => {
    const cases: readonly (readonly [scans: string, rules: string, file: Packed])[] = [
      ['/secrets/scans', '/secrets/detectors', { name: 'a.ts', data: token(1) }],
      ['/iac/scans', '/iac/rules', { name: 'Dockerfile', data: 'FROM debian:12@sha256:aa\nRUN sudo true\nUSER 1\n' }],
      [
        '/sast/scans',
        '/sast/rules',
        { name: 'a.js', data: "app.get('/', (req, res) => require('child_process').exec(req.query.c));\n" },
      ],
      [
        '/k8s-posture/scans',
        '/k8s-posture/controls',
        {
          name: 'p.yaml',
          data:
            'apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n' +
            'spec: { hostPID: true, containers: [{ name: a }] }\n',
        },
      ],
    ];
    for (const [scans, rules, file] of cases) {
      const app = await client.application();
      await scan(app, scans, [file]);
      const before = await client.findings(app);
      t.ok(before.length > 0, scans);
      const rule = await ruleOf(rules, app);
      const same = (one: Json): boolean => one['rule_id'] === rule;
      t.match(await client.call('PATCH', `${rules}/${rule}`, { enabled: false }), { status: 422 }, 'without a reason');
      t.match(await change(`${rules}/${rule}`, { enabled: false, reason: 'ours' }), { enabled: false, reason: 'ours' });
      await scan(app, scans, [file]);
      t.ok(
        (await client.findings(app)).filter(same).every(({ status }) => status === 'resolved'),
        `${scans}: off`,
      );
      t.equal(
        (await client.findings(app)).filter((one) => !same(one) && one['status'] === 'new').length,
        before.filter((one) => !same(one)).length,
        'the others stay',
      );
      t.match(await change(`${rules}/${rule}`, { enabled: true, severity: 'low' }), { severity: 'low', enabled: true });
      await scan(app, scans, [file]);
      t.ok(
        (await client.findings(app))
          .filter(same)
          .every(({ status, severity }) => status !== 'resolved' && severity === 'low'),
        `${scans}: on, and low`,
      );
      await change(`${rules}/${rule}`, { severity: null });
    }
    t.equal((await client.call('PATCH', '/sast/rules/none', { enabled: true })).status, 404);
  });

  await t.test('a rule is set for one application, over what the organisation has', async (t) => {
    const [mine, other] = [await client.application(), await client.application()];
    const file = { name: 'a.ts', data: token(7) };
    const path = '/secrets/detectors';
    await scan(mine, '/secrets/scans', [file]);
    const rule = await ruleOf(path, mine);
    const off = { application_id: mine, enabled: false, reason: 'a game' };
    t.match(await change(`${path}/${rule}`, off), { enabled: false, set_for: 'application', reason: 'a game' });
    const of = async (query: string): Promise<Json | undefined> =>
      ((await client.call('GET', `${path}${query}`)).body['items'] as Json[]).find(({ id }) => id === rule);
    t.match(await of(''), { enabled: true, set_for: null });
    t.match(await of(`?application_id=${mine}`), { enabled: false, set_for: 'application' });
    const run = await scan(mine, '/secrets/scans', [file]);
    t.match(run['result'], { rules_off: [rule], severities_set: [] }, 'the run says so');
    t.match(await found(mine), [/resolved/]);
    t.match((await scan(other, '/secrets/scans', [file]))['result'], { rules_off: [] });
    t.match(await found(other), [/new/], 'others are as they were');
    await change(`${path}/${rule}`, { enabled: false, reason: 'nowhere' });
    await change(`${path}/${rule}`, { application_id: mine, enabled: true, severity: 'info' });
    t.match(await of(`?application_id=${other}`), { enabled: false, set_for: 'organisation' });
    await scan(mine, '/secrets/scans', [file]);
    await scan(other, '/secrets/scans', [file]);
    t.match([...(await found(mine)), ...(await found(other))], [/ info$/, /resolved/]);
    const back = { application_id: mine, enabled: null, severity: null };
    t.match(await change(`${path}/${rule}`, back), { enabled: false, set_for: 'organisation' });
    t.match(await client.call('PATCH', `${path}/${rule}`, { enabled: null }), { status: 422, text: /application_id/ });
    t.equal((await client.call('PATCH', `${path}/${rule}`, { ...back, application_id: '999999' })).status, 404);
    t.equal((await client.call('GET', `${path}?application_id=999999`)).status, 404);
    await change(`${path}/${rule}`, { enabled: true });
  });

  await t.test('own rules find in the next scan, and run on RE2 alone', async (t) => {
    const sast = { ...own('own-template', 'evalTemplate\\('), endings: ['js'], cwes: [94] };
    t.match(await client.call('POST', '/sast/rules', sast), {
      status: 201,
      body: { provenance: 'own', enabled: true },
    });
    t.match(await client.call('POST', '/sast/rules', sast), { status: 409 });
    const app = await client.application();
    const code = 'one();\nevalTemplate(x);\nevalTemplate(y); // gatehouse:ignore own-template known\n';
    await scan(app, '/sast/scans', [
      { name: 'a.js', data: code },
      { name: 'b.py', data: 'evalTemplate(x)\n' },
    ]);
    const [one, ...more] = (await client.findings(app)).filter(({ status }) => status === 'new');
    t.match(one, { location: 'a.js:2', rule_id: 'own-template', severity: 'high', source: 'sast', cwe: ['CWE-94'] });
    t.same(more, []);
    await change('/sast/rules/own-template', { enabled: false, reason: 'r' });
    await scan(app, '/sast/scans', [{ name: 'a.js', data: code }]);
    t.match((await client.findings(app))[0], { status: 'resolved' });
    const detector = own('own-key', 'acme_(?P<value>[0-9a-f]{16})');
    t.equal((await client.call('POST', '/secrets/detectors', detector)).status, 201);
    const secrets = await client.application();
    await scan(secrets, '/secrets/scans', [{ name: 'k.txt', data: 'key = acme_0123456789abcdef\n' }]);
    const [key] = await client.findings(secrets);
    t.match(key, { location: 'k.txt:1', source: 'secret', rule_id: 'own-key' });
    t.notMatch(JSON.stringify(key), /0123456789abcdef/, 'the secret is masked');
    const refused: readonly (readonly [pattern: string, detail: RegExp])[] = [
      ['(a+)(?=b)c', /no pattern of RE2/],
      ['(\\w)\\1\\1', /no pattern of RE2/],
      ['(?:a|)*', /true of nothing/],
      ['([a', /no pattern of RE2/],
    ];
    for (const [pattern, detail] of refused)
      t.match(await client.call('POST', '/sast/rules', own('own-x', pattern)), { status: 422, body: { detail } });
  });

  await t.test('a rule is tried on a text', async (t) => {
    const ask = async (rule: string, body: object) => client.call('POST', `/sast/rules/${rule}/test`, body);
    const text = { code: 'a();\nevalTemplate(x);\n', language: 'javascript' };
    t.match(await ask('own-template', { ...text, expected_lines: [2] }), { status: 200, body: { pass: true } });
    t.match(await ask('own-template', { ...text, expected_lines: [1] }), {
      body: { pass: false, missing: [1], unexpected: [2], found: [{ line: 2 }] },
    });
    t.equal((await ask('none', { ...text, expected_lines: [] })).status, 404);
  });

  await t.test('what is allowed is set aside, for its application and until its end', async (t) => {
    const [app, other] = [await client.application(), await client.application()];
    const files = [
      { name: 'a.ts', data: token(11) },
      { name: 'test/b.ts', data: token(12) },
      { name: 'c.ts', data: token(13) },
    ];
    const expires_at = new Date(at.clock.nowMs + 600_000).toISOString();
    const reason = 'made up';
    const hash = createHash('sha256').update(madeChecked('ghp_', 11)).digest('hex');
    for (const entry of [
      { kind: 'hash', value: hash, application_id: app },
      { kind: 'path', value: 'test/**', application_id: app },
      { kind: 'regex', value: `${madeChecked('ghp_', 13).slice(0, 20)}.*`, application_id: app },
    ])
      t.equal((await client.call('POST', '/secrets/allowlist', { ...entry, reason, expires_at })).status, 201);
    await scan(app, '/secrets/scans', files);
    t.same(
      (await found(app)).filter((one) => / new /.test(one)),
      [],
      'of this application',
    );
    await scan(other, '/secrets/scans', files);
    t.equal((await found(other)).filter((one) => / new /.test(one)).length, 3, 'of no other');
    at.clock.nowMs += 600_000;
    await scan(app, '/secrets/scans', files);
    t.equal((await found(app)).filter((one) => !/resolved|false_positive/.test(one)).length, 3, 'after its end');
    const refused = [
      { kind: 'hash', value: 'short' },
      { kind: 'regex', value: '.*' },
      { kind: 'path', value: '**' },
    ];
    const later = new Date(at.clock.nowMs + 86_400_000).toISOString();
    for (const entry of refused)
      t.equal((await client.call('POST', '/secrets/allowlist', { ...entry, reason, expires_at: later })).status, 422);
    const over = { kind: 'path', value: 'a', reason, expires_at };
    t.match(await client.call('POST', '/secrets/allowlist', over), { status: 422, body: { detail: /is over/ } });
    const listed = async (query = '') =>
      (await client.call('GET', `/secrets/allowlist${query}`)).body['items'] as Json[];
    t.equal((await listed()).length, 3);
    t.same(await listed('?over=false'), [], 'all of them have ended');
    const mine = (await client.call('POST', '/secrets/allowlist', {
      ...{ kind: 'path', value: 'x/**', reason, expires_at: later, application_id: app },
    })) as { body: Json };
    const wide = { kind: 'path', value: 'y/**', reason, expires_at: later };
    const all = String((await client.call('POST', '/secrets/allowlist', wide)).body['id']);
    const made = await client.call('POST', '/tokens', { name: 'o', scopes: ['admin'], application_ids: [other] });
    const part = new Client(at, String(made.body['token']));
    t.same(
      ((await part.call('GET', '/secrets/allowlist')).body['items'] as Json[]).map(({ id }) => id),
      [all],
      'those of others are not shown',
    );
    t.equal((await part.call('DELETE', `/secrets/allowlist/${String(mine.body['id'])}`)).status, 404);
    t.equal((await part.call('DELETE', `/secrets/allowlist/${all}`)).status, 403, 'it decides for all');
    for (const id of [all, String(mine.body['id'])]) {
      t.equal((await client.call('DELETE', `/secrets/allowlist/${id}`)).status, 204);
      t.equal((await client.call('DELETE', `/secrets/allowlist/${id}`)).status, 404);
    }
  });

  await t.test('an own rule that is true too often says so, and closes nothing; it is removed', async (t) => {
    const app = await client.application();
    const detector = own('own-many', 'many_(?P<value>[0-9a-f]{8})');
    t.equal((await client.call('POST', '/secrets/detectors', detector)).status, 201);
    const text = (count: number) =>
      Array.from({ length: count }, (_, n) => `many_${String(10_000_000 + n)}\n`).join('');
    const { result } = await scan(app, '/secrets/scans', [{ name: 'k.txt', data: text(200) }]);
    t.match(result, { complete: true, findings: 200 });
    const cut = await scan(app, '/secrets/scans', [{ name: 'k.txt', data: text(201) }]);
    t.match(cut['result'], { complete: false, findings: 200 });
    t.match(cut['result'].fault_reasons, [/more than 200 matches of own-many/]);
    t.match(cut['problems'], [{ at: 'k.txt' }]);
    t.equal((await client.call('DELETE', '/secrets/detectors/own-many')).status, 204);
    t.equal((await client.call('DELETE', '/secrets/detectors/own-many')).status, 404);
    const builtIn = String(((await client.call('GET', '/secrets/detectors')).body['items'] as Json[])[0]?.['id']);
    t.match(await client.call('DELETE', `/secrets/detectors/${builtIn}`), {
      status: 409,
      body: { detail: /built in/ },
    });
  });

  await t.test('SARIF of a scan, and a secret that was changed', async (t) => {
    const app = await client.application();
    const data = "app.get('/', (req, res) => require('child_process').exec(req.query.c));\n";
    const run = await scan(app, '/sast/scans', [{ name: 'a.js', data }]);
    const sarif = await client.call('GET', `/sast/scans/${run['id']}/sarif`);
    const written = JSON.parse(sarif.text) as Json;
    t.match(written, { version: '2.1.0', runs: [{ tool: { driver: { name: 'gatehouse-sast' } } }] });
    t.match((written['runs'] as Json[])[0]?.['results'], [{ codeFlows: [{}] }]);
    const secrets = await scan(app, '/secrets/scans', [{ name: 'a.ts', data: token(20) }]);
    t.equal((await client.call('GET', `/sast/scans/${secrets['id']}/sarif`)).status, 404);
    const all = await client.findings(app);
    const [secret, flow] = ['secret', 'sast'].map((kind) => all.find(({ source }) => source === kind)?.['id']);
    const proof = { proof: 'OPS-1: revoked' };
    t.match(await client.call('POST', `/secrets/${secret}/rotated`, proof), { body: { status: 'fix_pending' } });
    t.match((await client.call('GET', `/vulnerabilities/${secret}/history`)).body, { items: [{ reason: /OPS-1/ }] });
    t.equal((await client.call('POST', `/secrets/${flow}/rotated`, proof)).status, 409);
  });
}

void onBothDatabases(t, 'rules of scanners', suite);
