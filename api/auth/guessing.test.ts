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
  t.equal(
    refused.length,
    105,
    '120 accounts from 120 addresses of one network: hardly more attempts than from one address',
  );
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

/** What a client does within a minute, from which sources, and how many of the attempts are looked at. */
const floods: readonly (readonly [what: string, sources: readonly string[], taken: number])[] = [
  ['60 from one address', Array(60).fill('198.51.100.7'), 10],
  ['60 from one /64', Array.from({ length: 60 }, (_, n) => `2001:db8:1:1::${n + 1}`), 10],
  ['60 from one network', Array.from({ length: 60 }, (_, n) => `198.51.100.${n + 1}`), 15],
  ['60 from one /48', Array.from({ length: 60 }, (_, n) => `2001:db8:1:${n + 1}::1`), 15],
  ['60 from three networks', Array.from({ length: 60 }, (_, n) => `198.51.${n % 3}.${n + 1}`), 45],
  ['60 from 60 networks', Array.from({ length: 60 }, (_, n) => `198.51.${n}.1`), 50],
];

/** One abuser, however many addresses of a network, does not keep out who comes from a new place. */
async function lockingOut(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const owner = await at.user('admin', 'owner@example.org');
  const logIn = (email: string, password: string, ip: string, n = 0) =>
    at.call('POST', doors[n % 2] ?? doors[0], { body: { email, password }, ip });
  for (const [round, [what, sources, taken]] of floods.entries()) {
    at.clock.nowMs += 61_000;
    const statuses: number[] = [];
    for (const [n, ip] of sources.entries())
      statuses.push((await logIn(`${round}-${n}@example.org`, 'Spring-2026!', ip, n)).status);
    t.equal(statuses.filter((status) => status === 401).length, taken, what);
    const fresh = await logIn(owner.email, testPassword, `203.0.113.${round + 1}`);
    t.equal(fresh.status, taken === 50 ? 429 : 200, `${what}: the owner from a new address`);
  }
  await at.close();
}

async function oneCount(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { loginsPerMinute: 20 });
  const statuses: number[] = [];
  for (let n = 0; n < 30; n++) {
    const body = { email: `person${n}@example.org`, password: 'x' };
    statuses.push((await at.call('POST', doors[n % 2] ?? doors[0], { body, ip: '203.0.113.9' })).status);
  }
  t.equal(statuses.filter((status) => status === 401).length, 10, 'one count over both ways to log in');
  await at.close();
}

/** Behind one address an attacker does not keep out who is known there; nor does one on the host itself. */
async function familiar(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { loginsPerMinute: 20 });
  const owner = await at.user('admin', 'owner@example.org');
  const logIn = (email: string, password: string, ip: string, n = 0) =>
    at.call('POST', doors[n % 2] ?? doors[0], { body: { email, password }, ip });
  const nat = '198.51.100.33';
  t.equal((await logIn(owner.email, testPassword, nat)).status, 200);
  for (const [ip, status] of [
    [nat, 200],
    ['127.0.0.1', 200],
    ['198.51.100.34', 429],
  ] as const) {
    at.clock.nowMs += 61_000;
    for (let n = 0; n < 70; n++) await logIn(`made-up-${n}@example.org`, 'x', ip, n);
    t.equal((await logIn(owner.email, testPassword, ip)).status, status, `the owner from ${ip}`);
  }
  await at.close();
}

t.test('many accounts from many addresses', (t) => onBothDatabases(t, 'spraying', spraying));
t.test('who comes from a new place', (t) => onBothDatabases(t, 'locking out', lockingOut));
t.test('both ways to log in share a limit', (t) => onBothDatabases(t, 'one count', oneCount));
t.test('who is known behind a shared address', (t) => onBothDatabases(t, 'familiar', familiar));
t.test('ten thousand wrong passwords', (t) => onBothDatabases(t, 'guessing', guessing));
