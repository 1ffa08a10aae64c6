// Tokens and sessions are paged like every list, and a token cannot be made for what its role may not do.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const admin = await at.user('admin');
  const operator = await at.user('operator');
  const call = (method: string, url: string, body?: object, token = admin.token) =>
    at.call(method, url, { token, ...(body === undefined ? {} : { body }) });
  const idsOf = async (path: string, token = admin.token): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | null = null, pages = 0; pages < 20; pages++) {
      const { status, body }: { status: number; body: Record<string, any> } = await call(
        'GET',
        `${path}?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`,
        undefined,
        token,
      );
      t.equal(status, 200);
      ids.push(...(body['items'] as { id: string }[]).map(({ id }) => id));
      cursor = body['next_cursor'] as string | null;
      if (cursor === null) return ids;
    }
    throw new Error('the pages do not end');
  };

  // several in one moment: the id decides then
  for (let n = 0; n < 10; n++) {
    if (n % 4 === 0) at.clock.nowMs += 1000;
    t.equal(
      (await call('POST', '/api/tokens', { name: `token ${n}`, role: 'operator', scopes: ['apply', 'settings:read'] }))
        .status,
      201,
    );
    t.equal((await at.logIn(operator.email)).status, 200);
  }
  t.equal(new Set(await idsOf('/api/tokens')).size, 10);
  t.equal((await idsOf('/api/tokens')).length, 10);
  for (const ids of [
    await idsOf('/api/account/sessions', operator.token),
    await idsOf(`/api/users/${operator.id}/sessions`),
  ])
    t.same([ids.length, new Set(ids).size], [11, 11]);
  const zoneOf = async (token: string) => (await at.call('GET', '/api/account', { token })).body['time_zone'];
  t.equal(await zoneOf(operator.token), 'GMT+4', '27.6: what the specification shows');
  t.match(await at.call('PATCH', '/api/account', { token: operator.token, body: { time_zone: 'local' } }), {
    status: 204,
  });
  t.equal(await zoneOf(operator.token), 'local');
  t.equal(await zoneOf(admin.token), 'GMT+4', 'each user has one');
  t.match(await at.call('PATCH', '/api/account', { token: operator.token, body: { time_zone: 'Mars' } }), {
    status: 400,
    body: { code: 'validation_failed', errors: [{ path: '/time_zone' }] },
  });

  t.match(await call('GET', '/api/tokens?cursor=WyJhIl0'), { status: 400, body: { code: 'bad_cursor' } });
  t.match(await call('GET', `/api/tokens?cursor=${Buffer.from('[9000000000000000,"x"]').toString('base64url')}`), {
    status: 400,
    body: { code: 'bad_cursor' },
  });

  t.match(await call('POST', '/api/tokens', { name: 'x', role: 'viewer', scopes: ['settings:read', 'apply'] }), {
    status: 400,
    body: { code: 'validation_failed', errors: [{ path: '/scopes/1' }] },
  });
  t.match(await call('POST', '/api/tokens', { name: 'x', role: 'operator', scopes: ['licence:write'] }), {
    status: 400,
  });
  t.match(
    await call('PATCH', '/api/settings', { sso_enabled: true }, operator.token),
    { status: 403, body: { code: 'field_denied', errors: [{ path: '/sso_enabled' }] } },
    'who may not change a field is not told how to fill it in',
  );
  t.match(
    await call('PATCH', '/api/settings', { paranoia_level: 9 }, operator.token),
    { status: 400, body: { code: 'validation_failed' } },
    'what is theirs is explained',
  );
  await at.close();
}

t.test('lists', (t) => onBothDatabases(t, 'lists', suite));
