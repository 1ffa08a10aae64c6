// Abuse of APIs from the windows of nodes to findings, their states, bans and events, on both databases.
import t, { type Test } from 'tap';
import { observationKeyOf } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { startTestApp, type TestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { evaluationOf } from './evaluation.js';
import { honest, newWorld } from './testing/honest.js';
import { person, Shop } from './testing/shop.js';

const key = observationKeyOf('c'.repeat(40));
const signal = new AbortController().signal;

/** The windows of a shop, as a node sends them; its clock is the test's from then on. */
async function send(at: TestApp, shop: Shop): Promise<void> {
  for (const batch of shop.end().splice(0)) {
    const reply = await at.call('POST', '/api/dataplane/observations', {
      token: 'c'.repeat(40),
      body: { node: 'n1', batch },
    });
    if (reply.status !== 200) throw new Error(reply.text);
  }
  at.clock.nowMs = Math.max(at.clock.nowMs, shop.nowMs + 60_000);
}

const run = async (at: TestApp, name = 'api-threats'): Promise<string> =>
  (await at.jobs.find((job) => job.name === name)?.run({ nowMs: at.clock.nowMs, signal })) ?? 'no such job';

function steal(shop: Shop, id: number): readonly [made: string, got: string] {
  const [owner, thief] = [person(1), person(2)];
  shop.ask(thief, { uri: '/api/orders', reply: { orders: [{ id: 7 }] } });
  const made = shop.ask(owner, { method: 'POST', uri: '/api/orders', status: 201, reply: { id } });
  return [made, shop.ask(thief, { uri: `/api/orders/${id}`, reply: { id } })];
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const operator = await at.user('operator');
  const viewer = await at.user('viewer');
  const list = async (query = ''): Promise<Record<string, any>[]> =>
    (await at.call('GET', `/api/api-threats${query}`, { token: viewer.token })).body['items'];
  await database.sql`insert into siem_connectors (name, enabled) values ('test', true)`;

  const shop = new Shop(key);
  const [made, got] = steal(shop, 4711);
  await send(at, shop);
  t.match(await run(at), /1 new findings, 0 known ones, 0 bans/);
  const [theft, ...others] = await list();
  t.same(others, []);
  t.match(theft, {
    kind: 'bola_ownership',
    owasp: 'API1:2023',
    site: 'shop',
    method: 'GET',
    template: '/api/orders/{id}',
    credential: 'jwt',
    severity: 'high',
    status: 'open',
    count: 1,
    evidence: [{ request_id: got, other_request_id: made, because: 'created', noun: 'order' }],
  });
  const outbox = await database.sql<{ kind: string }[]>`select kind from siem_outbox where kind = 'api-threat'`;
  t.equal(outbox.length, 1, 'other systems are told');
  t.match(await run(at), /0 new findings, 0 known/, 'nothing is told twice');

  const change = (id: string, body: object, token = operator.token) =>
    at.call('PATCH', `/api/api-threats/${id}`, { token, body });
  t.equal((await change(theft?.['id'], { status: 'dismissed' }, viewer.token)).status, 403);
  t.match((await change(theft?.['id'], { status: 'dismissed', note: 'a test' })).body, {
    status: 'dismissed',
    status_by: operator.email,
    status_note: 'a test',
  });
  t.equal((await change(theft?.['id'], { status: 'gone' })).status, 400);
  t.equal((await change('00000000-0000-4000-8000-000000000000', { status: 'open' })).status, 404);
  steal(shop, 4712);
  await send(at, shop);
  t.match(await run(at), /0 new findings, 1 known/);
  t.match(await list('?status=dismissed&kind=bola_ownership'), [{ count: 2, status: 'dismissed' }], 'stays dismissed');
  t.same(await list('?status=open'), []);
  const total = async (query: string): Promise<number> =>
    (await at.call('GET', `/api/api-threats${query}`, { token: viewer.token })).body['total'];
  t.same(
    [await total('?limit=1'), await total('?status=open'), await total('?status=dismissed&severity=high')],
    [1, 0, 1],
    'N1: a list says how many there are of what was asked for',
  );

  // a process that begins anew knows the owners still
  const again = await startTestApp({ ...database });
  t.teardown(() => again.app.close());
  again.clock.nowMs = at.clock.nowMs;
  shop.ask(person(3), { uri: '/api/orders/4711', reply: { id: 4711 } });
  await send(again, shop);
  t.match(await run(again), /1 new findings/, 'the owner was known before the restart');
  t.not(await evaluationOf(at.parts), await evaluationOf(again.parts));

  await block(t, at, database, shop);
}

async function block(t: Test, at: TestApp, database: Database, shop: Shop): Promise<void> {
  const admin = await at.user('admin');
  const { headers } = await at.call('GET', '/api/settings', { token: admin.token });
  const saved = await at.call('PATCH', '/api/settings', {
    token: admin.token,
    headers: { 'if-match': String(headers['etag']), 'content-type': 'application/merge-patch+json' },
    body: { api_protect_mode: 'block', api_block_seconds: 900, flood_autoban_exempt: ['198.51.100.9'] },
  });
  t.equal(saved.status, 200);
  at.clock.nowMs += 5000;
  shop.ask({ ...person(5), ip: person(4).ip }, { uri: '/api/orders', reply: { orders: [{ id: 8 }] } });
  for (let number = 100; number < 140; number += 1) {
    shop.ask(person(number), { method: 'POST', uri: '/api/orders', status: 201, reply: { id: number } });
    shop.ask(person(number), { uri: `/api/orders/${number}`, reply: { id: number } });
  }
  for (const number of [4, 9]) shop.ask(person(number), { uri: `/api/orders/${100 + number}`, reply: {} });
  shop.ask({ ...person(6), ip: '10.0.0.1' }, { uri: '/api/orders', reply: { orders: [{ id: 9 }] } });
  shop.ask({ ...person(8), ip: '10.0.0.1' }, { uri: '/api/orders/120', reply: {} });
  await send(at, shop);
  t.match(await run(at), /3 new findings, \d known ones, 1 bans/);
  const denied = await database.sql<{ network: string; source: string; reason: string; expires_at: Date }[]>`
    select subject as network, source, reason, expires_at from client_measures`;
  t.match(denied, [{ network: '198.51.100.4', source: 'api-abuse' }]);
  t.match(denied[0]?.reason, /^API abuse, bola_ownership at GET \/api\/orders\/\{id\}, requests r\d+$/);
  t.equal(denied[0]?.expires_at.getTime(), at.clock.nowMs + 900_000);
  const threats = (await at.call('GET', '/api/api-threats?status=open', { token: admin.token })).body['items'];
  const notes = Object.fromEntries(threats.map((one: any) => [one.client_ips[0], one.block_note]));
  t.match(notes['198.51.100.4'], '198.51.100.4 was banned: 1 other principals were seen there', 'who is hit as well');
  t.match(notes['198.51.100.9'], 'was not banned: it is exempt from bans');
  t.match(notes['10.0.0.1'], 'was not banned: it is an inner address, and 1 other principals');
  const audit = await at.call('GET', '/api/audit?action=api-threat.block', { token: admin.token });
  t.match(audit.text, /banned 198\.51\.100\.4: API abuse/);
}

t.test('B1: from windows to findings, states, bans and events', (t) => onBothDatabases(t, 'api-threats', suite));

t.test('B1: honest traffic by way of the API makes no finding', async (t) =>
  onBothDatabases(t, 'api-threats-honest', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const world = newWorld(50, 'jwt', key);
    honest(world, 3, 3000);
    await send(at, world.shop);
    t.match(await run(at), /[1-9]\d* windows, 0 new findings/);
  }),
);
