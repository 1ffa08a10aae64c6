// Bans of nodes: into the deny list with reason and end, listed, lifted on every node; limits and the pipeline shown.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { createNodeGates, type NodeBan } from './node-gates.js';

const nodes = ['http://node-a', 'http://node-b'];

/** Nodes that remember what they were told. */
function testNodes() {
  const told: string[] = [];
  const banned = new Map<string, NodeBan[]>(nodes.map((node) => [node, []]));
  const figures = {
    decisions: [{ gate: 'rate-zones', decision: 'throttle', outcome: 'enforced', count: 3 }],
    zones: [{ site: 'shop', zone: 'default', outcome: 'enforced', count: 3 }],
    heavy: [{ zone: 'default', network: '203.0.113.9', limited: 3 }],
    rateKeys: { keys: 1, keysMax: 64, evicted: 0 },
    crawlers: [{ crawler: 'Googlebot', verdict: 'impostor', requests: 2 }],
    siteKeys: { url: '', fetchedAtMs: 0, wantedAtMs: 0 },
  };
  const gates = createNodeGates(nodes, {
    ask: async (url, method, path, body) => {
      told.push(`${method} ${url}${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`);
      if (path === '/bans') return { bans: banned.get(url) };
      return path === '/gates' && url === 'http://node-a' ? figures : { outcome: 'active' };
    },
  });
  return { told, banned, gates };
}

const ban = (network: string, atMs: number, over: Partial<NodeBan> = {}): NodeBan => ({
  network,
  zone: 'default',
  requestId: 'R1',
  atMs,
  untilMs: atMs + 600_000,
  offence: 1,
  threshold: 20,
  windowSeconds: 60,
  ...over,
});

async function suite(t: Test, database: Database): Promise<void> {
  const { told, banned, gates } = testNodes();
  let pushed = 0;
  const at = await startTestApp(database, { nodeGates: gates, measuresChanged: async () => void pushed++ });
  const operator = await at.user('operator');
  const { token } = operator;
  const job = at.jobs.find(({ name }) => name === 'bans');
  const round = () => job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  const get = async (url: string) => (await at.call('GET', url, { token })).body;
  const nowMs = at.clock.nowMs;

  t.equal(await round(), 'nothing new');
  t.ok(
    told.some((line) => line.startsWith('PUT http://node-b/ban-safe') && line.includes('192.0.2.10')),
    told.join(),
  );
  banned.get('http://node-a')?.push(ban('203.0.113.9', nowMs - 1000), ban('2001:db8::/64', nowMs, { offence: 2 }));
  t.equal(await round(), '2 bans of http://node-a');
  t.equal(await round(), 'nothing new', 'each is taken over once');
  t.equal(pushed, 1);
  t.match(await get('/api/threat-intel?source=auto-ban'), {
    items: [
      { network: '2001:db8::/64', reason: '20 limited requests in 60 s by default, ban number 2, request R1' },
      { network: '203.0.113.9', added_by: 'system', expires_at: new Date(nowMs + 599_000).toISOString() },
    ],
  });
  t.match(await get('/api/bans?limit=1'), { items: [{ network: '2001:db8::/64', state: 'active', offence: 2 }] });
  const { next_cursor: cursor } = await get('/api/bans?limit=1');
  t.match(await get(`/api/bans?cursor=${cursor}`), { items: [{ network: '203.0.113.9' }], next_cursor: null });
  t.match(await get('/api/audit?action=ban.add'), { items: [{ summary: 'banned 2 clients' }] });

  told.length = 0;
  const lift = (network: string) => at.call('DELETE', `/api/bans?network=${encodeURIComponent(network)}`, { token });
  t.equal((await lift('198.51.100.1')).status, 404);
  t.equal((await lift('2001:db8::/64')).status, 204);
  t.equal((await lift('2001:db8::/64')).status, 404, 'it is lifted once');
  t.strictSame(
    told,
    nodes.map((node) => `DELETE ${node}/bans?network=2001%3Adb8%3A%3A%2F64`),
  );
  t.match(await get('/api/bans?state=all'), {
    items: [{ network: '2001:db8::/64', state: 'lifted', lifted_by: operator.email }, { network: '203.0.113.9' }],
  });
  t.strictSame((await get('/api/threat-intel?source=auto-ban&q=2001'))['items'], []);

  told.length = 0;
  await round();
  t.match(
    told,
    ['GET http://node-a/bans', 'GET http://node-b/bans', 'DELETE http://node-a/bans?network=2001%3Adb8'],
    'a node that did not hear of it is told again',
  );
  told.length = 0;
  t.equal((await at.call('DELETE', '/api/threat-intel?network=203.0.113.9', { token })).status, 204);
  t.ok(told.includes('DELETE http://node-b/bans?network=203.0.113.9'), 'whichever view lifts a ban, nodes forget it');
  t.strictSame((await get('/api/bans'))['items'], []);
  t.match(await get('/api/bans?state=all&limit=2'), { items: [{ state: 'lifted', lifted_by: operator.email }, {}] });

  const many = Array.from({ length: 250 }, (_, n) => ban(`198.51.100.${n}`, nowMs, { untilMs: nowMs + 600_000 }));
  banned.set('http://node-a', many);
  t.equal(await round(), '250 bans of http://node-a');
  await database.sql`update client_measures set lifted_at = ${new Date(nowMs)} where subject like '198.51.100.%'`;
  told.length = 0;
  t.equal(await round(), 'nothing new');
  const lifts = told.filter((line) => line.startsWith('DELETE http://node-a'));
  t.equal(lifts.length, 3, 'a node that did not hear of many is told with few requests');
  t.ok(lifts.every((line) => line.length < 8000));
  t.equal(lifts.join('&').match(/network=/g)?.length, 250);
  banned.set('http://node-a', []);

  t.match(await get('/api/rate-limits'), {
    enabled: false,
    nodes: [
      { node: 'http://node-a', answers: true, heavy: [{ network: '203.0.113.9', limited: 3 }], keys: 1 },
      { node: 'http://node-b', answers: false, zones: [], heavy: [] },
    ],
  });
  const googlebot = ((await get('/api/bots'))['crawlers'] as { crawler: string }[]).find(
    ({ crawler }) => crawler === 'Googlebot',
  );
  t.match(googlebot, { kind: 'search', verified: 0, impostor: 2 });
  const verify = (body: object) => at.call('POST', '/api/bots/verify', { token, body });
  t.match(await verify({ ip: '20.171.207.1', user_agent: 'GPTBot/1.1' }), {
    status: 200,
    body: { crawler: 'GPTBot', verdict: 'unverified' },
  });
  for (const body of [{ ip: 'x', crawler: 'Googlebot' }, { ip: '192.0.2.1' }, { ip: '192.0.2.1', crawler: 'nobody' }])
    t.equal((await verify(body)).status, 400, JSON.stringify(body));
  const { stages } = await get('/api/pipeline');
  t.match(stages[2], { name: 'crash-requests', kind: 'gate', applies_to: 'all', refuses: '503' });
  t.match(stages[3], { name: 'deny-list', kind: 'gate', applies_to: 'protected', refuses: '403' });
  await at.close();
}

t.test('8, 2: bans, limits and the pipeline over the API', (t) => onBothDatabases(t, 'edge', suite));
