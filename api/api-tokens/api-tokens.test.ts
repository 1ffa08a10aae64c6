import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

async function tokens(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  await at.user('admin', 'boss@example.org');
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
    for (const [role, fix] of [
      ['admn', 'write admin'],
      ['root', undefined],
    ] as const)
      t.strictSame(
        (await make({ name: 'x', role, scopes: ['rules:read'] })).body['errors'],
        [{ path: '/role', reason: 'must be one of viewer, operator, admin', ...(fix && { fix }) }],
        'N2: what is meant where that is clear, and never an empty fix',
      );
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
  t.match(await at.parts.audit.verify(database.sql), { ok: true });
  await at.close();
}

t.test('API tokens', (t) => onBothDatabases(t, 'API tokens', tokens));
