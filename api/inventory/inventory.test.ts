// U3: from windows of nodes to the inventory, on both databases.
import t, { type Test } from 'tap';
import { TrafficObserver, type Observation, type ObservationBatch } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases, onOneDatabase } from '../testing/databases.js';
import { foldCells } from './fold.js';
import type { Cell } from './cells.js';
import { statsOf } from './stats.js';

const atMs = Date.parse('2026-03-01T12:00:00Z');
const observation = (over: Partial<Observation>): Observation => ({
  site: 'shop',
  method: 'GET',
  path: '/orders/1',
  count: 1,
  first_ms: atMs,
  last_ms: atMs,
  statuses: { 200: over.count ?? 1 },
  credentials: { jwt: [1, 0, 0] },
  clients: { external: 1 },
  parameters: {},
  request_types: {},
  response_types: { 'application/json': 1 },
  pii: {},
  request_bytes: 10,
  response_bytes: 100,
  latency_us: 1000,
  latency_us_max: 1000,
  ...over,
});
let batches = 0;
const batch = (observations: Observation[], over: Partial<ObservationBatch> = {}): ObservationBatch => ({
  batch_id: `b${(batches += 1)}`,
  observations,
  sightings: [],
  relations: [],
  dropped: 0,
  ...over,
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const viewer = await at.user('viewer');
  const send = async (given: ObservationBatch) =>
    at.call('POST', '/api/dataplane/observations', { token: 'c'.repeat(40), body: { node: 'n1', batch: given } });
  const get = (path: string) => at.call('GET', path, { token: viewer.token });
  const list = async (query = '') => (await get(`/api/inventory${query}`)).body['items'] as Record<string, any>[];

  const first = batch([
    ...Array.from({ length: 31 }, (_, index) => observation({ path: `/orders/${index + 100}` })),
    observation({ path: '/users/me', credentials: { none: [0, 2, 0], session: [3, 0, 0] }, clients: { internal: 5 } }),
    observation({ method: 'POST', path: '/admin/users', credentials: { none: [1, 0, 0] }, statuses: { 201: 1 } }),
    observation({ path: '/wp-login.php', statuses: { 404: 50 }, count: 50, credentials: { none: [0, 0, 50] } }),
    observation({ path: '/only/denied', statuses: { 401: 5 }, count: 5, credentials: { none: [0, 5, 0] } }),
    observation({ path: '/main.js' }),
  ]);
  t.match((await send(first)).body, { duplicate: false });
  t.match((await send(first)).body, { duplicate: true, stored: 0 }, 'sent again');
  const items = await list();
  t.same(
    items.map(({ method, template, hits }) => `${method} ${template} ${hits}`),
    ['POST /admin/users 1', 'GET /orders/{id} 31', 'GET /users/me 1'],
    '404, refused for all, and files of pages are no endpoints',
  );
  const [admin, orders, me] = items;
  t.match(orders?.['segments'][1], { text: '{id}', evidence: { distinct: 31, kinds: { integer: 31 } } });
  t.match(orders?.['segments'][1].evidence.reason, /^merged because 31 distinct values stand here \(entropy 5\.0/);
  t.match(orders, { access: 'public', auth: 'unknown', auth_types: ['jwt'], shadow: null, sources: { waf: 31 } });
  t.match(me, { access: 'private', auth: 'enforced', auth_types: ['session'] });
  t.match(admin, { auth: 'accepted-without', classification: 'Internal', risk: { score: 3.5, band: 'high' } });

  await send(
    batch([observation({ path: '/orders/7000', statuses: { 403: 2 }, count: 2, credentials: { none: [0, 2, 0] } })]),
  );
  const [again] = await list('?q=orders');
  t.match(again, { hits: 33, auth: 'enforced' }, 'a refusal at an endpoint that is known counts there');

  const stats = await get('/api/inventory/stats');
  t.match(stats.body, { endpoints: 3, sites: 1, unprotected_sensitive: 1, by_auth: { enforced: 2 } });
  t.match((await get('/api/inventory/stats?site=none')).body, { endpoints: 0, hits: 0 });
  t.equal((await list('?method=POST&auth=accepted-without&band=high')).length, 1);
  t.equal((await list('?shadow=true')).length, 0);
  t.same(
    (await list('?unprotected_sensitive=true')).map(({ template }) => template),
    ['/admin/users'],
    'L4: the figure has its list',
  );
  t.equal((await list('?unprotected_sensitive=false')).length, 2, 'L4: and the others theirs');
  t.equal((await list('?unprotected_sensitive=true&method=GET')).length, 0);
  t.equal((await get('/api/inventory?unprotected_sensitive=perhaps')).status, 400);
  t.equal((await get('/api/inventory/export?unprotected_sensitive=true')).text.trim().split('\r\n').length, 2);
  t.equal((await get('/api/inventory?auth=perhaps')).status, 400);
  const page = await get('/api/inventory?limit=2');
  const cursor = String(page.body['next_cursor']);
  t.equal((await list(`?limit=2&cursor=${cursor}`))[0]?.['template'], '/users/me');
  const csv = await get('/api/inventory/export?method=GET');
  t.match(csv.headers['content-type'], /text\/csv/);
  t.equal(csv.text.trim().split('\r\n').length, 3);
  t.match(csv.text, /^site,method,template,/);

  const split = await at.call('POST', '/api/inventory/split', {
    token,
    body: { site: 'shop', place: '/orders', apart: true },
  });
  t.same(split.body['places'], ['/orders']);
  t.ok((await list('?q=orders')).length >= 31, 'told apart, with the sums of each');
  t.equal((await list('?q=/orders/117'))[0]?.['hits'], 1);
  await at.call('POST', '/api/inventory/split', { token, body: { site: 'shop', place: '/orders', apart: false } });
  t.match((await list('?q=orders'))[0], { template: '/orders/{id}', hits: 33 }, 'merged again, nothing is lost');
  const noSite = await at.call('POST', '/api/inventory/split', {
    token,
    body: { site: 'nowhere', place: '/orders', apart: true },
  });
  t.equal(noSite.status, 404);

  for (let round = 0; round < 10; round += 1)
    await send(
      batch(
        Array.from({ length: 1000 }, (_, index) =>
          observation({ path: `/scan-${round}/${index.toString(36)}x`, statuses: { 404: 1 } }),
        ),
      ),
    );
  t.equal((await list('?limit=500')).length, 3, '10,000 random paths that are 404 add nothing');
  t.equal((await list('?q=/users/me'))[0]?.['hits'], 1);
  await send(batch(Array.from({ length: 5000 }, (_, index) => observation({ path: `/page-${index}-of-words` }))));
  t.ok((await list('?limit=500')).length <= 5, 'nor do pages that a site answers to everything');
  const [{ cells } = { cells: 0 }] = await database.sql<
    { cells: number }[]
  >`select count(*)::int as cells from api_cells`;
  t.ok(cells < 200, `${cells} paths are told apart`);
  t.match((await list('?q=orders'))[0], { template: '/orders/{id}', hits: 33 });
  t.equal((await send(batch([observation({ path: '/a\0b' })]))).status, 200, 'what cannot be stored is replaced');
}

t.test('U3: the inventory', (t) => onBothDatabases(t, 'windows become endpoints', suite));

/** One worker's windows of an application that answers its page to whatever is asked, beside its real endpoints. */
function windowsOfScanner(paths: number): ObservationBatch[] {
  const windows: ObservationBatch[] = [];
  const observer = new TrafficObserver({ key: new Uint8Array(32).fill(7), send: (one) => windows.push(one) });
  const see = (uri: string, at: number): void => {
    const request = { site: 'shop', method: 'GET', uri, status: 200, atMs: atMs + at, responseBytes: 900 };
    Object.assign(observer.request, request, { clientIp: '203.0.113.9', requestId: 'r' });
    observer.observe();
    observer.flush(atMs + at);
  };
  for (let at = 0; at < 3 * realPaths; at += 1) see(`/api/resource${at % realPaths}/list`, at);
  for (let at = 0; at < paths; at += 1) {
    see(`/${((at * 2_654_435_761) % 4_294_967_296).toString(36)}/x${at}`, 3000 + Math.floor(at / 25));
    if (at % 10 === 0) see(`/api/resource${(at / 10) % realPaths}/list`, 3000 + Math.floor(at / 25));
  }
  observer.flush(atMs + 1e9, true);
  return windows;
}
const realPaths = 40;

async function scannerAnswered(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('viewer');
  const paths = 200_000;
  for (const window of windowsOfScanner(paths)) {
    const body = { node: 'n1', batch: window };
    const sent = await at.call('POST', '/api/dataplane/observations', { token: 'c'.repeat(40), body });
    t.equal(sent.status, 200, sent.text.slice(0, 300));
  }
  const { body } = await at.call('GET', '/api/inventory/stats', { token });
  const items = (await at.call('GET', '/api/inventory?limit=500', { token })).body['items'] as Record<string, any>[];
  const real = items.filter(({ template }) => /^\/api\/resource\d+\/list$/.test(template));
  t.equal(real.length, realPaths, 'every real endpoint is there, and none was pushed out');
  t.same([...new Set(real.map(({ hits }) => hits))], [3 + paths / 10 / realPaths], 'each with all of its requests');
  t.ok(items.length - real.length <= 3, `${items.length - real.length} endpoints of the scanner`);
  const [{ cells } = { cells: 0 }] = await database.sql<
    { cells: number }[]
  >`select count(*)::int as cells from api_cells`;
  t.ok(cells < 1000, `${cells} paths are told apart`);
  t.ok(body['dropped'] > 0, 'what was left out is told');
  t.equal(body['hits'] + body['dropped'], 3 * realPaths + paths + paths / 10, 'and nothing went without a word');
}

t.test('U3: 200,000 random paths that are answered 200', (t) =>
  onOneDatabase(t, 'a scanner that gets pages', scannerAnswered),
);

t.test('U3: the inventory is the same in whatever pieces it came', async (t) => {
  const cells = Array.from({ length: 300 }, (_, index): Cell => {
    const path = [`/orders/${index}`, `/users/u-${index}x9z/posts`, '/health'][index % 3] as string;
    const one = observation({ path, count: 1 + (index % 4) });
    return { site: 'shop', method: 'GET', path, stats: statsOf(one, 'waf'), firstMs: atMs, lastMs: atMs + index };
  });
  const none = { declared: [], apart: new Set<string>() };
  const show = (given: readonly Cell[]) =>
    foldCells(given, none)
      .endpoints.map(({ template, stats }) => `${template} ${stats.count}`)
      .sort();
  t.same(show([...cells].reverse()), show(cells));
  const { gone, changed } = foldCells(cells, none);
  const left = [...cells.filter((cell) => !gone.includes(cell)), ...changed];
  t.ok(left.length < cells.length);
  t.same(show(left), show(cells), 'also of those that are no longer told apart');
  const declared = [{ method: 'GET', template: '/orders/{orderId}', segments: ['orders', '{orderId}'] }];
  const withSpec = foldCells(cells, { declared, apart: new Set() });
  t.ok(withSpec.endpoints.some(({ template }) => template === '/orders/{orderId}'));
});

const specification = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders/{orderId}:
    parameters: [{name: orderId, in: path, required: true, schema: {type: integer}}]
    get: {responses: {default: {description: any}}}
  /orders/107:
    get: {responses: {default: {description: any}}}
`;

async function declares(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const seen = (path: string) => observation({ site: 'customer', path });
  const given = batch([
    ...Array.from({ length: 31 }, (_, index) => seen(`/orders/${index + 100}`)),
    seen('/unknown/thing'),
  ]);
  await at.call('POST', '/api/dataplane/observations', { token: 'c'.repeat(40), body: { node: 'n1', batch: given } });
  const list = async () =>
    ((await at.call('GET', '/api/inventory', { token })).body['items'] as Record<string, any>[])
      .map(({ template, shadow }) => `${template} ${shadow}`)
      .sort();
  t.same(await list(), ['/orders/{id} null', '/unknown/thing null'], 'nobody has declared anything');
  const headers = { 'content-type': 'application/yaml' };
  const sent = await at.call('POST', '/api/spec?site=customer', { token, body: specification, headers });
  t.equal(sent.status, 200, sent.text);
  t.same(
    await list(),
    ['/orders/107 false', '/orders/{orderId} false', '/unknown/thing true'],
    'an upload is seen at once: literals stay, and what is not declared is a shadow',
  );
  const own = (await at.call('GET', '/api/settings', { token })).headers['etag'];
  await at.call('PATCH', '/api/settings', { token, body: { api_specs: [] }, headers: { 'if-match': String(own) } });
  t.same(await list(), ['/orders/{id} null', '/unknown/thing null'], 'taken out of the settings, it declares nothing');
}

t.test('U3: what a specification declares', (t) => onBothDatabases(t, 'literals and shadows', declares));
