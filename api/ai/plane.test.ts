// From requests of a client to its denial, with two real data planes of two workers each: what workers count, the round
// of the leader, and how long the verdict takes to every worker of both nodes.
import t, { type Test } from 'tap';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../db/client.js';
import { connectDataPlane } from '../nodes/link.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { nodeToken, startNode, type TestNode } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';

/** What an installation is promised: on the first node, and on every other one. */
const denialMsMax = { first: 2000, second: 4000 } as const;

/** An application that lets nobody log in, and knows few paths. */
async function startShop(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/login') response.statusCode = 401;
    else if (request.url?.startsWith('/hidden') === true) response.statusCode = 404;
    request.resume().on('end', () => response.end('x'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ask(node: TestNode, client: string, path = '/', agent = 'Mozilla/5.0 Firefox/140.0'): Promise<number> {
  const headers = { connection: 'close', 'x-forwarded-for': client, 'user-agent': agent, 'accept-language': 'en' };
  const method = path === '/login' ? { method: 'POST', body: 'user=a' } : {};
  return (await fetch(`http://127.0.0.1:${node.http}${path}`, { headers, ...method })).status;
}

async function suite(t: Test, database: Database): Promise<void> {
  const port = await freePort();
  const upstream = await startShop(t);
  const settings = {
    ai_enabled: true,
    rl_trust_proxy: true,
    rl_trusted_proxies: ['127.0.0.1'],
    sites: [{ name: 'shop', prefix: '/', upstream, protected: true, fail_mode: 'open' }],
  };
  const options = { upstream, settings, workers: 2, controlUrl: `http://127.0.0.1:${port}` };
  const first = await startNode(t, options);
  const second = await startNode(t, options);
  const link = await connectDataPlane({
    env: {
      dataAdminToken: nodeToken,
      dataAdminUrls: [first.url, second.url],
      dataDirectory: await makeDirectory(t, 'ai'),
      crsDirectory: await writeRuleSet(t),
      upstreams: { customer: upstream, payment: upstream },
      settingsEncryptionSecret: testEnv.settingsEncryptionSecret,
    },
    database,
    now: Date.now,
  });
  const at = await startTestApp(database, {
    threatsChanged: link.threatsChanged,
    nodeGates: link.nodeGates,
    env: { ...testEnv, dataAdminToken: nodeToken },
  });
  at.clock.nowMs = Date.now();
  t.teardown(async () => {
    await at.close();
    await link.close();
  });
  const { token } = await at.user('admin');
  await at.app.listen({ host: '127.0.0.1', port });
  const patch = { ai_enabled: true, ai_action: 'block', ai_risk_threshold: 60 };
  t.equal((await at.call('PATCH', '/api/settings', { token, body: patch })).status, 200);

  for (let count = 0; count < 100; count += 1) {
    t.equal(await ask(first, '203.0.113.7', '/login', 'sqlmap/1.9'), 401);
    if (count % 5 === 0) await ask(second, '203.0.113.8', `/page/${count}`);
  }
  for (let count = 0; count < 20; count += 1) await ask(second, '203.0.113.7', `/hidden/${count}`, 'sqlmap/1.9');
  const told = async (): Promise<number> =>
    (await database.sql<{ n: number }[]>`
      select coalesce(sum((client ->> 'requests')::int), 0)::int as n
      from ai_batches, json_array_elements(body::json) as client`)[0]?.n ?? 0;
  await until('every request was told', async () => (await told()) === 140);
  at.clock.nowMs = Date.now();
  const job = at.jobs.find(({ name }) => name === 'ai-engine');
  const line = await job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  const verdictMs = Date.now();
  t.match(line, /2 clients: 1 to block/);
  const deniedOn = async (node: TestNode): Promise<number> => {
    // each connection is a chance to meet a worker that does not know yet: sixteen in a row know
    let inRow = 0;
    await until('the client is denied by every worker', async () => {
      inRow = (await ask(node, '203.0.113.7')) === 403 ? inRow + 1 : 0;
      return inRow >= 16;
    });
    return Date.now() - verdictMs;
  };
  const [tookFirst, tookSecond] = await Promise.all([deniedOn(first), deniedOn(second)]);
  t.comment(`denied ${tookFirst} ms after the verdict on one node, ${tookSecond} ms on the other`);
  t.ok(tookFirst <= denialMsMax.first, `${tookFirst} ms`);
  t.ok(tookSecond <= denialMsMax.second, `${tookSecond} ms`);
  t.equal(await ask(first, '203.0.113.8'), 200, 'nobody else is');
  const [top] = (await at.call('GET', '/api/ai/soc', { token })).body['top'];
  t.match(top, { address: '203.0.113.7', verdict: 'BLOCK', requests: 120, sites: ['shop'] });
  const { items } = (await at.call('GET', '/api/ai/history', { token })).body;
  const { vector } = (await at.call('GET', `/api/ai/verdicts/${items[0].id}`, { token })).body;
  t.match(vector, { login_failures: 100, not_found: 20, denied: 100, agents: { scanner: 120 }, user_agents: 1 });
  t.ok(vector.samples.length > 0, 'requests to look at');
  for (let count = 0; count < 8; count += 1) await ask(first, '203.0.113.7');
  const before = await told();
  await until('what is refused for the verdict is told as held', async () => {
    const [row] = await database.sql<{ n: number }[]>`
      select coalesce(sum((client ->> 'held')::int), 0)::int as n
      from ai_batches, json_array_elements(body::json) as client`;
    return (row?.n ?? 0) >= 8;
  });
  t.ok((await told()) >= before);
}

t.test('AI 4: a client is denied on every worker of two nodes, in time', (t) =>
  onBothDatabases(t, 'enforcement', suite),
);
