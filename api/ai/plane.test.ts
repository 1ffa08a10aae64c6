// From requests of a client to its denial, with two real data planes of two workers each: what workers count, the round
// of the leader, and how long the verdict takes to every worker of both nodes.
import t, { type Test } from 'tap';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../db/client.js';
import { connectDataPlane } from '../nodes/link.js';
import { startTestApp, testEnv, type TestApp } from '../testing/app.js';
import { nodeToken, startNode, type TestNode } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDataDirectory } from '../testing/temporary.js';
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

async function ask(
  node: TestNode,
  client: string,
  path = '/',
  agent = 'Mozilla/5.0 Firefox/140.0',
  credentials: Readonly<Record<string, string>> = {},
): Promise<number> {
  const about = { 'x-forwarded-for': client, 'user-agent': agent, 'accept-language': 'en' };
  const headers = { connection: 'close', ...about, ...credentials };
  const method = path === '/login' ? { method: 'POST', body: 'user=a' } : {};
  return (await fetch(`http://127.0.0.1:${node.http}${path}`, { headers, ...method })).status;
}

/** How long after `sinceMs` every worker of a node refuses whoever `asks`, in milliseconds. */
async function deniedAfter(sinceMs: number, asks: () => Promise<number>): Promise<number> {
  // Each connection is a chance to meet a worker that does not know yet: sixteen refusals in a row say that all know,
  // and that they did when the first of the sixteen came. What asking fifteen times more takes is the machine's.
  let inRow = 0;
  let deniedMs = 0;
  await until('the client is denied by every worker', async () => {
    inRow = (await asks()) === 403 ? inRow + 1 : 0;
    if (inRow === 1) deniedMs = Date.now();
    return inRow >= 16;
  });
  return deniedMs - sinceMs;
}

const secret = 'a-shared-secret-of-thirty-two-bytes';
const auth = { auth_enabled: true, auth_protected_paths: ['/account'], auth_secret: secret };

/** A token (RFC 7519, HS256) that says it is about `sub`; what another key signed is a forged one. */
function tokenOf(sub: string, key = secret): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub, exp: Math.floor(Date.now() / 1000) + 86_400 })}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

interface Installation {
  readonly at: TestApp;
  readonly database: Database;
  readonly token: string;
  readonly nodes: readonly [TestNode, TestNode];
}

const nat = '203.0.113.20';
const forgerAt = '203.0.113.30';
const [attackLogins, attackPaths] = [30, 10] as const;
const withKey = { 'x-api-key': 'a-key-that-the-shop-took' };
const withSession = { cookie: 'session=0f3c-of-somebody-who-attacks' };
const attackers = {
  key: { client: nat, credentials: withKey, accepted: 1 },
  session: { client: nat, credentials: withSession, accepted: 1 },
  forgedBehindNat: {
    client: nat,
    credentials: { authorization: `Bearer ${tokenOf('ann', 'another secret of thirty-two bytes')}` },
    accepted: 1,
  },
  forged: {
    client: forgerAt,
    credentials: { authorization: `Bearer ${tokenOf('ann', 'a third secret, of thirty-two bytes')}` },
    accepted: 0,
  },
} as const;
const asAnn = { authorization: `Bearer ${tokenOf('ann')}` };
/** Whoever is behind the address of the attackers and does nothing. */
const others = [
  { what: 'another key', path: '/', credentials: { 'x-api-key': 'a-key-of-somebody-else' } },
  { what: 'another session', path: '/', credentials: { cookie: 'session=77aa-of-somebody-else' } },
  { what: 'the subject whom forged tokens name', path: '/account', credentials: asAnn },
  { what: 'the same token where nobody verifies it', path: '/', credentials: asAnn },
  { what: 'nobody by name', path: '/', credentials: {} },
] as const;

/** 40 requests of each attacker, on both nodes in turns, while the others are served. Resolves with how many. */
async function attackBehindOneAddress(t: Test, nodes: Installation['nodes']): Promise<number> {
  const perAttacker = Object.values(attackers).map(async ({ client, credentials, accepted }) => {
    const attack = (count: number, path: string): Promise<number> =>
      ask(nodes[count % 2] as TestNode, client, path, 'sqlmap/1.9', credentials);
    for (let count = 0; count < attackLogins; count += 1) await attack(count, '/login');
    for (let count = 0; count < attackPaths; count += 1) await attack(count, `/hidden/${count}`);
    for (let count = 0; count < accepted; count += 1) t.equal(await attack(count, '/'), 200, 'the shop takes it');
    if (accepted === 0) t.equal(await attack(0, '/account'), 401, 'a forged token is none');
    return attackLogins + attackPaths + 1;
  });
  const perOther = others.map(async ({ path, credentials }) => {
    for (const node of nodes) t.equal(await ask(node, nat, path, undefined, credentials), 200);
    return nodes.length;
  });
  return (await Promise.all([...perAttacker, ...perOther])).reduce((sum, count) => sum + count, 0);
}

async function checkPrincipals(t: Test, { at, database, token, nodes }: Installation): Promise<void> {
  const sent = await attackBehindOneAddress(t, nodes);
  await until('every request of principals was told', async () => {
    const [row] = await database.sql<{ n: number }[]>`
      select coalesce(sum((client ->> 'requests')::int), 0)::int as n
      from ai_batches, json_array_elements(body::json) as client
      where client ->> 'address' in (${nat}, ${forgerAt})`;
    return row?.n === sent;
  });
  at.clock.nowMs = Date.now();
  const job = at.jobs.find(({ name }) => name === 'ai-engine');
  await job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  const verdictMs = Date.now();
  const served = async (): Promise<void> => {
    for (const { what, path, credentials } of others)
      for (const node of nodes) t.equal(await ask(node, nat, path, undefined, credentials), 200, what);
  };
  const [first, second] = nodes;
  const deniedOn = (node: TestNode): Promise<number> =>
    deniedAfter(verdictMs, () => ask(node, nat, '/', undefined, withKey));
  const [tookFirst, tookSecond] = await Promise.all([deniedOn(first), deniedOn(second)]);
  t.comment(`the key was denied ${tookFirst} ms after the verdict on one node, ${tookSecond} ms on the other`);
  t.ok(tookFirst <= denialMsMax.first, `${tookFirst} ms`);
  t.ok(tookSecond <= denialMsMax.second, `${tookSecond} ms`);
  await served();
  for (const node of nodes) {
    const elsewhere = '198.51.100.77';
    for (const { credentials } of [attackers.key, attackers.session, attackers.forgedBehindNat])
      await deniedAfter(verdictMs, () => ask(node, elsewhere, '/', undefined, credentials));
    await deniedAfter(verdictMs, () => ask(node, forgerAt));
    t.equal(await ask(node, elsewhere), 200, 'the address that attackers came to is nobody');
    t.equal(await ask(node, elsewhere, '/account', undefined, asAnn), 200, 'nor is the subject of forged tokens');
  }
  await served();
  const { items } = (await at.call('GET', '/api/measures?kind=principal', { token })).body;
  const kinds = items.map(({ subject }: { subject: string }) => subject.split(':')[0]).sort();
  t.match(kinds, ['api_key', 'bearer', 'bearer', 'session'], 'each attacker by himself, and no subject of a token');
}

async function suite(t: Test, database: Database): Promise<void> {
  const port = await freePort();
  const upstream = await startShop(t);
  const settings = {
    ai_enabled: true,
    ...auth,
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
      dataDirectory: await makeDataDirectory(t, 'ai'),
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
    (
      await database.sql<{ n: number }[]>`
      select coalesce(sum((client ->> 'requests')::int), 0)::int as n
      from ai_batches, json_array_elements(body::json) as client`
    )[0]?.n ?? 0;
  await until('every request was told', async () => (await told()) === 140);
  at.clock.nowMs = Date.now();
  const job = at.jobs.find(({ name }) => name === 'ai-engine');
  const line = await job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  const verdictMs = Date.now();
  t.match(line, /2 clients: 1 to block/);
  const deniedOn = (node: TestNode): Promise<number> => deniedAfter(verdictMs, () => ask(node, '203.0.113.7'));
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
  await t.test('P5: who attacks from behind a shared address is denied by his credential alone', (t) =>
    checkPrincipals(t, { at, database, token, nodes: [first, second] }),
  );
}

t.test('AI 4: a client is denied on every worker of two nodes, in time', (t) =>
  onBothDatabases(t, 'enforcement', suite),
);
