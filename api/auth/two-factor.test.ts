import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, testPassword } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { codeAt, enrol } from '../testing/second-factor.js';

async function twoFactors(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  await at.user('admin', 'root@example.org');

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
  await at.close();
}

t.test('two factors', (t) => onBothDatabases(t, 'two factors', twoFactors));
