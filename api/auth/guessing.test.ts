import t, { type Test } from 'tap';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

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

t.test('ten thousand wrong passwords', (t) => onBothDatabases(t, 'guessing', guessing));
