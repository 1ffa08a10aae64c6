import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, testPassword } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { codeAt } from '../testing/second-factor.js';

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

t.test('people', (t) => onBothDatabases(t, 'people', people));
