import t, { type Test } from 'tap';
import { HOTP, Secret } from 'otpauth';
import type { Database } from '../db/client.js';
import { onBothDatabases } from '../testing/databases.js';
import { startTestApp, testEnv, testPassword, type TestApp } from '../testing/app.js';
import { createOutbound } from '../outbound/outbound.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { seedAdmin } from '../users/seed-admin.js';

const codeAt = (secret: string, nowMs: number): string =>
  HOTP.generate({ secret: Secret.fromBase32(secret), counter: Math.floor(nowMs / 30_000) });

async function enrol(at: TestApp, token: string): Promise<{ secret: string; codes: string[] }> {
  const begun = await at.call('POST', '/api/account/totp', { token, body: { password: testPassword } });
  const secret = String(begun.body['secret']);
  const confirmed = await at.call('POST', '/api/account/totp/confirm', {
    token,
    body: { otp: codeAt(secret, at.clock.nowMs) },
  });
  if (confirmed.status !== 200) throw new Error(confirmed.text);
  at.clock.nowMs += 60_000;
  return { secret, codes: confirmed.body['recovery_codes'] as string[] };
}

async function people(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const admin = await at.user('admin', 'root@example.org');

  await t.test('one answer for unknown, wrong and suspended', async (t) => {
    const bob = await at.user('viewer', 'bob@example.org');
    await at.call('PATCH', `/api/users/${bob.id}`, { token: admin.token, body: { suspended: true } });
    const answers = [
      await at.logIn('nobody@example.org'),
      await at.logIn('root@example.org', 'wrong'),
      await at.logIn('bob@example.org'),
    ];
    for (const answer of answers)
      t.match(answer, { status: 401, body: { code: 'bad_credentials', detail: answers[0]?.body['detail'] } });
    t.match(
      await at.call('GET', '/api/account', { token: bob.token }),
      { status: 401 },
      'a running session ends with the suspension',
    );
    await at.call('PATCH', `/api/users/${bob.id}`, { token: admin.token, body: { suspended: false } });
    t.equal((await at.call('GET', '/api/account', { token: bob.token })).status, 401, 'and does not come back');
    t.equal((await at.logIn('BOB@Example.ORG ')).status, 200, 'the address is compared without case');
  });

  await t.test('sessions: list, end one, idle and absolute expiry, logout', async (t) => {
    const ann = await at.user('operator', 'ann@example.org');
    const second = String((await at.logIn('ann@example.org')).body['token']);
    const list = await at.call('GET', '/api/account/sessions', { token: second });
    t.equal((list.body['items'] as unknown[]).length, 2);
    const other = (list.body['items'] as { id: string; current: boolean }[]).find((s) => !s.current);
    t.equal((await at.call('DELETE', `/api/account/sessions/${other?.id}`, { token: second })).status, 204);
    t.equal((await at.call('GET', '/api/account', { token: ann.token })).status, 401);
    t.equal((await at.call('DELETE', `/api/account/sessions/${other?.id}`, { token: second })).status, 404);
    at.clock.nowMs += 59 * 60_000;
    t.equal((await at.call('GET', '/api/account', { token: second })).status, 200);
    at.clock.nowMs += 62 * 60_000;
    t.match(
      await at.call('GET', '/api/account', { token: second }),
      { status: 401, body: { code: 'token_expired' } },
      'idle',
    );
    const third = String((await at.logIn('ann@example.org')).body['token']);
    for (let i = 0; i < 9; i++) {
      at.clock.nowMs += 50 * 60_000;
      await at.call('GET', '/api/account', { token: third });
    }
    at.clock.nowMs += 31 * 60_000;
    t.match(
      await at.call('GET', '/api/account', { token: third }),
      { status: 401, body: { code: 'token_expired' } },
      'after eight hours, however busy',
    );
    const fourth = String((await at.logIn('ann@example.org')).body['token']);
    t.equal((await at.call('POST', '/api/logout', { token: fourth })).status, 204);
    t.equal((await at.call('GET', '/api/account', { token: fourth })).status, 401);
  });

  await t.test('two factors: two steps, replay refused, recovery codes once, wrong codes lock', async (t) => {
    const eve = await at.user('operator', 'eve@example.org');
    t.equal(
      (await at.call('POST', '/api/account/totp', { token: eve.token, body: { password: 'wrong' } })).status,
      401,
      'a stolen session is not enough',
    );
    const { secret, codes } = await enrol(at, eve.token);
    const wrong =
      ['000000', '000001', '000002', '000003'].find((code) =>
        [-1, 0, 1].every((step) => codeAt(secret, at.clock.nowMs + step * 30_000) !== code),
      ) ?? '';
    const step = await at.logIn('eve@example.org');
    t.match(step, { status: 200, body: { status: 'otp_required', token: null } });
    const challenge = String(step.body['challenge']);
    t.equal(
      (await at.call('GET', '/api/account', { token: challenge })).status,
      401,
      'the challenge opens nothing else',
    );
    t.match(await at.call('POST', '/api/login/otp', { body: { challenge, otp: wrong } }), {
      status: 401,
      body: { code: 'bad_otp' },
    });
    const code = codeAt(secret, at.clock.nowMs);
    const tries = await Promise.all(
      [0, 1, 2].map(() => at.call('POST', '/api/login/otp', { body: { challenge, otp: code } })),
    );
    t.same(tries.map((r) => r.status).sort(), [200, 401, 401], 'of three with the same code one gets in');
    t.equal(
      (await at.call('POST', '/api/login', { body: { email: 'eve@example.org', password: testPassword, otp: code } }))
        .status,
      401,
      'and it stays used',
    );
    at.clock.nowMs += 30_000;
    t.equal(
      (
        await at.call('POST', '/api/login', {
          body: { email: 'eve@example.org', password: testPassword, otp: codeAt(secret, at.clock.nowMs) },
        })
      ).status,
      200,
      'both factors in one call',
    );
    const recovery = { challenge, otp: codes[0] };
    t.equal((await at.call('POST', '/api/login/otp', { body: recovery })).status, 200);
    t.equal((await at.call('POST', '/api/login/otp', { body: recovery })).status, 401, 'a recovery code works once');
    at.clock.nowMs += 301_000;
    t.match(
      await at.call('POST', '/api/login/otp', { body: { challenge, otp: codes[1] } }),
      { status: 401, body: { code: 'token_expired' } },
      'a challenge is good for five minutes',
    );
    const fresh = String((await at.logIn('eve@example.org')).body['challenge']);
    const statuses = [];
    for (let i = 0; i < 8; i++)
      statuses.push((await at.call('POST', '/api/login/otp', { body: { challenge: fresh, otp: '111111' } })).status);
    t.ok(statuses.includes(429), `guessing codes is locked: ${statuses.join(' ')}`);
    t.equal(
      (
        await at.call('DELETE', `/api/users/${eve.id}/totp`, {
          token: (await at.logIn('root@example.org')).body['token'] as string,
        })
      ).status,
      204,
    );
    at.clock.nowMs += 3600_000;
    t.match(await at.logIn('eve@example.org'), { status: 200, body: { status: 'ok' } });
  });

  await t.test('duties: the first password and required two-factor come first', async (t) => {
    const rootToken = String((await at.logIn('root@example.org')).body['token']);
    const made = await at.call('POST', '/api/users', {
      token: rootToken,
      body: { email: 'new@example.org', role: 'admin', password: 'Initial-words-2026' },
    });
    t.match(made, { status: 201, body: { must_change_password: true, role: 'admin' } });
    const login = await at.logIn('new@example.org', 'Initial-words-2026');
    t.match(login.body, { status: 'ok', must_change_password: true });
    const token = String(login.body['token']);
    for (const [method, url] of [
      ['GET', '/api/settings'],
      ['GET', '/api/users'],
      ['GET', '/api/audit'],
      ['POST', '/api/account/recovery-codes'],
    ] as const)
      t.match(
        await at.call(method, url, { token, ...(method === 'POST' ? { body: {} } : {}) }),
        { status: 403, body: { code: 'password_change_required' } },
        url,
      );
    t.match(await at.call('GET', '/api/account', { token }), { status: 200, body: { duty: 'change_password' } });
    t.match(
      await at.call('POST', '/api/account/password', {
        token,
        body: { current: 'Initial-words-2026', password: 'short' },
      }),
      { status: 422, body: { code: 'password_refused' } },
    );
    t.match(
      await at.call('POST', '/api/account/password', { token, body: { current: 'wrong', password: testPassword } }),
      { status: 401 },
    );
    t.match(
      await at.call('POST', '/api/account/password', {
        token,
        body: { current: 'Initial-words-2026', password: 'Initial-words-2026' },
      }),
      { status: 422 },
    );
    t.equal(
      (
        await at.call('POST', '/api/account/password', {
          token,
          body: { current: 'Initial-words-2026', password: testPassword },
        })
      ).status,
      204,
    );
    t.equal((await at.call('GET', '/api/settings', { token })).status, 200);
    await at.call('PATCH', '/api/settings', { token: rootToken, body: { policy_2fa_required_admin: true } });
    t.match(await at.call('GET', '/api/settings', { token }), {
      status: 403,
      body: { code: 'totp_enrolment_required' },
    });
    const begun = await at.call('POST', '/api/account/totp', { token, body: { password: testPassword } });
    t.equal(
      (
        await at.call('POST', '/api/account/totp/confirm', {
          token,
          body: { otp: codeAt(String(begun.body['secret']), at.clock.nowMs) },
        })
      ).status,
      200,
    );
    t.equal((await at.call('GET', '/api/settings', { token })).status, 200);
    await at.call('PATCH', '/api/settings', { token, body: { policy_2fa_required_admin: false } });
  });

  await t.test('changing the password ends the other sessions', async (t) => {
    const kim = await at.user('viewer', 'kim@example.org');
    const second = String((await at.logIn('kim@example.org')).body['token']);
    t.equal(
      (
        await at.call('POST', '/api/account/password', {
          token: second,
          body: { current: testPassword, password: 'Another-long-word-7' },
        })
      ).status,
      204,
    );
    t.equal((await at.call('GET', '/api/account', { token: kim.token })).status, 401);
    t.equal((await at.call('GET', '/api/account', { token: second })).status, 200);
    t.equal((await at.logIn('kim@example.org')).status, 401);
  });
  await at.close();
}

async function administration(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const root = await at.user('admin', 'root@example.org');
  const create = (email: string, password = testPassword) =>
    at.call('POST', '/api/users', { token: root.token, body: { email, role: 'viewer', password } });
  await t.test('users: create, conflict, page, change with ETag, last admin', async (t) => {
    const made = await create('u1@example.org');
    t.equal(made.status, 201);
    t.equal((await create('U1@EXAMPLE.org')).status, 409);
    t.match(await create('bad address'), { status: 400 });
    for (let i = 2; i < 8; i++) await create(`u${i}@example.org`);
    const seen: string[] = [];
    for (let cursor: string | null = null, pages = 0; pages < 10; pages++) {
      const page: { body: Record<string, any> } = await at.call(
        'GET',
        `/api/users?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`,
        { token: root.token },
      );
      seen.push(...(page.body['items'] as { email: string }[]).map((u) => u.email));
      cursor = page.body['next_cursor'] as string | null;
      if (cursor === null) break;
    }
    t.equal(seen.length, 8);
    t.equal(new Set(seen).size, 8);
    t.notMatch(JSON.stringify(made.body), /hash|secret/i);
    const id = String(made.body['id']);
    const etag = String(made.headers['etag']);
    const both = await Promise.all([
      at.call('PATCH', `/api/users/${id}`, { token: root.token, body: { name: 'A' }, headers: { 'if-match': etag } }),
      at.call('PATCH', `/api/users/${id}`, { token: root.token, body: { name: 'B' }, headers: { 'if-match': etag } }),
    ]);
    t.same(both.map((r) => r.status).sort(), [200, 412]);
    t.match(await at.call('PATCH', `/api/users/${root.id}`, { token: root.token, body: { role: 'viewer' } }), {
      status: 409,
      body: { code: 'last_admin' },
    });
    t.match(await at.call('PATCH', `/api/users/${root.id}`, { token: root.token, body: { suspended: true } }), {
      status: 409,
    });
    t.match(await at.call('DELETE', `/api/users/${root.id}`, { token: root.token }), { status: 409 });
    const two = [await at.user('admin', 'a2@example.org'), root];
    const race = await Promise.all(
      two.map((who, i) =>
        at.call('PATCH', `/api/users/${two[1 - i]?.id}`, { token: who.token, body: { role: 'viewer' } }),
      ),
    );
    const admins = await database.sql`select count(*) as n from users where role = 'admin'`;
    t.equal(
      admins[0]?.n,
      1,
      `two who demote each other: one administrator is left (${race.map((r) => r.status).join(' ')})`,
    );
  });
  await t.test('a new role ends the sessions that carry the old one', async (t) => {
    const boss = await at.user('admin', 'boss@example.org');
    const op = await at.user('operator', 'op@example.org');
    t.equal(
      (await at.call('PATCH', `/api/users/${op.id}`, { token: boss.token, body: { role: 'viewer' } })).status,
      200,
    );
    t.equal((await at.call('GET', '/api/account', { token: op.token })).status, 401);
    t.equal((await at.call('DELETE', `/api/users/${op.id}`, { token: boss.token })).status, 204);
    t.equal((await at.logIn('op@example.org')).status, 401);
  });
  await t.test('API tokens: scoped, capped by role, revocable, stored as a hash', async (t) => {
    const boss = String((await at.logIn('boss@example.org')).body['token']);
    const make = (body: object) => at.call('POST', '/api/tokens', { token: boss, body });
    const made = await make({
      name: 'ci',
      role: 'operator',
      scopes: ['settings:read', 'settings:write'],
      expires_in_days: 1,
    });
    t.equal(made.status, 201);
    const text = String(made.body['token']);
    t.notMatch(JSON.stringify(await database.sql`select * from api_tokens`), text.slice(20));
    t.equal((await at.call('GET', '/api/settings', { token: text })).status, 200);
    t.equal((await at.call('PATCH', '/api/settings', { token: text, body: { paranoia_level: 2 } })).status, 200);
    t.match(await at.call('PATCH', '/api/settings', { token: text, body: { retention_audit_days: 2 } }), {
      status: 403,
      body: { code: 'field_denied' },
    });
    t.match(await at.call('GET', '/api/audit', { token: text }), { status: 403, body: { code: 'scope_denied' } });
    t.match(await at.call('GET', '/api/users', { token: text }), { status: 403, body: { code: 'scope_denied' } });
    t.equal((await make({ name: 'x', role: 'admin', scopes: ['users'] })).status, 400, 'IAM is no scope');
    t.match(await at.call('GET', '/api/settings', { token: `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}` }), {
      status: 401,
    });
    at.clock.nowMs += 86_400_001;
    t.equal((await at.call('GET', '/api/settings', { token: text })).status, 401, 'expired');
    const again = String((await at.logIn('boss@example.org')).body['token']);
    const second = await at.call('POST', '/api/tokens', {
      token: again,
      body: { name: 'two', role: 'viewer', scopes: ['settings:read'] },
    });
    const id = String((second.body['details'] as { id: string }).id);
    t.equal((await at.call('GET', '/api/settings', { token: String(second.body['token']) })).status, 200);
    t.equal((await at.call('DELETE', `/api/tokens/${id}`, { token: again })).status, 204);
    t.equal((await at.call('GET', '/api/settings', { token: String(second.body['token']) })).status, 401);
    t.equal((await at.call('DELETE', `/api/tokens/${id}`, { token: again })).status, 404);
  });
  await t.test('the first administrator is made once, by whichever server is first', async (t) => {
    await database.sql`delete from users`;
    const results = await Promise.all(
      [0, 1, 2].map(() => seedAdmin(at.parts, 'first@example.org', 'Printed-once-2026')),
    );
    t.same(results.sort(), [false, false, true]);
    t.match((await at.logIn('first@example.org', 'Printed-once-2026')).body, { must_change_password: true });
  });
  t.match(await at.parts.audit.verify(database.sql), { ok: true });
  await at.close();
}

/** After a collection: when the next one comes by itself depends on the machine. */
function heapUsedNow(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

async function guessing(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const target = await at.user('admin', 'target@example.org');
  at.clock.nowMs += 31 * 86_400_000;
  const before = heapUsedNow();
  const counts: Record<number, number> = {};
  for (let round = 0; round < 100; round++) {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        at.call('POST', '/api/login', {
          body: { email: 'target@example.org', password: `guess-${round}-${i}` },
          ip: `203.0.${(round * 7 + i) % 256}.${i}`,
        }),
      ),
    );
    for (const reply of replies) counts[reply.status] = (counts[reply.status] ?? 0) + 1;
  }
  t.equal(
    Object.values(counts).reduce((a, b) => a + b, 0),
    10_000,
  );
  t.equal(counts[200] ?? 0, 0, 'nobody got in');
  t.ok((counts[401] ?? 0) <= 60, `${JSON.stringify(counts)}: only the first attempts were worth a hash`);
  t.equal((counts[401] ?? 0) + (counts[429] ?? 0) + (counts[503] ?? 0), 10_000);
  t.ok(heapUsedNow() - before < 200 * 1024 * 1024, 'memory stays bounded');
  t.equal((await at.logIn(target.email)).status, 429, 'the owner waits too, from a new place');
  at.clock.nowMs += 61_000;
  t.equal((await at.logIn(target.email)).status, 200, 'but no longer than a minute');
  await t.test('one account from one address: growing delays, never for good', async (t) => {
    const statuses = [];
    const wrong = () =>
      at.call('POST', '/api/login', { body: { email: 'solo@example.org', password: 'x' }, ip: '203.0.113.77' });
    for (let i = 0; i < 7; i++) statuses.push((await wrong()).status);
    t.same(statuses, [401, 401, 401, 401, 401, 429, 429]);
    t.equal((await wrong()).headers['retry-after'], '30');
    at.clock.nowMs += 30_000;
    t.equal((await wrong()).status, 401);
    t.equal((await wrong()).headers['retry-after'], '60');
    at.clock.nowMs += 16 * 60_000;
    t.equal((await wrong()).status, 401, 'never longer than the policy says');
    t.equal(
      (await at.call('POST', '/api/login', { body: { email: 'solo@example.org', password: 'x' }, ip: '203.0.113.78' }))
        .status,
      401,
      'other addresses are not locked',
    );
  });
  await at.close();
}

t.test('people', (t) => onBothDatabases(t, 'people', people));
t.test('administration', (t) => onBothDatabases(t, 'administration', administration));
t.test('ten thousand wrong passwords', (t) => onBothDatabases(t, 'guessing', guessing));

t.test('breached passwords are refused, an unreachable service is noted in the audit log', (t) =>
  onBothDatabases(t, 'breach check', async (t, database) => {
    let isUp = true;
    const server = createServer((_, reply) =>
      isUp
        ? reply.end('1E4C9B93F3F0682250B6CF8331B7EE68FD8:42\r\nF1A08CA6C0CBC8E36FD64AB4B6A21AC44A6:9\r\n')
        : reply.writeHead(500).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const outbound = createOutbound({ allow: ['127.0.0.1'] });
    const at = await startTestApp(database, {
      outbound,
      env: {
        ...testEnv,
        breachedPasswordsUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`,
      },
    });
    const root = await at.user('admin');
    await at.call('PATCH', '/api/settings', { token: root.token, body: { policy_password_min_length: 8 } });
    const create = (email: string, password: string) =>
      at.call('POST', '/api/users', { token: root.token, body: { email, role: 'viewer', password } });
    t.match(await create('a@example.org', 'password'), {
      status: 422,
      body: { errors: [{ path: '/password', reason: /breaches/ }] },
    });
    t.equal((await create('b@example.org', testPassword)).status, 201);
    isUp = false;
    t.equal((await create('c@example.org', testPassword)).status, 201);
    const audit = await at.call('GET', '/api/audit?action=user.create', { token: root.token });
    t.match((audit.body['items'] as { summary: string }[])[0]?.summary, /breach check not possible: it answered 500/);
    await at.call('PATCH', '/api/settings', { token: root.token, body: { policy_block_pwned: false } });
    isUp = true;
    t.equal((await create('d@example.org', 'password')).status, 201, 'switched off');
    await at.close();
    server.closeAllConnections();
    server.close();
  }),
);
