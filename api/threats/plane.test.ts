// 11.4: a shop with a server of its own behind a real data plane, over HTTP from end to end: people who behave, and a
// thief with the ids of other people's orders. The finding names two requests that can be looked at; while the
// protection blocks, the thief is denied for as long as the setting says, and nobody else is.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { connectDataPlane } from '../nodes/link.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { nodeToken, startNode } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDataDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';
import { person, type Person } from './testing/shop.js';

/** Orders of whoever makes them; it forgets to ask whose an order is. */
async function startShop(t: Test): Promise<string> {
  const orders = new Map<number, string>();
  const server = createServer((request, response) => {
    const who = request.headers.authorization ?? '';
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    request.resume().on('end', () => {
      const id = Number(/^\/api\/orders\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0);
      if (request.method === 'POST') {
        const made = 4000 + orders.size;
        orders.set(made, who);
        answer(201, { id: made });
      } else if (id > 0) answer(orders.has(id) ? 200 : 404, { id, items: [] });
      else answer(200, { orders: [...orders].filter(([, owner]) => owner === who).map(([own]) => ({ id: own })) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function suite(t: Test, database: Database): Promise<void> {
  const port = await freePort();
  const upstream = await startShop(t);
  const settings = {
    ...{ rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1'] },
    sites: [{ name: 'shop', prefix: '/', upstream, protected: true, fail_mode: 'open' }],
  };
  const node = await startNode(t, { upstream, settings, workers: 1, controlUrl: `http://127.0.0.1:${port}` });
  const link = await connectDataPlane({
    env: {
      dataAdminToken: nodeToken,
      dataAdminUrls: [node.url],
      dataDirectory: await makeDataDirectory(t, 'threats'),
      crsDirectory: await writeRuleSet(t),
      upstreams: { customer: upstream, payment: upstream },
      settingsEncryptionSecret: testEnv.settingsEncryptionSecret,
    },
    database,
    now: Date.now,
  });
  const at = await startTestApp(database, {
    measuresChanged: link.measuresChanged,
    nodeGates: link.nodeGates,
    env: { ...testEnv, dataAdminToken: nodeToken },
  });
  t.teardown(async () => {
    await at.close();
    await link.close();
  });
  at.clock.nowMs = Date.now();
  const { token } = await at.user('admin');
  await at.app.listen({ host: '127.0.0.1', port });
  const patch = { api_protect_mode: 'block', api_block_seconds: 120 };
  t.equal((await at.call('PATCH', '/api/settings', { token, body: patch })).status, 200);

  const ask = async ({ headers: [name = '', value = ''], ip }: Person, path: string, method = 'GET') => {
    const headers = { [name]: value, 'x-forwarded-for': ip, connection: 'close' };
    const reply = await fetch(`http://127.0.0.1:${node.http}${path}`, { method, headers });
    const { id = 0 } = (await reply.json()) as { id?: number };
    return { status: reply.status, id, requestId: reply.headers.get('x-request-id') ?? '' };
  };
  const people = Array.from({ length: 5 }, (_, index) => person(index + 1));
  const [owner, , , , thief] = people as [Person, Person, Person, Person, Person];
  const made = new Map<Person, Awaited<ReturnType<typeof ask>>>();
  for (const one of people) {
    made.set(one, await ask(one, '/api/orders', 'POST'));
    t.equal((await ask(one, '/api/orders')).status, 200);
    t.equal((await ask(one, `/api/orders/${made.get(one)?.id}`)).status, 200);
  }
  const { id, requestId: madeBy } = made.get(owner) as { id: number; requestId: string };
  const theft = await ask(thief, `/api/orders/${id}`);
  t.equal(theft.status, 200, 'the shop gives it away');
  const told = async (requestId: string): Promise<boolean> => {
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from request_records where request_id = ${requestId}`;
    return row?.n === 1;
  };
  await until('the node told of the theft', async () => {
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from api_sightings where strpos(body, ${theft.requestId}) > 0`;
    return row?.n === 1 && (await told(theft.requestId)) && (await told(madeBy));
  });
  at.clock.nowMs = Date.now() + 20_000;
  const job = at.jobs.find(({ name }) => name === 'api-threats');
  t.match(await job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal }), /1 new findings.* 1 bans/);

  const { items } = (await at.call('GET', '/api/api-threats', { token })).body;
  t.equal(items.length, 1, 'nobody else is accused');
  const [evidence] = items[0].evidence as Record<string, string>[];
  t.match(items[0], { kind: 'bola_ownership', owasp: 'API1:2023', template: '/api/orders/{id}', credential: 'jwt' });
  t.match(evidence, { request_id: theft.requestId, other_request_id: madeBy, because: 'created', noun: 'order' });
  for (const requestId of [theft.requestId, madeBy]) {
    const found = (await at.call('GET', `/api/requests?request_id=${requestId}`, { token })).body['items'];
    t.match(found, [{ request_id: requestId, site: 'shop', method: requestId === madeBy ? 'POST' : 'GET' }]);
  }
  const until120 = at.clock.nowMs + 120_000;
  t.equal(Date.parse(items[0].blocked_until), until120, 'for api_block_seconds');
  const denied = async (who: Person): Promise<boolean> => {
    const headers = { 'x-forwarded-for': who.ip, connection: 'close' };
    return (await fetch(`http://127.0.0.1:${node.http}/api/orders`, { headers })).status === 403;
  };
  await until('the thief is denied', () => denied(thief));
  for (const one of people.slice(0, 4)) t.notOk(await denied(one), 'others are not');
}

t.test('11.4: a thief in a shop, from end to end', (t) => onBothDatabases(t, 'theft', suite));
