import t, { type Test } from 'tap';
import type { Database } from './db/client.js';
import { startTestApp, testPassword } from './testing/app.js';
import { onBothDatabases } from './testing/databases.js';

async function surface(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { notFoundPerMinute: 5, loginsPerMinute: 4 });
  const admin = await at.user('admin', 'surface@example.org');
  await t.test('health, readiness, document, explorer', async (t) => {
    t.match(await at.call('GET', '/api/health'), { status: 200, body: { status: 'ok' } });
    t.match(await at.call('GET', '/api/ready'), { status: 200, body: { status: 'ready', database: database.kind } });
    const document = await at.call('GET', '/api/openapi.json');
    t.equal(document.body['openapi'], '3.1.0');
    const paths = Object.entries(
      document.body['paths'] as Record<
        string,
        Record<string, { responses?: Record<string, unknown>; requestBody?: unknown; summary?: string }>
      >,
    );
    t.ok(paths.length > 25, `${paths.length} paths`);
    for (const [path, operations] of paths)
      for (const [method, operation] of Object.entries(operations))
        t.ok(
          operation.summary !== undefined && Object.keys(operation.responses ?? {}).length > 0,
          `${method} ${path} is described`,
        );
    const explorer = await at.app.inject('/api/docs');
    t.equal(explorer.statusCode, 200);
    const policy = String(explorer.headers['content-security-policy']);
    t.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
    t.notMatch(policy, /https|unsafe/, 'works over plain HTTP, loads nothing from elsewhere');
    for (const path of ['/api', '/api/', '/api/?from=up']) {
      t.match(
        await at.app.inject({ url: path, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }),
        { statusCode: 302, headers: { location: '/api/docs' } },
        `a browser at ${path} gets the explorer`,
      );
      t.match(
        await at.call('GET', path, { ip: '198.51.100.6' }),
        { status: 404, body: { code: 'not_found' } },
        'a program hears that there is nothing',
      );
    }
    for (let i = 0; i < 3; i++) await at.call('GET', '/api/', { ip: '198.51.100.6' });
    t.equal((await at.call('GET', '/api/', { ip: '198.51.100.6' })).status, 429, 'and cannot probe without end');
  });
  await t.test('refusals are problem documents', async (t) => {
    const cases: [string, string, object, number, string][] = [
      ['GET', '/api/nowhere', {}, 404, 'not_found'],
      ['POST', '/api/login', { body: { email: 'x' } }, 400, 'validation_failed'],
      [
        'POST',
        '/api/login',
        { body: '{"email":', headers: { 'content-type': 'application/json' } },
        400,
        'malformed_request',
      ],
      [
        'POST',
        '/api/login',
        { body: `{"__proto__":{"a":1},"email":"a","password":"b"}`, headers: { 'content-type': 'application/json' } },
        400,
        'malformed_request',
      ],
      [
        'PATCH',
        '/api/settings',
        {
          token: admin.token,
          body: `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
          headers: { 'content-type': 'application/json' },
        },
        400,
        'nested_too_deep',
      ],
      [
        'PATCH',
        '/api/settings',
        { token: admin.token, body: '['.repeat(100_000), headers: { 'content-type': 'application/json' } },
        400,
        'nested_too_deep',
      ],
      [
        'PATCH',
        '/api/settings',
        {
          token: admin.token,
          body: JSON.stringify({ mode: 'x'.repeat(1024 * 1024) }),
          headers: { 'content-type': 'application/json' },
        },
        413,
        'body_too_large',
      ],
      [
        'PATCH',
        '/api/settings',
        { token: admin.token, body: '<x/>', headers: { 'content-type': 'application/xml' } },
        415,
        'media_type_unsupported',
      ],
      ['GET', '/api/audit?limit=0', { token: admin.token }, 400, 'validation_failed'],
      ['GET', '/api/audit?limit=9999', { token: admin.token }, 400, 'validation_failed'],
      ['GET', '/api/audit?surprise=1', { token: admin.token }, 400, 'validation_failed'],
      ['GET', '/api/audit?cursor=zzz', { token: admin.token }, 400, 'bad_cursor'],
      ['GET', '/api/audit?from=2026-99-99', { token: admin.token }, 400, 'validation_failed'],
      ['GET', '/api/users/nobody', { token: admin.token }, 404, 'not_found'],
    ];
    for (const [method, url, options, status, code] of cases) {
      const reply = await at.call(method, url, options);
      t.match(reply, { status, body: { code, status } }, `${method} ${url}: ${reply.text.slice(0, 200)}`);
      t.match(reply.headers['content-type'], /application\/problem\+json/);
      for (const member of ['type', 'title', 'detail', 'instance']) t.type(reply.body[member], 'string');
    }
  });
  await t.test('probing and logins are rate-limited per source', async (t) => {
    const probes = [];
    for (let i = 0; i < 8; i++) probes.push((await at.call('GET', `/api/probe${i}`, { ip: '198.51.100.7' })).status);
    t.same(probes, [404, 404, 404, 404, 404, 429, 429, 429]);
    t.equal((await at.call('GET', '/api/probe', { ip: '198.51.100.8' })).status, 404, 'others are not affected');
    const logins = [];
    for (let i = 0; i < 6; i++)
      logins.push(
        (
          await at.call('POST', '/api/login', {
            body: { email: `n${i}@example.org`, password: 'x' },
            ip: '198.51.100.9',
          })
        ).status,
      );
    t.same(logins, [401, 401, 401, 401, 429, 429]);
  });
  await t.test('the cookie is a session too, but does not change anything on its own', async (t) => {
    const login = await at.call('POST', '/api/login', {
      body: { email: admin.email, password: testPassword },
      ip: '198.51.100.10',
    });
    const cookie = String(login.headers['set-cookie']);
    t.match(cookie, /^gatehouse_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Expires=/);
    const pair = cookie.split(';')[0] ?? '';
    t.equal((await at.call('GET', '/api/account', { headers: { cookie: pair } })).status, 200);
    t.match(await at.call('PATCH', '/api/settings', { headers: { cookie: pair }, body: { mode: 'On' } }), {
      status: 403,
      body: { code: 'cross_site_refused' },
    });
    t.equal(
      (
        await at.call('PATCH', '/api/settings', {
          headers: { cookie: pair, 'x-gatehouse-request': '1' },
          body: { mode: 'On' },
        })
      ).status,
      200,
    );
    t.equal(
      (await at.call('GET', '/api/account', { headers: { cookie: pair, authorization: 'Basic abc' } })).status,
      401,
      'a broken header does not fall back to the cookie',
    );
  });
  await at.close();
}

t.test('surface', (t) => onBothDatabases(t, 'the surface', surface));
