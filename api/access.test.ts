// Every route of every feature, as every role and with every kind of token that must not open it.
import t, { type Test } from 'tap';
import { SignJWT } from 'jose';
import type { Database } from './db/client.js';
import { roles, type Role } from './http-kit/index.js';
import { startTestApp, type TestApp } from './testing/app.js';
import { onBothDatabases } from './testing/databases.js';
import { updateUser } from './users/store.js';

/** A URL for a pattern of the matrix. */
const concrete = (pattern: string): string =>
  pattern
    .replace(':id', pattern.includes('versions') ? '999999' : 'nobody')
    .replace('/api/config/diff', '/api/config/diff?from=1&to=1')
    .replace('/api/rules/names', '/api/rules/names?ids=942100');

async function matrix(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { rows } = at.parts.matrix;
  const routes = registeredRoutes(at);
  const streams = new Set(['GET /api/events/stream']);
  t.same(routes, Object.keys(rows), 'no row without a route; a route without a row stops the start (features.test.ts)');
  let checked = 0;
  const people = Object.fromEntries(
    await Promise.all(roles.map(async (role) => [role, await at.user(role)])),
  ) as Record<Role, { id: string; token: string; email: string }>;
  const suspended = await at.user('admin');
  await database.sql.begin((tx) => updateUser(tx, suspended.id, { suspended: true }, new Date(at.clock.nowMs)));
  const claims = { role: 'admin', jti: 'x', ver: 1 };
  const sign = (secret: string, alg = 'HS256', audience = 'gatehouse:session', expires = at.clock.nowMs / 1000 + 600) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg })
      .setSubject(people.admin.id)
      .setIssuer('gatehouse')
      .setAudience(audience)
      .setIssuedAt(Math.floor(at.clock.nowMs / 1000))
      .setExpirationTime(Math.floor(expires))
      .sign(new TextEncoder().encode(secret));
  const [head = '', body = '', tail = ''] = people.viewer.token.split('.');
  const raised = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), role: 'admin' }),
  ).toString('base64url');
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${raised}.`;
  const bad: Record<string, string | null> = {
    'no token': null,
    'a forged signature': await sign('z'.repeat(40)),
    'a raised role under the old signature': `${head}.${raised}.${tail}`,
    'alg none': unsigned,
    'another algorithm': await sign('a'.repeat(64), 'HS512'),
    'an expired token': await sign('a'.repeat(40), 'HS256', 'gatehouse:session', at.clock.nowMs / 1000 - 1),
    'a token for the OTP step': await sign('a'.repeat(40), 'HS256', 'gatehouse:otp'),
    'a well-signed token without a session': await sign('a'.repeat(40)),
    'a suspended user': suspended.token,
    nonsense: 'abc',
    'an unknown API token': `gh_${'0'.repeat(16)}_${'A'.repeat(43)}`,
  };
  for (const route of routes) {
    const [method = '', pattern = ''] = route.split(' ');
    const access = rows[route];
    if (access === undefined || access.kind !== 'guarded') continue;
    for (const [name, token] of Object.entries(bad)) {
      const reply = await at.call(method, concrete(pattern), { token });
      if (reply.status !== 401 || reply.body['detail'] === undefined) t.fail(`${route} with ${name}: ${reply.status}`);
      checked++;
    }
    for (const role of roles) {
      if (streams.has(route) || route === 'POST /api/logout') continue;
      const reply = await at.call(method, concrete(pattern), {
        token: people[role].token,
        ...(['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? { body: { nonsense_member: true } } : {}),
      });
      const denied = reply.status === 403 && ['role_denied'].includes(String(reply.body['code']));
      if (denied === access.roles.includes(role)) t.fail(`${route} as ${role}: ${reply.status} ${reply.text}`);
      if (reply.status === 401 || reply.status >= 500) t.fail(`${route} as ${role}: ${reply.status} ${reply.text}`);
      checked++;
    }
    if (access.roles.includes('viewer')) continue;
    const raised = await at.call(method, concrete(pattern), {
      token: people.viewer.token,
      headers: { 'x-role': 'admin', 'x-user-role': 'admin' },
    });
    if (raised.status !== 403) t.fail(`${route}: a header raised the role`);
  }
  for (const route of routes.filter((one) => rows[one]?.kind === 'dataplane'))
    for (const token of [null, 'x', people.admin.token]) {
      const [method = '', pattern = ''] = route.split(' ');
      t.equal((await at.call(method, pattern, { token, body: {} })).status, 401, `${route} is for nodes only`);
    }
  t.ok(checked > 400, `${checked} combinations of route and caller were checked`);
  t.throws(
    () => at.app.route({ method: 'GET', url: '/api/secret', handler: async () => 'x' }),
    /no access row|already/,
  );
  await at.close();
}

function registeredRoutes(at: TestApp): string[] {
  return Object.keys(at.parts.matrix.rows).filter((row) =>
    at.app.hasRoute({ method: row.split(' ')[0] as 'GET', url: row.split(' ')[1] ?? '' }),
  );
}

t.test('route × role', (t) => onBothDatabases(t, 'the route matrix', matrix));
