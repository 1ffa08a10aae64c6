import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, testPassword } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { resetPassword } from './reset-password.js';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin', 'only@example.org');
  t.match(await resetPassword(at.parts, 'nobody@example.org', 'x'), { kind: 'refused', reason: /no user nobody/ });
  t.same(await resetPassword(at.parts, 'Only@example.org', 'Another-quiet-stone-77'), { kind: 'done' });
  t.equal((await at.call('GET', '/api/account', { token: admin.token })).status, 401, 'sessions have ended');
  t.equal((await at.logIn(admin.email, testPassword)).status, 401, 'the old password is none');
  t.match((await at.logIn(admin.email, 'Another-quiet-stone-77')).body, { status: 'ok', must_change_password: true });
  await database.sql`alter table users rename to users_elsewhere`;
  t.match(
    await resetPassword(at.parts, 'only@example.org', 'x'),
    { kind: 'refused', reason: /database is empty; `gatehouse up`/ },
    'before the first start',
  );
  await database.sql`alter table users_elsewhere rename to users`;
}

t.test('a lost password is replaced on the command line', (t) =>
  onBothDatabases(t, 'a lost password is replaced', suite),
);
