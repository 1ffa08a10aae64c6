// U1: observation in the data plane: what a window says, what it never says, and that nothing in it grows.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { ObservedRequest, TrafficObserver, isInternalAddress, pollutedParameter } from './observer.js';
import { segmentKind, type SegmentKind } from './segment-kind.js';
import { normalPath, pathOf, shapeOf } from './path.js';
import type { ObservationBatch } from './observation.js';

const key = new Uint8Array(32).fill(7);

function observing(cellsMax?: number) {
  const batches: ObservationBatch[] = [];
  const observer = new TrafficObserver({
    key,
    send: (batch) => batches.push(batch),
    ...(cellsMax === undefined ? {} : { cellsMax }),
  });
  const see = (over: Partial<ObservedRequest>): void => {
    Object.assign(observer.request, new ObservedRequest(), {
      site: 'shop',
      method: 'GET',
      uri: '/',
      clientIp: '203.0.113.9',
      requestId: 'r1',
      status: 200,
      responseHeaders: ['Content-Type', 'application/json; charset=utf-8'],
      atMs: 1_000_000,
      ...over,
    });
    observer.observe();
  };
  const flush = (): ObservationBatch | undefined => {
    batches.length = 0;
    observer.flush(0, true);
    return batches[0];
  };
  return { observer, see, flush };
}

t.test('U1: a window says how a path is used, in names and counts, and holds no value', async (t) => {
  const { see, flush } = observing();
  const token = (sub: string): string =>
    `Bearer eyJhbGciOiJIUzI1NiJ9.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.c2ln`;
  see({ uri: '/orders/42?page=2&q=secret-term', headers: ['Authorization', token('alice')], latencyUs: 1500 });
  see({ uri: '/orders/42?page=3', headers: ['authorization', token('bob')], status: 403, requestId: 'r2' });
  see({
    uri: '/orders',
    method: 'POST',
    headers: ['Content-Type', 'application/json', 'X-Api-Key', 'k-123456'],
    body: Buffer.from('{"item":{"sku":"A-1"},"lines":[{"qty":2}],"mail":"a@b.example"}'),
    status: 201,
    clientIp: '10.1.2.3',
  });
  const batch = flush();
  const [order, orders] = batch?.observations ?? [];
  t.match(order, {
    site: 'shop',
    method: 'GET',
    path: '/orders/42',
    count: 2,
    statuses: { 200: 1, 403: 1 },
    credentials: { jwt: [1, 1, 0] },
    clients: { external: 2 },
    parameters: { 'query:page': { integer: 1 }, 'query:q': { string: 1 } },
    response_types: { 'application/json': 2 },
    latency_us: 1500,
    latency_us_max: 1500,
  });
  t.match(orders, {
    method: 'POST',
    path: '/orders',
    credentials: { api_key: [1, 0, 0] },
    clients: { internal: 1 },
    parameters: {
      'body:/item/sku': { string: 1 },
      'body:/lines/*/qty': { integer: 1 },
      'body:/mail': { email: 1 },
    },
    request_types: { 'application/json': 1 },
  });
  t.equal(batch?.sightings.length, 2, 'two people at an object');
  t.not(batch?.sightings[0]?.principal, batch?.sightings[1]?.principal);
  t.match(batch?.sightings[1], { denied: 1, ok: 0, credential: 'jwt', request_id: 'r2' });
  const text = JSON.stringify(batch);
  for (const value of ['secret-term', 'alice', 'bob', 'k-123456', 'a@b.example', 'A-1'])
    t.notMatch(text, value, `${value} is not kept`);
  t.equal(flush(), undefined, 'a window without requests says nothing');
});

t.test('U1: what is no API stays out: 404, files of pages, attacks, preflights', async (t) => {
  const { see, flush } = observing();
  see({ uri: '/no/such', status: 404 });
  see({ uri: '/app.js?v=3' });
  see({ uri: '/img/logo.PNG' });
  see({ uri: '/favicon.ico' });
  see({ uri: '/orders', method: 'OPTIONS' });
  see({ uri: '/orders?id=1%20or%201=1', isSuspicious: true });
  t.equal(flush(), undefined);
  see({ uri: '/export.csv' });
  see({ uri: '/app.js', method: 'POST' });
  t.equal(flush()?.observations.length, 2, 'data in a file is an API');
});

t.test('U1: a flood of paths keeps what was there before, and takes bounded memory', async (t) => {
  const { observer, see, flush } = observing(64);
  for (let round = 0; round < 3; round += 1) {
    see({ uri: '/real/list' });
    see({ uri: '/real/list' });
    if (round === 0) flush();
  }
  for (let at = 0; at < 20_000; at += 1) see({ uri: `/scan/x${at.toString(36)}q/${at}`, atMs: 1_000_000 + at });
  see({ uri: '/real/list' });
  const batch = flush();
  const real = batch?.observations.find(({ path }) => path === '/real/list');
  t.equal(real?.count, 5, 'the path that was there is counted exactly');
  t.ok((batch?.observations.length ?? 0) <= 64 + 512, `${batch?.observations.length} rows`);
  const counted = (batch?.observations ?? []).reduce((sum, { count }) => sum + count, 0);
  t.equal(counted + (batch?.dropped ?? 0), 20_005, 'every request is counted or dropped');
  for (let at = 0; at < 5000; at += 1) see({ uri: `/gone/${at}`, status: 404 });
  for (let at = 0; at < 5000; at += 1) see({ uri: `/forbidden/${at}`, status: 403 });
  see({ uri: '/new/thing' });
  t.ok(
    flush()?.observations.some(({ path }) => path === '/new/thing'),
    'a new path finds room beside refused ones',
  );
  t.equal(observer.counters.dropped > 0, true);
});

t.test('U1: a million distinct paths leave the heap flat', async (t) => {
  const { see, flush } = observing();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let at = 0; at < 50_000; at += 1) see({ uri: `/p/${at}/a`, atMs: at });
  flush();
  const before = used();
  for (let at = 0; at < 1_000_000; at += 1) {
    see({ uri: `/p/${at}/w${(at * 7919).toString(36)}`, atMs: at });
    if (at % 50_000 === 0) flush();
  }
  flush();
  const grown = used() - before;
  t.ok(grown < 4 * 1024 * 1024, `grown by ${grown} bytes`);
});

t.test('U1: kinds of segments', async (t) => {
  const cases: [string, SegmentKind][] = [
    ['42', 'integer'],
    ['2024', 'year'],
    ['1234567890123456789', 'snowflake'],
    ['6f1c2a9e-58b1-4d0a-9a3e-0b7c1d2e3f40', 'uuid'],
    ['018f3b1e-7c2a-7d3b-8a1e-2b3c4d5e6f70', 'uuid'],
    ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'ulid'],
    ['507f1f77bcf86cd799439011', 'objectid'],
    ['9f86d081884c7d65', 'hex'],
    ['2026-03-01', 'date'],
    ['2026-03-01T12:00:00Z', 'date'],
    ['a.b@example.org', 'email'],
    ['a%40example.org', 'email'],
    ['v1', 'version'],
    ['v2.1', 'version'],
    ['en-US', 'locale'],
    ['de', 'language'],
    ['me', 'word'],
    ['users', 'word'],
    ['red-running-shoes', 'slug'],
    ['cus_9s6XKzkNRiz8i3', 'prefixed'],
    ['ORD-10042', 'prefixed'],
    ['dQw4w9WgXcQ', 'token'],
    ['eyJhbGciOiJIUzI1NiJ9', 'token'],
    ['getUserProfileInformation', 'word'],
    ['deadbeef', 'word'],
    ['iphone15', 'slug'],
    ['x'.repeat(600), 'other'],
    ['', 'other'],
  ];
  for (const [text, kind] of cases) t.equal(segmentKind(text), kind, text);
});

t.test('U1: one form for the spellings of a path', async (t) => {
  t.equal(normalPath(pathOf('/orders//42/;jsessionid=1?x=/y')), '/orders/42');
  t.equal(normalPath(pathOf('http://shop.example/a/%62?q')), '/a/b');
  t.equal(normalPath('/a/{integer}'), '/a/%7Binteger%7D', 'braces of clients are no shapes');
  t.equal(normalPath('/a%2Fb/%00'), '/a%2Fb/%00');
  t.equal(shapeOf('/orders/42/items/9f86d081884c7d65'), '/orders/{integer}/items/{hex}');
  t.equal(pathOf('/'), '/');
});

t.test('U1: logins by account, polluted parameters, internal addresses', async (t) => {
  const { see, flush } = observing();
  for (const user of ['Ann', 'ann ', 'bob'])
    see({
      uri: '/api/login',
      method: 'POST',
      status: 401,
      headers: ['Content-Type', 'application/json'],
      body: Buffer.from(JSON.stringify({ username: user, password: 'x' })),
    });
  const [sighting] = flush()?.sightings ?? [];
  t.equal(sighting?.accounts.length, 2);
  t.equal(sighting?.denied, 3);
  t.equal(pollutedParameter('/orders/12345', '/orders/12345?orderId=67890'), 'orderId');
  t.equal(pollutedParameter('/orders/12345', '/orders/12345?orderId=12345'), null);
  t.equal(pollutedParameter('/orders/12345', '/orders/12345?userId=3'), null, 'another noun');
  t.equal(pollutedParameter('/orders', '/orders?role=user&role=admin'), 'role');
  t.equal(pollutedParameter('/orders', '/orders?tag[]=a&tag[]=b'), null, 'a list');
  for (const [ip, isInternal] of [
    ['10.0.0.1', true],
    ['172.16.0.1', true],
    ['172.32.0.1', false],
    ['100.64.0.1', true],
    ['::1', true],
    ['fd00::1', true],
    ['2001:db8::1', false],
    ['::ffff:192.168.1.1', true],
    ['203.0.113.1', false],
  ] as const)
    t.equal(isInternalAddress(ip), isInternal, ip);
});
