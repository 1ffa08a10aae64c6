// /api-security over HTTP: operations with what is declared and found, posture and lint as findings, and the matrix of
// two identities against a lab with planted flaws and safe twins.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { testMsMax, until } from '#api/testing/waiting';
import { insertOperation } from '../apis/testing/insert-operation.js';
import { whenScansEnd } from '../dast/run/run-scan.js';
import { Client, type Json } from '../testing/import-client.js';
import { accessDocument, AccessLab, tokens } from './testing/access-lab.js';
import { OperationIndex, pathOf } from './operations.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

t.test('addresses lead to operations', (t) => {
  const index = new OperationIndex([
    { method: 'GET', template: '/orders/{id}', id: 'one' },
    { method: 'GET', template: '/orders/mine', id: 'mine' },
    { method: 'DELETE', template: '/orders/{orderId}', id: 'gone' },
    { method: 'GET', template: '/{tenant}/orders/late', id: 'late' },
  ]);
  t.same(index.find('GET', '/orders/12'), ['one']);
  t.same(index.find('GET', '/orders/mine'), ['mine'], 'what is written out comes first');
  t.same(index.find('DELETE', '/orders/{x}'), ['gone'], 'a template is its own address');
  t.same(index.find(null, '/orders/9').length, 2);
  t.same(index.find('GET', '/orders/orders/late'), ['late']);
  t.same(index.find('GET', '/'.repeat(5000)), []);
  t.equal(pathOf('https://x.example/orders/{id}?q=1'), '/orders/{id}');
  t.equal(pathOf('https://x.example/%'), '/%');
  t.end();
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.0/8']) });
  const lab = await new AccessLab().start();
  t.teardown(async () => {
    await whenScansEnd();
    await at.close();
    await lab.close();
  });
  const client = new Client(at, (await at.user('admin')).token);
  const call = async (method: string, path: string, body?: unknown, status = 200): Promise<Json> => {
    const reply = await client.call(method, path, body);
    t.equal(reply.status, status, `${method} ${path}: ${reply.text.slice(0, 400)}`);
    return reply.body;
  };
  const project = String((await call('POST', '/projects', { name: 'p' }, 201))['id']);
  const made = await call('POST', '/applications', { name: 'shop', site: 'shop', project_id: project }, 201);
  const application = String(made['id']);
  const findings = async (tool: string): Promise<Json[]> =>
    (await call('GET', `/vulnerabilities?application_id=${application}&limit=200&status=open`))['items'].filter(
      (one: Json) => String(one['rule_id']).startsWith(tool),
    );

  const seen = async (template: string, more: object = {}) =>
    insertOperation(database, { site: 'shop', template, ...more });
  await seen('/export', { credentials: { none: [5, 0, 0] }, pii: { 'response:/customers/*': { email: 3 } } });
  await seen('/invoices/{id}', { credentials: { jwt: [9, 0, 0] } });
  await seen('/debug/heap', { method: 'POST', credentials: { none: [2, 0, 0] } });

  await t.test('a specification is kept, listed and looked at', async (t) => {
    const spec = await call('POST', '/api-security/specs', { application_id: application, text: accessDocument }, 201);
    t.match(spec, { site: 'shop', version: 1, operations: 5, created: true, in_force: false });
    const again = await call('POST', '/api-security/specs', { application_id: application, text: accessDocument }, 201);
    t.match(again, { id: spec['id'], created: false });
    t.match(await call('GET', `/api-security/specs?application_id=${application}`), { total: 1 });
    const refused = await call('POST', '/api-security/specs', { application_id: application, text: 'paths: [' }, 422);
    t.match(refused['detail'], /not taken: line 1/);
    const lint = await call('POST', `/api-security/specs/${spec['id']}/lint`, {});
    const rules = new Set(lint['gaps'].map(({ rule }: Json) => rule));
    for (const rule of ['unprotected-write', 'key-in-query', 'secret-in-answer', 'open-members', 'unbounded-input'])
      t.ok(rules.has(rule), rule);
    t.equal(lint['kept'], null);
    t.same(await findings('api-'), [], 'looking makes no findings');
    await call('POST', `/api-security/specs/${spec['id']}/lint`, { keep: true });
    const kept = await findings('api-');
    t.ok(kept.some(({ rule_id: rule }) => rule === 'api-secret-in-answer'));
    await call('POST', `/api-security/specs/${spec['id']}/lint`, { keep: true });
    t.equal((await findings('api-')).length, kept.length, 'the same again makes none');
  });

  await t.test('operations: seen, declared, and their findings', async (t) => {
    const list = await call('GET', `/api-security/endpoints?application_id=${application}`);
    const byName = new Map<string, Json>(
      list['items'].map((one: Json) => [`${one['method']} ${one['template']}`, one]),
    );
    t.match(byName.get('POST /debug/heap'), { state: 'shadow', classification: 'Internal' });
    t.match(byName.get('GET /never/asked'), { state: 'zombie', deprecated: true, classification: null });
    t.match(byName.get('GET /export'), { state: 'declared', needs_credentials: true, categories: ['email'] });
    t.match(byName.get('GET /invoices/{id}')?.['open_findings'], { worst: 'high' }, 'joined by method and path');
    t.match(await call('GET', '/api-security/endpoints?state=shadow&q=heap'), { total: 1 });
    t.match(await call('GET', '/api-security/endpoints?state=zombie,shadow&limit=1&offset=1'), { limit: 1, offset: 1 });
    const now = new Date(at.clock.nowMs);
    await database.sql`create table request_records_here partition of request_records default`;
    await database.sql`create table security_events_here partition of security_events default`;
    await database.sql`
      insert into request_records (at, request_id, site, client_ip, method, uri, status, verdict)
      values (${now}, 'r1', 'shop', '203.0.113.5', 'GET',
          '/invoices/7?token=ghp_0123456789abcdefghijABCDEFGHIJ012345', 200, 'pass'),
        (${now}, 'r2', 'shop', '203.0.113.5', 'GET', '/invoices/7/lines', 200, 'pass')`;
    await database.sql`
      insert into security_events (at, request_id, site, client_ip, kind, verdict, method, uri, status, rule_id)
      values (${now}, 'r3', 'shop', '203.0.113.9', 'block', 'blocked', 'GET', '/invoices/8', 403, 942100)`;
    const one = await call('GET', `/api-security/endpoints/${byName.get('GET /invoices/{id}')?.['id']}`);
    t.match(one, { samples: [{ request_id: 'r1' }], callers: [{ client: '203.0.113.5', requests: 1 }] });
    t.match(one, { waf_hits: [{ request_id: 'r3', rule_id: 942100 }] });
    t.notMatch(JSON.stringify(one['samples']), /ghp_0123456789abc/, 'masked');
    t.ok(one['findings'].length > 0);
    const zombie = await call('GET', `/api-security/endpoints/${byName.get('GET /never/asked')?.['id']}`);
    t.match(zombie, { hits: 0, samples: [], last_seen: null });
    for (const id of ['x', '0'.repeat(32)]) await call('GET', `/api-security/endpoints/${id}`, undefined, 404);
  });

  await t.test('posture is shown, and kept', async (t) => {
    const posture = await call('GET', `/api-security/posture?application_id=${application}`);
    t.match(posture, { documented: 5, observed: 2, coverage_percent: 40, shadow: 1, zombie: 3 });
    t.match(posture['sites'][0], { site: 'shop', hint: null, specifications: [{ name: 'default', version: 1 }] });
    const kept = await call('POST', '/api-security/posture', { application_id: application });
    t.ok(kept['gaps'] > 3);
    const rules = (await findings('api-')).map(({ rule_id: rule }) => rule);
    for (const rule of ['api-shadow', 'api-auth-not-enforced']) t.ok(rules.includes(rule), rule);
    await database.sql`delete from api_endpoints where template = '/debug/heap'`;
    // of what runs, one look that misses something is none
    for (let look = 0; look < 2; look++) await call('POST', '/api-security/posture', { application_id: application });
    t.notOk((await findings('api-shadow')).length, 'what is gone is closed');
  });

  await t.test('who reaches another project meets nothing of it', async (t) => {
    const elsewhere = String((await call('POST', '/projects', { name: 'q' }, 201))['id']);
    const other = await call('POST', '/applications', { name: 'o', project_id: elsewhere }, 201);
    const user = await at.user('operator');
    const items = [{ scope: 'project', scope_id: elsewhere, role: 'operator' }];
    await call('PUT', `/rbac/grants/${user.id}`, { items, confined: true });
    const stranger = new Client(at, user.token);
    const id = (await call('GET', '/api-security/endpoints?limit=1'))['items'][0]['id'];
    const spec = (await call('GET', '/api-security/specs'))['items'][0]['id'];
    t.equal((await stranger.call('GET', `/api-security/endpoints/${id}`)).status, 404);
    t.equal((await stranger.call('POST', `/api-security/specs/${spec}/lint`, {})).status, 404);
    t.match((await stranger.call('GET', '/api-security/endpoints')).body, { total: 0 });
    t.match((await stranger.call('GET', '/api-security/specs')).body, { total: 0 });
    t.match((await stranger.call('GET', '/api-security/posture')).body, { gaps: [] });
    for (const [path, body] of [
      ['/api-security/posture', { application_id: application }],
      ['/api-security/specs', { application_id: application, text: accessDocument }],
    ] as const)
      t.equal((await stranger.call('POST', path, body)).status, 404, path);
    const own = { application_id: String(other['id']), text: accessDocument };
    t.match((await stranger.call('POST', '/api-security/specs', own)).body, { site: `~application-${other['id']}` });
    t.equal((await stranger.call('GET', `/api-security/specs?application_id=${application}`)).status, 404);
    await call('PUT', `/applications/${other['id']}/site`, { site: 'elsewhere' });
    const kept = (await stranger.call('GET', '/api-security/specs')).body;
    t.match(kept, { total: 1 }, 'what came before there was a site stays theirs');
    await call('POST', `/api-security/specs/${kept['items'][0]['id']}/lint`, {
      ...{ keep: true, application_id: String(other['id']) },
    });
    const { token } = await at.user('viewer');
    const viewer = new Client(at, token);
    t.equal((await viewer.call('POST', `/api-security/specs/${spec}/lint`, {})).status, 200);
    t.equal((await viewer.call('POST', `/api-security/specs/${spec}/lint`, { keep: true })).status, 403);
  });

  await t.test('a specification and its entry of the audit log come together, or not at all', async (t) => {
    const body = { application_id: application, name: 'together', text: accessDocument };
    await database.sql`
      alter table audit_entries add constraint refused check (summary not like '%specification together%') not valid`;
    t.equal((await client.call('POST', '/api-security/specs', body)).status, 500);
    await database.sql`alter table audit_entries drop constraint refused`;
    const kept = async () =>
      (await call('GET', '/api-security/specs?limit=500'))['items'].map((one: Json) => one['name']);
    t.notOk((await kept()).includes('together'), 'nothing is kept without its entry');
    t.match(await call('POST', '/api-security/specs', body, 201), { version: 1, created: true });
    const audit = JSON.stringify((await call('GET', '/audit?limit=50'))['items']);
    t.match(audit, /added version 1 of the specification together of shop/);
  });

  await t.test('what would close most of what is open is asked about', async (t) => {
    const own = String((await call('POST', '/applications', { name: 'many', project_id: project }, 201))['id']);
    const documentOf = (count: number): string =>
      `openapi: 3.1.0\ninfo: {title: Many, version: "1"}\npaths:\n${Array.from(
        { length: count },
        (_, at) => `  /things${at}: {post: {responses: {"200": {description: x}}}}\n`,
      ).join('')}`;
    const add = async (count: number): Promise<string> => {
      const body = { application_id: own, name: 'many', text: documentOf(count) };
      return String((await call('POST', '/api-security/specs', body, 201))['id']);
    };
    const open = async (): Promise<number> =>
      (await call('GET', `/vulnerabilities?application_id=${own}&status=open&limit=1`))['total'];
    const keep = async (id: string, more: object = {}, status = 200): Promise<Json> =>
      call('POST', `/api-security/specs/${id}/lint`, { keep: true, ...more }, status);
    const many = await add(15);
    await keep(many);
    t.equal(await open(), 15);
    const few = await add(1);
    await keep(few);
    t.equal(await open(), 15, 'missing once');
    t.match(await keep(few, {}, 409), { detail: /would close 14 of 15.*confirm_close/ });
    t.equal(await open(), 15, 'nothing was changed');
    await keep(few, { confirm_close: true });
    t.equal(await open(), 1);
  });

  await t.test('the matrix', async (t) => {
    const target = String(
      (
        await call(
          'POST',
          '/targets',
          {
            ...{ application_id: application, url: `${lab.origin}/`, requests_per_second: 2000 },
            ...{ scan_methods: ['GET'], excluded_paths: ['/hidden'] },
          },
          201,
        )
      )['id'],
    );
    const begin = async (body: object = {}, status = 202) =>
      call('POST', '/api-security/tests', { target_id: target, ...body }, status);
    const ended = async ({ id }: Json): Promise<Json> => {
      let run: Json = {};
      await until(`the test ${String(id)} ends`, async () => {
        run = (await client.call('GET', `/api-security/tests/${String(id)}`)).body;
        return run['status'] !== 'running';
      });
      return run;
    };
    t.match(await begin({}, 409), { detail: /first one is missing/ });
    for (const [identity, name] of [
      ['first', 'ada'],
      ['second', 'bob'],
    ] as const)
      await call('PUT', `/targets/${target}/auth-profile`, {
        ...{ identity, secret: tokens[name] },
        profile: { type: 'bearer', user: name, check_url: `${lab.origin}/me`, check_text: `"${name}"` },
      });
    t.match(await begin({}, 409), { detail: /not verified/ });
    lab.verifyToken = String((await call('GET', `/targets/${target}/verification`))['file'].contents);
    await call('POST', `/targets/${target}/verify`, { method: 'file' });
    t.match(await begin({ checks: ['members'] }, 409), { detail: /exploit_writes/ });
    await call('PUT', '/scan-switch', { halted: true, reason: 'maintenance' });
    t.match(await begin({}, 409), { detail: /maintenance/ });
    await call('PUT', '/scan-switch', { halted: false, reason: 'over' });

    const run = await ended(await begin({ first_is_privileged: true }));
    t.match(run, { status: 'succeeded', progress: 100 }, JSON.stringify(run['error']));
    const rowOf = (from: Json, template: RegExp): Json =>
      from['rows'].find((one: Json) => one['method'] === 'GET' && template.test(one['template'])) ?? {};
    t.match(rowOf(run, /^\/export$/), { verdict: 'broken', check: 'authentication' });
    t.match(rowOf(run, /^\/export-safe$/), { verdict: 'holds', check: 'object' });
    t.match(rowOf(run, /^\/admin\/users$/), { verdict: 'broken', check: 'function' });
    t.match(rowOf(run, /^\/admin\/audit$/), { verdict: 'holds', check: 'function' });
    t.match(rowOf(run, /^\/invoices\//), { verdict: 'broken', check: 'object' });
    t.match(rowOf(run, /^\/receipts\//), { verdict: 'holds' });
    t.match(rowOf(run, /^\/status$/), { verdict: 'holds' });
    t.match(rowOf(run, /^\/never\/asked$/), { verdict: 'unknown' });
    t.equal(run['rows'].filter(({ verdict }: Json) => verdict === 'broken').length, 3, 'nothing else is called broken');
    t.match(rowOf(run, /^\/invoices\//)['cells'], [
      { who: 'first', outcome: 'answered' },
      { who: 'second', outcome: 'answered', same: true },
      { who: 'anonymous', outcome: 'refused', status: 401 },
    ]);
    t.notOk(
      lab.seen.some(({ path }) => path.startsWith('/hidden')),
      'nothing is asked that is excluded',
    );
    t.notOk(
      lab.seen.some(({ method }) => method !== 'GET'),
      'nothing is written',
    );
    for (const text of [JSON.stringify(run), JSON.stringify(await findings('api-access'))])
      t.notMatch(text, /-token-/, 'no credential in clear');
    const found = (await findings('api-access')).map(({ rule_id: rule }) => rule).sort();
    t.same(found, ['api-access-authentication', 'api-access-function', 'api-access-object']);
    const object = (await call('GET', `/api-security/endpoints?application_id=${application}&q=invoices`))['items'][0];
    t.ok(object['open_findings'].total >= 2, 'joined with what traffic shows');

    const stopped = await (async () => {
      lab.pauseMs = 300;
      const one = await begin();
      t.match(await begin({}, 409), { detail: /is running/ }, 'one at a time');
      await call('POST', `/api-security/tests/${String(one['id'])}/cancel`);
      return ended(one);
    })();
    t.match(stopped, { status: 'canceled' });
    const count = lab.seen.length;
    await new Promise((done) => setTimeout(done, 700));
    t.equal(lab.seen.length, count, 'nothing leaves after the stop');
    lab.pauseMs = 0;
    t.equal((await findings('api-access')).length, 3, 'a test that was stopped closes nothing');
    lab.isFixed = true;
    const after = await ended(await begin({ first_is_privileged: true }));
    t.equal(after['rows'].filter(({ verdict }: Json) => verdict === 'broken').length, 0);
    t.match(await call('GET', `/api-security/tests?target_id=${target}`), { total: 3 });
  });
}

t.test('api-security', (t) => onBothDatabases(t, 'api_security', suite));
