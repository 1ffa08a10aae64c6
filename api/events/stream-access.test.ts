// A stream lasts no longer than the right to it: suspended users, ended sessions and revoked tokens are not told any
// more.
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { updateUser } from '../users/store.js';
import { revokeSessions } from '../auth/sessions.js';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const admin = await at.user('admin');
  await at.app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(at.app.server.address() as AddressInfo).port}/api/events/stream`;
  const now = () => new Date(at.clock.nowMs);
  const apiToken = (
    await at.call('POST', '/api/tokens', {
      token: admin.token,
      body: { name: 'soc', role: 'viewer', scopes: ['events:read'] },
    })
  ).body;
  const [suspended, ended, idle, demoted] = await Promise.all([
    at.user('viewer'),
    at.user('viewer'),
    at.user('viewer'),
    at.user('viewer'),
  ]);
  const cases: [string, string, () => Promise<unknown>][] = [
    [
      'a suspended user',
      suspended.token,
      () => database.sql.begin((tx) => updateUser(tx, suspended.id, { suspended: true }, now())),
    ],
    ['an ended session', ended.token, () => revokeSessions(database.sql, ended.id, {}, now())],
    [
      'another role',
      demoted.token,
      () => database.sql.begin((tx) => updateUser(tx, demoted.id, { role: 'operator' }, now())),
    ],
    [
      'a revoked API token',
      String(apiToken['token']),
      () => at.call('DELETE', `/api/tokens/${apiToken['details'].id}`, { token: admin.token }),
    ],
    [
      'a session in which nobody did anything',
      idle.token,
      async () => {
        at.clock.nowMs += 24 * 3600_000;
      },
    ],
  ];
  for (const [name, token, end] of cases) {
    const reply = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    t.equal(reply.status, 200, name);
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await end();
    at.clock.nowMs += 6000;
    for (let isDone = false; !isDone; ) isDone = (await reader.read()).done;
    t.equal(
      (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status,
      401,
      `${name}: the stream is over and none begins`,
    );
  }
  await at.close();
}

t.test('streams', (t) => onBothDatabases(t, 'streams', suite));
