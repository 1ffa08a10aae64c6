import t, { type Test } from 'tap';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Database } from '../db/client.js';
import { startTestApp, testPassword } from '../testing/app.js';
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

/** Both ways to log in with a password. */
const doors = ['/api/login', '/api/v1/auth/login'] as const;

async function spraying(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const owner = await at.user('admin', 'owner@example.org'); // from the address that it is known by
  const tries = await Promise.all(
    Array.from({ length: 120 }, (_, n) =>
      at.call('POST', doors[n % 2] ?? doors[0], {
        body: { email: `person${n}@example.org`, password: 'Spring-2026!' },
        ip: `203.0.113.${n}`,
      }),
    ),
  );
  const refused = tries.filter(({ status }) => status === 429);
  t.equal(refused.length, 100, '120 accounts from 120 addresses: as many attempts as one address has');
  t.ok(Number(refused[0]?.headers['retry-after']) <= 60, 'and for no longer than a minute');
  t.equal((await at.logIn(owner.email)).status, 200, 'a known source gets in meanwhile');
  const local = { body: { email: 'owner@example.org', password: testPassword }, ip: '127.0.0.1' };
  t.equal((await at.call('POST', '/api/login', local)).status, 200, 'so does somebody on this host');
  at.clock.nowMs += 61_000;
  const statuses = new Set<number>();
  for (let n = 0; n < 60; n++) {
    const from = { body: { email: 'owner@example.org', password: testPassword }, ip: `2001:db8:${n}::1` };
    const reply = await at.call('POST', doors[n % 2] ?? doors[0], from);
    statuses.add(reply.status);
  }
  t.same([...statuses], [200], 'logins that succeed take nothing from others');
  await at.close();
}

async function oneCount(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { loginsPerMinute: 20 });
  const statuses: number[] = [];
  for (let n = 0; n < 30; n++) {
    const body = { email: `person${n}@example.org`, password: 'x' };
    statuses.push((await at.call('POST', doors[n % 2] ?? doors[0], { body, ip: '203.0.113.9' })).status);
  }
  t.equal(statuses.filter((status) => status === 401).length, 20, 'one count over both ways to log in');
  await at.close();
}

t.test('many accounts from many addresses', (t) => onBothDatabases(t, 'spraying', spraying));
t.test('both ways to log in share a limit', (t) => onBothDatabases(t, 'one count', oneCount));
t.test('ten thousand wrong passwords', (t) => onBothDatabases(t, 'guessing', guessing));
