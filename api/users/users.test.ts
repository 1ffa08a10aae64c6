import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, testPassword } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { seedAdmin } from './seed-admin.js';

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

t.test('administration', (t) => onBothDatabases(t, 'administration', administration));
