// Challenge and throttle for one client, over the API: stored with their end, on every node at once, and lifted.
import t, { type Test } from 'tap';
import type { Database } from '../../db/client.js';
import { startTestApp } from '../../testing/app.js';
import { onBothDatabases } from '../../testing/databases.js';
import { startMeasureNodes } from '../../testing/builders/measure-nodes.js';
import { until } from '../../testing/waiting.js';

async function suite(t: Test, database: Database): Promise<void> {
  const urls = ['http://node-a', 'http://node-b'];
  const clock = { nowMs: () => Date.now() };
  const nodes = startMeasureNodes(database, () => clock.nowMs(), urls);
  const at = await startTestApp(database, { measuresChanged: nodes.push.changed });
  clock.nowMs = () => at.clock.nowMs;
  const { token, email } = await at.user('operator');
  const viewer = await at.user('viewer');
  const add = (body: object, who = token) => at.call('POST', '/api/bans', { token: who, body });

  const made = await add({ network: '203.0.113.7', action: 'challenge', expires_in_seconds: 60, reason: 'odd' });
  t.match(made, {
    status: 200,
    body: { network: '203.0.113.7', added_by: email, expires_at: new Date(at.clock.nowMs + 60_000).toISOString() },
  });
  for (const url of urls)
    t.equal(nodes.text(url), `~challenge:203.0.113.7 ${at.clock.nowMs + 60_000}\n`, 'with its end');
  t.equal((await add({ network: '203.0.113.7', action: 'throttle' })).status, 200, 'the last one holds');
  t.equal((await add({ network: '2001:db8::/48', action: 'throttle' })).status, 200);
  const list = async () => (await at.call('GET', '/api/verdicts', { token: viewer.token })).body['items'];
  t.match(await list(), [{ network: '2001:db8::/48' }, { network: '203.0.113.7', action: 'throttle' }]);
  t.equal((await add({ network: '198.51.100.0/24', action: 'deny', reason: 'enough' })).status, 200);
  const denied = (await at.call('GET', '/api/threat-intel?q=198.51', { token })).body;
  t.match(denied, { items: [{ network: '198.51.100.0/24', source: 'manual', reason: 'enough' }] });

  t.equal((await add({ network: 'x', action: 'throttle' })).status, 400);
  t.equal((await add({ network: '203.0.113.9', action: 'tarpit' })).status, 400);
  t.equal((await add({ network: '203.0.113.9', action: 'throttle', expires_in_seconds: 0 })).status, 400);
  t.equal((await add({ network: '192.0.2.0/24', action: 'challenge' })).status, 409, 'one that covers the caller');
  t.equal((await add({ network: '192.0.2.0/24', action: 'challenge', force: true })).status, 200);
  t.equal((await add({ network: '203.0.113.9', action: 'throttle' }, viewer.token)).status, 403);

  const lift = () => at.call('DELETE', '/api/verdicts?network=203.0.113.7', { token });
  t.equal((await lift()).status, 204);
  t.equal((await lift()).status, 404);
  t.same(nodes.lines('http://node-b'), [...['198.51.100.0/24', '~challenge:192.0.2.0/24', '~throttle:2001:db8::/48']]);
  at.clock.nowMs += 601_000;
  t.strictSame(await list(), [], 'they end by themselves');
  t.same(await nodes.push.reconcile(), urls.map((url) => `${url} has the client measures`).join('; '));
  t.same(nodes.lines(), [], 'on the nodes as well, which end them by themselves');
  await at.close();
}

async function hungNode(t: Test, database: Database): Promise<void> {
  const held: (() => void)[] = [];
  const hang = (url: string): Promise<void> =>
    url === 'http://hung' ? new Promise((resolve) => held.push(resolve)) : Promise.resolve();
  const nodes = startMeasureNodes(database, () => Date.now(), ['http://hung', 'http://well'], { hang });
  const at = await startTestApp(database, { measuresChanged: nodes.push.changed });
  at.clock.nowMs = Date.now();
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const body = { network: '203.0.113.7', action: 'throttle' };
  const asked = at.call('POST', '/api/bans', { token, body });
  await until('the node that answers has the verdict', () => nodes.lines('http://well').length === 1);
  t.same(nodes.lines('http://hung'), [], 'while the other still hangs');
  for (const release of held) release();
  t.equal((await asked).status, 200);
}

t.test('E12.3: a node that hangs keeps no other waiting for a verdict', (t) =>
  onBothDatabases(t, 'verdicts beside a hung node', hungNode),
);
t.test('4: verdicts over the API', (t) => onBothDatabases(t, 'verdicts', suite));
