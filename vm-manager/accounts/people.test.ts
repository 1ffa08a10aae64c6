// Users, one's own account, tokens and single sign-on under /api/v1: one identity with the control plane.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { startTestApp, testPassword, type TestApp } from '#api/testing/app';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { codeAt } from '#api/testing/second-factor';
import { onBothDatabases } from '#api/testing/databases';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';
const as =
  (at: TestApp, token: string) =>
  (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
    at.call(method, `${v1}${url}`, { token, body, headers });

async function users(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const root = await at.user('admin', 'root@example.org');
  const call = as(at, root.token);
  await t.test('14/1: an account is made, is the control plane’s, and is changed on its road', async (t) => {
    const made = await call('POST', '/users', { email: 'new@example.org', role: 'viewer' });
    t.match(made, { status: 201, body: { role: 'viewer', status: 'active', version: Number } });
    const password = String(made.body['one_time_password']);
    const login = await at.logIn('new@example.org', password);
    t.match(login.body, { must_change_password: true }, 'the password that was shown opens /api, to be changed');
    const own = as(at, String(login.body['token']));
    t.match(await own('GET', '/auth/me'), { status: 403 }, 'nothing else while the change is due');
    const said = await at.call('POST', `${v1}/auth/login`, { body: { email: 'new@example.org', password } });
    t.match(said.body, { password_change_required: true, mfa_enrolment_required: false }, 'the login says so');
    t.match(
      (await as(at, String(said.body['access_token']))('GET', '/vulnerabilities')).body,
      { detail: /\/api\/v1\/auth\/password\/change/ },
      'and so does every refusal, with the way out',
    );
    const changed = await own('POST', '/auth/password/change', { current: password, new: 'Brown-bridge-lamp-77' });
    t.equal(changed.status, 204, changed.text);
    t.match(await own('GET', '/auth/me'), { status: 200, body: { email: 'new@example.org' } });
    const id = String(made.body['id']);
    const shown = await call('GET', `/users/${id}`);
    const etag = String(shown.headers['etag']);
    t.match((await call('PATCH', `/users/${id}`, { name: 'New' }, { 'if-match': etag })).body, { name: 'New' });
    t.equal((await call('PATCH', `/users/${id}`, { name: 'Old' }, { 'if-match': etag })).status, 409, 'version');
    t.match((await call('POST', `/users/${id}/suspend`)).body, { status: 'suspended' });
    t.equal((await call('POST', `/users/${id}/suspend`)).status, 409, 'it is suspended already');
    t.equal((await own('GET', '/auth/me')).status, 401, 'its sessions ended');
    t.match((await call('GET', '/users?status=suspended')).body, { total: 1, items: [{ id }] });
    t.match((await call('POST', `/users/${id}/activate`)).body, { status: 'active' });
    const reset = await call('POST', `/users/${id}/reset-password`);
    t.equal((await at.logIn('new@example.org', 'Brown-bridge-lamp-77')).status, 401);
    t.equal((await at.logIn('new@example.org', String(reset.body['one_time_password']))).status, 200);
    t.equal((await call('DELETE', `/users/${id}`)).status, 204);
    t.equal((await call('GET', `/users/${id}`)).status, 404);
    const log = await at.call('GET', '/api/audit?limit=50', { token: root.token });
    for (const action of ['user.create', 'user.update', 'user.password', 'user.delete'])
      t.match(log.text, new RegExp(`"action":"${action}"`));
  });
  await t.test('who may assign findings is told whom to: names only, of those who can log in', async (t) => {
    const [operator, viewer] = [await at.user('operator', 'ann@example.org'), await at.user('viewer')];
    const gone = await at.user('viewer', 'annabel@example.org');
    await call('POST', `/users/${gone.id}/suspend`);
    const asked = await as(at, operator.token)('GET', '/people?q=ANN');
    t.match(asked, { status: 200, body: { total: 1, items: [{ email: 'ann@example.org' }] } }, asked.text);
    t.strictSame(Object.keys(asked.body['items'][0]).sort(), ['email', 'id', 'name']);
    for (const [id, items] of [
      [operator.id, [{ email: 'ann@example.org' }]],
      [gone.id, [{ email: 'annabel@example.org' }]],
      ['0', []],
      ["' or true --", []],
    ] as const)
      t.match(
        await as(at, operator.token)('GET', `/people?id=${encodeURIComponent(id)}`),
        { status: 200, body: { total: items.length, items } },
        `${id}: what is assigned to somebody is read by name, also when they can log in no more`,
      );
    t.equal((await as(at, viewer.token)('GET', '/people')).status, 403);
    t.equal((await as(at, viewer.token)('GET', '/people?q=ann')).status, 403);
  });
  await t.test('who reads a finding reads the name of whom it is assigned to, and of nobody else', async (t) => {
    const project = (await call('POST', '/projects', { name: 'shown' })).body['id'];
    const applicationIn = async (name: string) =>
      (await call('POST', '/applications', { project_id: project, name })).body['id'];
    const [shown, hidden] = [await applicationIn('seen'), await applicationIn('unseen')];
    const [ann, bob, reader] = [await at.user('operator'), await at.user('operator'), await at.user('viewer')];
    await call('PUT', `/rbac/grants/${reader.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: shown, role: 'viewer' }],
    });
    for (const [application_id, user_id] of [
      [shown, ann.id],
      [hidden, bob.id],
    ]) {
      const made = await call('POST', '/vulnerabilities', { application_id, title: 'IDOR', severity: 'high' });
      t.equal((await call('POST', `/vulnerabilities/${made.body['id']}/assign`, { user_id })).status, 200);
    }
    const asked = (id: string) => as(at, reader.token)('GET', `/people?id=${encodeURIComponent(id)}`);
    t.match(await asked(ann.id), { status: 200, body: { total: 1, items: [{ id: ann.id, email: ann.email }] } });
    for (const id of [bob.id, root.id, '0', "' or true --"])
      t.match(await asked(id), { status: 200, body: { total: 0, items: [] } }, id);
  });
  await t.test('14/1: what the control plane refuses is refused here', async (t) => {
    const twice = await call('POST', '/users', { email: 'ROOT@example.org', role: 'viewer' });
    t.match(twice, { status: 409, body: { detail: /already/ } });
    const weak = await call('POST', '/users', { email: 'w@example.org', role: 'viewer', password: 'short' });
    t.match(weak, { status: 422, body: { detail: /password/ } });
    t.equal((await call('POST', '/users', { email: 'no address', role: 'viewer' })).status, 422);
    t.equal((await call('POST', '/users', { email: 'a@example.org', role: 'unknown-role' })).status, 422, 'no role');
    for (const [method, path, body] of [
      ['DELETE', '', undefined],
      ['POST', '/suspend', undefined],
      ['PATCH', '', { role: 'viewer' }],
    ] as const)
      t.match(await call(method, `/users/${root.id}${path}`, body), { status: 409, body: { detail: /last/i } });
    for (const path of ['', '/suspend', '/activate', '/reset-password'])
      t.equal((await call(path === '' ? 'DELETE' : 'POST', `/users/nobody${path}`)).status, 404);
  });
  await t.test('14/1: nobody makes or touches an account that may more than they', async (t) => {
    await call('POST', '/rbac/roles', { name: 'desk', permissions: ['view_users', 'manage_users', 'view_findings'] });
    const desk = await at.user('viewer', 'desk@example.org');
    await call('PUT', `/rbac/grants/${desk.id}`, { confined: true, items: [{ scope: 'org', role: 'desk' }] });
    const clerk = as(at, desk.token);
    for (const role of ['admin', 'operator', 'viewer'])
      t.match(await clerk('POST', '/users', { email: 'x@example.org', role }), { status: 403 }, role);
    for (const [method, path, body] of [
      ['POST', '/reset-password', undefined],
      ['POST', '/suspend', undefined],
      ['PATCH', '', { name: 'x' }],
      ['DELETE', '', undefined],
    ] as const)
      t.match(await clerk(method, `/users/${root.id}${path}`, body), { status: 403 }, `${method} ${path}`);
    const project = (await call('POST', '/projects', { name: 'p' })).body['id'];
    const part = await at.user('viewer', 'part@example.org');
    await call('PUT', `/rbac/grants/${part.id}`, {
      confined: true,
      items: [{ scope: 'project', scope_id: project, role: 'desk' }],
    });
    const reply = await as(at, part.token)('POST', '/users', { email: 'x@example.org', role: 'viewer' });
    t.match(reply, { status: 403, body: { detail: /whole organisation/ } }, 'a grant in one project is not enough');
  });
}

async function own(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const someone = await at.user('operator', 'op@example.org');
  const call = as(at, someone.token);
  await t.test('14/1: a second factor is turned on and off, and the login asks for it', async (t) => {
    const begun = await call('POST', '/auth/mfa/enroll', { password: testPassword });
    t.match(begun.body['uri'], /^otpauth:\/\/totp\//);
    const secret = String(begun.body['secret']);
    t.equal((await call('POST', '/auth/mfa/confirm', { code: '000000' })).status, 401);
    const done = await call('POST', '/auth/mfa/confirm', { code: codeAt(secret, at.clock.nowMs) });
    t.ok((done.body['recovery_codes'] as string[]).length >= 8);
    const login = { body: { email: someone.email, password: testPassword } };
    const first = await at.call('POST', `${v1}/auth/login`, login);
    t.match(first.body, { mfa_required: true, access_token: null });
    const pre = String(first.body['pre_mfa_token']);
    t.equal((await at.call('GET', `${v1}/auth/me`, { token: pre })).status, 401, 'the step before opens nothing');
    at.clock.nowMs += 60_000;
    const code = codeAt(secret, at.clock.nowMs);
    const second = await at.call('POST', `${v1}/auth/mfa`, { body: { pre_mfa_token: pre, code } });
    t.equal(second.status, 200, second.text);
    t.equal((await at.call('POST', `${v1}/auth/mfa`, { body: { pre_mfa_token: pre, code } })).status, 401, 'used');
    at.clock.nowMs += 60_000;
    const off = { password: testPassword, code: codeAt(secret, at.clock.nowMs) };
    t.equal((await call('DELETE', '/auth/mfa', { ...off, password: 'wrong' })).status, 401);
    t.equal((await call('DELETE', '/auth/mfa', off)).status, 204);
  });
  await t.test('14/1: a session is rotated: the token before is refused, and it lasts no longer', async (t) => {
    const login = await at.call('POST', `${v1}/auth/login`, { body: { email: someone.email, password: testPassword } });
    const before = String(login.body['access_token']);
    at.clock.nowMs += 60_000;
    const rotated = await as(at, before)('POST', '/auth/refresh');
    t.match(rotated, { status: 200, body: { expires_at: login.body['expires_at'] } });
    t.equal((await as(at, before)('GET', '/auth/me')).status, 401);
    const after = as(at, String(rotated.body['access_token']));
    t.equal((await after('GET', '/auth/me')).status, 200);
    const listed = (await after('GET', '/auth/sessions')).body['items'] as { current: boolean }[];
    t.equal(listed.filter(({ current }) => current).length, 1);
  });
  await t.test('14/1: a token gets another text; the one before holds as long as was asked', async (t) => {
    const made = await call('POST', '/tokens', { name: 'ci', scopes: ['write'] });
    const [id, first] = [String(made.body['id']), String(made.body['token'])];
    const rotate = (token: string, grace: number) => as(at, token)('POST', `/tokens/${id}/rotate`, { grace_s: grace });
    const second = String((await rotate(first, 60)).body['token']);
    const me = (token: string) => as(at, token)('GET', '/auth/me');
    t.same([(await me(first)).status, (await me(second)).status], [200, 200]);
    at.clock.nowMs += 61_000;
    t.same([(await me(first)).status, (await me(second)).status], [401, 200]);
    const third = String((await rotate(someone.token, 0)).body['token']);
    t.same([(await me(second)).status, (await me(third)).status], [401, 200]);
    const admin = (await call('POST', '/tokens', { name: 'all', scopes: ['admin'] })).body['id'];
    t.equal((await as(at, third)('POST', `/tokens/${admin}/rotate`, {})).status, 403, 'only for itself');
    const root = await at.user('admin');
    t.equal((await as(at, root.token)('POST', `/tokens/${id}/rotate`, {})).status, 404, 'its text is its owner’s');
    await call('DELETE', `/tokens/${id}`);
    t.equal((await rotate(someone.token, 0)).status, 409, 'a revoked one stays so');
  });
  await t.test('14/1: what a token makes ends with it, and is used from where it is', async (t) => {
    const expires_at = new Date(at.clock.nowMs + 3_600_000).toISOString();
    const fields = { name: 'p', scopes: ['write'], expires_at, allowed_cidrs: ['192.0.2.0/24'] };
    const parent = as(at, String((await call('POST', '/tokens', fields)).body['token']));
    const child = { name: 'c', scopes: ['write'] };
    const plain = await parent('POST', '/tokens', child);
    t.match(plain.body, { expires_at, allowed_cidrs: ['192.0.2.0/24'] });
    const later = new Date(at.clock.nowMs + 7_200_000).toISOString();
    t.match(await parent('POST', '/tokens', { ...child, expires_at: later }), { status: 422 });
    t.match(await parent('POST', '/tokens', { ...child, allowed_cidrs: ['192.0.0.0/16'] }), { status: 422 });
    t.match(await parent('POST', '/tokens', { ...child, allowed_cidrs: ['::/0'] }), { status: 422 });
    t.match(await parent('POST', '/tokens', { ...child, allowed_cidrs: ['192.0.2.7'] }), { status: 201 });
  });
}

/** A provider that names itself and its keys. */
async function startProvider(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const document = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/keys' ? { keys: [{ kty: 'RSA', kid: 'a' }] } : document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function singleSignOn(t: Test, database: Database): Promise<void> {
  const issuer = await startProvider(t);
  const outbound = createGuardedClient(['127.0.0.1']);
  const at = await startTestApp(database, { outbound });
  t.teardown(() => at.close());
  const root = await at.user('admin');
  const call = as(at, root.token);
  await t.test('14/1: the provider is a resource; its secret goes in and never comes out', async (t) => {
    t.match((await call('GET', '/sso/providers')).body, { total: 0 });
    t.equal((await at.call('GET', `${v1}/sso/login/default`)).status, 404);
    const body = {
      issuer,
      client_id: 'gatehouse',
      client_secret: 'a-secret-of-the-test',
      redirect_uri: 'https://waf.example/api/sso/callback',
      default_role: 'operator',
    };
    t.equal((await call('POST', '/sso/providers', { ...body, default_role: 'admin' })).status, 422);
    t.equal((await call('POST', '/sso/providers', { ...body, issuer: 'ftp://x' })).status, 422);
    const made = await call('POST', '/sso/providers', body);
    t.match(made, { status: 201, body: { id: 'default', enabled: true, has_secret: true, issuer } });
    t.notMatch(made.text, /a-secret-of/);
    t.equal((await call('POST', '/sso/providers', body)).status, 409, 'there is one at most');
    t.match((await at.call('GET', '/api/sso')).body, { enabled: true }, 'it is the control plane’s');
    t.match((await call('POST', '/sso/providers/default/test')).body, { ok: true, detail: /1 keys/ });
    const etag = String(made.headers['etag']);
    const patch = { allowed_domain: 'corp.example' };
    t.match(await call('PATCH', '/sso/providers/default', patch, { 'if-match': etag }), { status: 200, body: patch });
    t.equal((await call('PATCH', '/sso/providers/default', { enabled: false }, { 'if-match': etag })).status, 409);
    t.match((await call('GET', '/sso/providers/default')).body, { has_secret: true }, 'the secret was kept');
  });
  await t.test('14/1: a login begins here and ends in a session of the control plane', async (t) => {
    const begun = await at.call('GET', `${v1}/sso/login/default?return_to=/vm`);
    t.match(begun, { status: 302, headers: { location: '/api/sso/login?return_to=%2Fvm' } });
    const led = await at.call('GET', String(begun.headers['location']));
    t.match(led.headers['location'], /\/authorize\?.*code_challenge=/);
    const back = await at.call('GET', `${v1}/sso/callback/default?code=a&state=b%20c`);
    t.match(back, { status: 302, headers: { location: '/api/sso/callback?code=a&state=b%20c' } });
    t.equal((await at.call('GET', String(back.headers['location']))).status, 403, 'a state that nobody was given');
    t.equal((await at.call('GET', `${v1}/sso/login/other`)).status, 404);
  });
  await t.test('14/1: it is not forgotten while people would be shut out', async (t) => {
    await database.sql`update users set origin = 'sso' where id = ${(await at.user('viewer')).id}`;
    t.match(await call('DELETE', '/sso/providers/default'), { status: 409, body: { detail: /1 accounts/ } });
    t.match((await call('PATCH', '/sso/providers/default', { enabled: false })).body, { enabled: false });
    t.equal((await at.call('GET', `${v1}/sso/login/default`)).status, 404);
    await database.sql`update users set origin = 'local'`;
    t.equal((await call('DELETE', '/sso/providers/default')).status, 204);
    t.match((await call('GET', '/sso/providers')).body, { total: 0 });
  });
}

t.test('14/1: users', (t) => onBothDatabases(t, 'people', users));
t.test('14/1: one’s own account', (t) => onBothDatabases(t, 'own account', own));
t.test('14/1: single sign-on', (t) => onBothDatabases(t, 'single sign-on', singleSignOn));
