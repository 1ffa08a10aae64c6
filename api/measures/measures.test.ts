// What is denied by any source is listed by each view that it belongs to, and lifted from all of them.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createNodeGates } from '../edge/node-gates.js';
import { startTestApp, type TestApp } from '../testing/app.js';
import { onBothDatabases, onOneDatabase } from '../testing/databases.js';
import { addBans } from '../edge/store.js';
import { listSources, measureSources, type MeasureSource } from './model.js';
import { addDenials, addEachDenial, decide, replaceFeed } from './store.js';

const principal = 'jwt:0123456789abcdef';
/** Where each source's denial is written as that source writes it. */
type Deny = (at: TestApp, database: Database, subject: string, token: string) => Promise<unknown>;
const until = (at: TestApp): Date => new Date(at.clock.nowMs + 600_000);
const feed =
  (source: MeasureSource): Deny =>
  (at, { sql }, subject) =>
    sql.begin((tx) => replaceFeed(tx, source, [subject], new Date(at.clock.nowMs)));

const writers: Readonly<Record<string, { readonly source: MeasureSource; readonly deny: Deny }>> = {
  'POST /api/bans': {
    source: 'manual',
    deny: (at, _database, network, token) =>
      at.call('POST', '/api/bans', { token, body: { network, action: 'deny', reason: 'why' } }),
  },
  'POST /api/threat-intel': {
    source: 'manual',
    deny: (at, _database, network, token) =>
      at.call('POST', '/api/threat-intel', { token, body: { addresses: [network], reason: 'why' } }),
  },
  'a ban of a node': {
    source: 'auto-ban',
    deny: (at, { sql }, network) => {
      const ban = { network, zone: 'login', requestId: 'r', offence: 1, threshold: 5, windowSeconds: 60 };
      const times = { atMs: at.clock.nowMs, untilMs: until(at).getTime() };
      return sql.begin((tx) => addBans(tx, 'http://node-a', [{ ...ban, ...times }]));
    },
  },
  'the detection engine': {
    source: 'ai',
    deny: (at, { sql }, subject) =>
      sql.begin((tx) =>
        addEachDenial(
          tx,
          [{ subject, reason: 'risk 90', expiresAt: until(at) }],
          { source: 'ai', addedBy: 'detection engine' },
          new Date(at.clock.nowMs),
        ),
      ),
  },
  'a finding of API abuse': {
    source: 'api-abuse',
    deny: (at, { sql }, subject) =>
      sql.begin((tx) =>
        addDenials(
          tx,
          { subjects: [subject], source: 'api-abuse', reason: 'BOLA', addedBy: 'system', expiresAt: until(at) },
          new Date(at.clock.nowMs),
        ),
      ),
  },
  'exit nodes of Tor': { source: 'tor', deny: feed('tor') },
  'a feed': { source: 'feed', deny: feed('feed') },
  'the managed feed': { source: 'managed', deny: feed('managed') },
};

/** How each view names a subject, lists it and lifts it. */
const views = [
  { path: '/api/bans', list: '/api/bans?limit=500', name: 'network' },
  { path: '/api/threat-intel', list: '/api/threat-intel?limit=500', name: 'network' },
  { path: '/api/verdicts', list: '/api/verdicts?limit=500', name: 'network' },
  { path: '/api/measures', list: '/api/measures?limit=500', name: 'subject' },
] as const;
/** Views of single decisions do not show what lists name, and lift it all the same. */
const showsLists = new Set(['/api/threat-intel', '/api/measures']);

function recordingNodes() {
  const told: string[] = [];
  const gates = createNodeGates(['http://node-a'], {
    ask: async (_url, method, path) => {
      told.push(`${method} ${path}`);
      return path === '/bans' ? { bans: [] } : { outcome: 'active' };
    },
  });
  return { told, gates };
}

async function everyPair(t: Test, database: Database): Promise<void> {
  const { told, gates } = recordingNodes();
  let pushed = 0;
  const at = await startTestApp(database, { nodeGates: gates, measuresChanged: async () => void pushed++ });
  t.teardown(() => at.close());
  const { token, email } = await at.user('operator');
  const items = async (list: string) => (await at.call('GET', list, { token })).body['items'] as Record<string, any>[];
  let number = 0;
  for (const [writer, { source, deny }] of Object.entries(writers))
    for (const lifter of views) {
      number += 1;
      // each source and each view with another kind of subject
      const kinds = [`198.51.100.${number}`, `203.${number}.0.0/16`, `2001:db8:${number}::/64`];
      const subject = kinds[number % kinds.length] as string;
      await deny(at, database, subject, token);
      const what = `${writer}, ${subject}`;
      for (const { list, name, path } of views) {
        const found = (await items(list)).filter((one) => one[name] === subject);
        const isShown = showsLists.has(path) || !listSources.includes(source);
        t.equal(found.length, isShown ? 1 : 0, `${what}: ${isShown ? 'listed' : 'not listed'} by ${path}`);
        if (isShown) t.equal(found[0]?.['source'], source);
      }
      pushed = told.length = 0;
      const path = `${lifter.path}?${lifter.name}=${encodeURIComponent(subject)}`;
      const lifted = await at.call('DELETE', path, { token });
      t.ok(lifted.status === 204 || lifted.status === 200, `${what}: lifted by ${lifter.path}: ${lifted.text}`);
      t.equal(pushed, 1, 'nodes get the list without it');
      t.ok(told.includes(`DELETE /bans?network=${encodeURIComponent(subject)}`), 'and forget a ban of their own');
      for (const { list, name, path: view } of views)
        t.notOk(
          (await items(list)).some((one) => one[name] === subject),
          `${what}: gone from ${view}`,
        );
      t.equal((await at.call('DELETE', path, { token })).status, 404, 'it is lifted once');
      if (listSources.includes(source)) continue;
      const query = `state=lifted&q=${encodeURIComponent(subject)}`;
      t.match(await items(`/api/measures?${query}`), [{ subject, source, state: 'lifted', lifted_by: email }]);
      t.match(
        (await items('/api/bans?state=all&limit=500')).find((one) => one['network'] === subject),
        { state: 'lifted', lifted_by: email, source },
      );
    }
}

/** Those that name clients themselves; places have a test of their own. */
const direct = measureSources.filter((one) => one !== 'location');

async function sources(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const viewer = await at.user('viewer');
  const items = async (path: string) =>
    (await at.call('GET', path, { token: viewer.token })).body['items'] as Record<string, any>[];
  const subject = '198.51.100.7';
  for (const { deny } of Object.values(writers)) await deny(at, database, subject, token);
  t.same((await items('/api/measures')).map(({ source }) => source).sort(), [...direct].sort(), 'one for each source');
  t.equal((await items('/api/threat-intel')).length, direct.length);
  t.same((await items('/api/bans?source=auto-ban,ai')).map(({ source }) => source).sort(), ['ai', 'auto-ban']);
  t.same((await items('/api/measures?source=tor,manual&action=deny')).map(({ source }) => source).sort(), [
    'manual',
    'tor',
  ]);
  const one = await at.call('DELETE', `/api/measures?subject=${subject}&source=ai`, { token });
  t.match(one, { status: 200, body: { lifted: [{ action: 'deny', source: 'ai' }] } });
  t.equal((await items('/api/measures')).length, direct.length - 1, 'the others stay');
  t.equal((await at.call('DELETE', `/api/bans?network=${subject}`, { token: viewer.token })).status, 403);
  t.equal((await at.call('DELETE', `/api/measures?subject=${subject}`, { token: viewer.token })).status, 403);
  t.equal((await at.call('DELETE', `/api/bans?network=198.51.100.7/32`, { token })).status, 204, 'canonical');
  t.same(await items('/api/measures'), [], 'one call lifts what all of them decided');
  const trail = (await at.call('GET', '/api/audit?action=ban.lift', { token })).body['items'] as { summary: string }[];
  t.match(trail, [{ summary: `lifted the ban of ${subject}` }]);
}

async function decisions(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const items = async (path: string) => (await at.call('GET', path, { token })).body['items'] as Record<string, any>[];
  const add = (network: string, action: string) =>
    at.call('POST', '/api/bans', { token, body: { network, action, expires_in_seconds: 60 } });
  const lift = async (view: string, network: string) =>
    (await at.call('DELETE', `/api/${view}?network=${encodeURIComponent(network)}`, { token })).status;
  for (const action of ['deny', 'challenge', 'throttle']) {
    t.equal((await add(principal, action)).status, 200);
    t.match(await items('/api/verdicts'), [{ network: principal, action, source: 'manual' }], 'the last one holds');
  }
  t.equal(await lift('bans', principal), 404, 'a throttle is no ban');
  t.equal((await add(principal, 'deny')).status, 200);
  t.match(await items('/api/bans'), [{ network: principal, scope: 'principal', zone: null, source: 'manual' }]);
  t.same(await items('/api/threat-intel'), [], 'a principal is no address');
  t.equal(await lift('bans', principal), 204);
  t.same(await items('/api/verdicts'), []);

  const network = '198.51.100.7';
  await add(network, 'throttle');
  await add(network, 'deny');
  t.same(
    (await items('/api/verdicts')).map(({ action }) => action),
    ['deny', 'throttle'],
  );
  t.equal(await lift('threat-intel', network), 204);
  t.same(
    (await items('/api/verdicts')).map(({ action }) => action),
    ['throttle'],
    'a view lifts what it lists',
  );
  await database.sql.begin((tx) =>
    decide(
      tx,
      [{ subject: network, action: 'challenge', reason: '', expiresAt: until(at) }],
      { source: 'ai', addedBy: 'detection engine' },
      new Date(at.clock.nowMs),
    ),
  );
  t.match(await items('/api/verdicts'), [{ action: 'challenge', source: 'ai' }]);
  t.equal(await lift('verdicts', network), 204);
  t.match(await items('/api/measures?state=lifted&kind=address'), [{ action: 'challenge' }, { action: 'deny' }]);
  await add('203.0.113.0/24', 'deny');
  at.clock.nowMs += 61_000;
  for (const view of ['bans', 'verdicts', 'threat-intel', 'measures']) t.same(await items(`/api/${view}`), [], view);
  t.match(await items('/api/measures?state=ended'), [{ subject: '203.0.113.0/24', state: 'ended', kind: 'network' }]);
  t.match(await add('203.0.113.0/24', 'deny'), { status: 200 });
  t.equal((await items('/api/bans')).length, 1, 'it can be denied again');
  for (const path of ['/api/measures?state=x', '/api/measures?source=nobody', '/api/measures?cursor=x'])
    t.equal((await at.call('GET', path, { token })).status, 400, path);
}

async function pages(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const wanted = Array.from({ length: 57 }, (_, n) => `198.51.${n}.0/24`);
  const now = new Date(at.clock.nowMs);
  const denial = { reason: '', addedBy: 'x', expiresAt: null };
  for (const source of ['manual', 'ai'] as const)
    await database.sql.begin((tx) => addDenials(tx, { ...denial, subjects: wanted, source }, now));
  for (const path of ['/api/bans', '/api/verdicts', '/api/measures', '/api/threat-intel']) {
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await at.call('GET', `${path}?limit=10${cursor === '' ? '' : `&cursor=${cursor}`}`, { token });
      for (const one of page.body['items']) seen.push(`${one.network ?? one.subject} ${one.source}`);
      if (page.body['next_cursor'] === null) break;
      cursor = String(page.body['next_cursor']);
    }
    t.equal(seen.length, 2 * wanted.length, path);
    t.equal(new Set(seen).size, seen.length, `${path}: each once`);
  }
}

t.test('each source, each view, each kind of subject', (t) => onOneDatabase(t, 'pairs', everyPair));
t.test('several sources for one client', (t) => onBothDatabases(t, 'sources', sources));
t.test('challenges, throttles and principals', (t) => onBothDatabases(t, 'decisions', decisions));
t.test('pages of every view', (t) => onBothDatabases(t, 'pages', pages));
