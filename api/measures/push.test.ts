// From the import of an address to the next request of that client, with real data-plane nodes.
import t, { type Test } from 'tap';
import { createNodeClient } from '../nodes/node-client.js';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { nodeToken, startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { testMsMax, until } from '../testing/waiting.js';
import { createMeasurePush } from './push.js';

const ask = async (node: TestNode): Promise<number> =>
  (await fetch(`http://127.0.0.1:${node.http}/`, { headers: { connection: 'close' } })).status;

/** The list reaches a worker by a message: the request after the answer may overtake it by a hair. */
async function becomes(node: TestNode, status: number): Promise<number> {
  await until(`the node answers ${status}`, async () => (await ask(node)) === status);
  return ask(node);
}

async function suite(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  // no rules, and open without them: what is refused is refused by the list alone
  const settings = { sites: [{ name: 'all', prefix: '/', upstream, protected: true, fail_mode: 'open' }] };
  const first = await startNode(t, { upstream, settings });
  const port = await freePort(); // of one that goes and comes back
  const second = await startNode(t, { upstream, settings, adminPort: port });
  const clock = { nowMs: Date.now() }; // nodes lift bans by their own clock
  let puts = 0;
  let patches = 0;
  const client = createNodeClient({ token: nodeToken, statusTimeoutMs: testMsMax });
  const push = createMeasurePush({
    sql: database.sql,
    urls: [first.url, second.url],
    now: () => clock.nowMs,
    client: {
      status: client.status,
      putDenials: client.putDenials,
      putMeasures: (url, list) => (puts++, client.putMeasures(url, list)),
      patchMeasures: (url, delta) => (patches++, client.patchMeasures(url, delta)),
    },
  });
  const at = await startTestApp(database, { measuresChanged: push.changed });
  t.teardown(() => at.close());
  at.clock.nowMs = Date.now(); // what the entries are given their ends by
  const { token } = await at.user('operator');
  const add = (body: object) => at.call('POST', '/api/threat-intel', { token, body });
  const remove = (network: string) => at.call('DELETE', `/api/threat-intel?network=${network}`, { token });

  t.equal(await push.reconcile(), '', 'an empty list is what a new node has');
  t.equal(puts, 0);
  t.equal(await ask(first), 200);
  t.match(await add({ addresses: ['127.0.0.1', '2001:db8::/48'], reason: 'scanner' }), {
    status: 200,
    body: { added: 2 },
  });
  t.same([await becomes(first, 403), await becomes(second, 403)], [403, 403], 'denied on every node, without an apply');
  t.equal((await remove('127.0.0.1')).status, 204);
  t.same([await becomes(first, 200), await becomes(second, 200)], [200, 200], 'let in again');

  at.clock.nowMs = Date.now();
  clock.nowMs = at.clock.nowMs;
  await add({ addresses: ['127.0.0.1'], expires_in_seconds: 2 });
  const endsMs = clock.nowMs + 2000;
  await until('the node denies, or the ban is over', async () => (await ask(first)) === 403 || Date.now() >= endsMs);
  t.same([await becomes(first, 200), await becomes(second, 200)], [200, 200], 'U13: nobody has to say that it is over');
  t.ok(Date.now() >= endsMs, 'and not before');
  at.clock.nowMs = Date.now();
  clock.nowMs = at.clock.nowMs;

  await add({ addresses: ['127.0.0.1'], expires_in_seconds: 60 });
  t.equal(await becomes(first, 403), 403);
  puts = 0;
  t.equal(await push.reconcile(), '');
  t.equal(puts, 0, 'everybody has it: nothing is sent');
  clock.nowMs += 61_000;
  t.match(await push.reconcile(), /has the client measures/);
  t.equal(await becomes(first, 200), 200, 'an entry ends when it said it would');

  await add({ addresses: ['127.0.0.0/8'], force: true });
  await second.stop();
  t.match(await add({ addresses: ['198.51.100.7'] }), { status: 200 }, 'a node that is away holds nobody up');
  const back = await startNode(t, { upstream, settings, adminPort: port });
  t.equal(await ask(back), 200, 'it came back with nothing');
  puts = 0;
  t.match(await push.reconcile(), new RegExp(`${back.url} has the client measures`));
  t.equal(puts, 1, 'and is the only one that is sent something');
  t.equal(await becomes(back, 403), 403);

  const stranger = createMeasurePush({
    sql: database.sql,
    urls: [first.url],
    client: createNodeClient({ token: 'wrong', statusTimeoutMs: testMsMax }),
    now: () => clock.nowMs,
  });
  t.equal(await stranger.reconcile(), '', 'a node that does not know us is not counted as behind');
  await stranger.changed();
  await Promise.all([push.changed(), push.changed(), push.changed()]);
  for (const network of ['127.0.0.0/8', '198.51.100.7', '2001:db8::/48']) t.equal((await remove(network)).status, 204);
  t.equal(await becomes(first, 200), 200);
  t.ok(patches > 0);
}

/** Lists of the node that hangs wait until they are let go. */
async function hungNode(t: Test, database: Database): Promise<void> {
  const got = { hung: [] as string[], well: [] as string[] };
  const held: (() => void)[] = [];
  const hang = (): Promise<void> => new Promise((resolve) => held.push(resolve));
  const active = { kind: 'active' } as const;
  const push = createMeasurePush({
    sql: database.sql,
    urls: ['hung', 'well'],
    now: Date.now,
    client: {
      status: async (url) => {
        if (url === 'hung') await hang();
        return { kind: 'unreachable', detail: 'it does not say' };
      },
      patchMeasures: async () => ({ kind: 'mismatch' }),
      putDenials: async () => active,
      putMeasures: async (url, list) => {
        if (url === 'hung') await hang();
        got[url as 'hung' | 'well'].push(list.toString('latin1'));
        return active;
      },
    },
  });
  const at = await startTestApp(database, { measuresChanged: push.changed });
  t.teardown(() => at.close());
  at.clock.nowMs = Date.now();
  const { token } = await at.user('operator');
  const asked: Promise<unknown>[] = [];
  const addThenSee = async (network: string): Promise<void> => {
    asked.push(at.call('POST', '/api/threat-intel', { token, body: { addresses: [network] } }));
    await until(`the node that is well has ${network}`, () => got.well.at(-1)?.includes(network) === true);
  };
  await addThenSee('198.51.100.1');
  await addThenSee('198.51.100.2');
  const reconciled = push.reconcile();
  await until('the reconciler waits for the node that hangs', () => held.length === 2);
  await addThenSee('198.51.100.3');
  await addThenSee('198.51.100.4');
  t.same(got.hung, [], 'while the other still hangs');
  await until('all are through', async () => {
    for (const release of held.splice(0)) release();
    return got.hung.at(-1) === got.well.at(-1);
  });
  for (const release of held.splice(0)) release();
  t.equal(got.hung.length, 2, 'the one that hung, and the newest alone');
  await Promise.all([...asked, reconciled]);
}

t.test('E12.3: a node that hangs keeps no other waiting for the deny list', (t) =>
  onBothDatabases(t, 'the deny list beside a hung node', hungNode),
);
t.test('the deny list on its way', (t) => onBothDatabases(t, 'the deny list on its way', suite));
