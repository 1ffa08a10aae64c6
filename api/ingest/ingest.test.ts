// U4, U6: records of others: the shapes of their senders, hostile ones, retries, and who asks whom inside.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { gatewayTypes, readGatewayRecord } from './connectors/gateways.js';
import { readHarEntry, readMeshRecord } from './connectors/archives.js';
import { createIntake } from './intake.js';
import type { ForeignExchange } from './exchange.js';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

const kong = {
  request: {
    id: 'k-1',
    uri: '/orders/42?page=1',
    url: 'http://api.shop.example:8000/orders/42?page=1',
    method: 'GET',
    size: '320',
    headers: { host: 'api.shop.example', authorization: 'REDACTED', accept: ['*/*', 'a/b'] },
  },
  response: { status: 200, size: 900, headers: { 'content-type': 'application/json' } },
  latencies: { kong: 1, proxy: 20, request: 22 },
  client_ip: '203.0.113.7',
  started_at: nowMs - 5000,
  upstream_uri: '/orders/42',
};
const aws = {
  requestId: 'a-1',
  ip: '198.51.100.4',
  caller: '-',
  user: '-',
  requestTime: '01/Mar/2026:11:59:00 +0000',
  httpMethod: 'GET',
  resourcePath: '/orders/{orderId}',
  status: '403',
  protocol: 'HTTP/1.1',
  responseLength: '23',
};
const nginx = {
  time_iso8601: '2026-03-01T11:58:00+00:00',
  remote_addr: '203.0.113.9',
  request: 'POST /orders HTTP/1.1',
  status: '201',
  body_bytes_sent: '15',
  request_time: '0.012',
  upstream_response_time: '0.004, -',
  http_user_agent: 'curl/8',
  host: 'api.shop.example',
};
const apigee = {
  client_ip: '10.0.0.4',
  request_verb: 'GET',
  proxy_basepath: '/v1',
  proxy_pathsuffix: '/orders/77',
  response_status_code: 200,
  client_received_start_timestamp: String(nowMs - 1000),
  total_response_time: 30,
  client_id: 'app-1',
};
const generic = { method: 'get', uri: '/orders/9', status: '200', ip: '203.0.113.1:443', user_agent: 'x' };

t.test('U4: each gateway, by name and told by its members', async (t) => {
  const cases: [(typeof gatewayTypes)[number], object, Partial<ForeignExchange>][] = [
    ['generic', generic, { method: 'GET', uri: '/orders/9', status: 200, clientIp: '203.0.113.1', atMs: nowMs }],
    [
      'kong',
      kong,
      { uri: '/orders/42?page=1', host: 'api.shop.example', latencyUs: 22_000, requestBytes: 320, id: 'k-1' },
    ],
    ['aws', aws, { uri: '/orders/1', status: 403, clientIp: '198.51.100.4', atMs: Date.parse('2026-03-01T11:59:00Z') }],
    ['nginx', nginx, { method: 'POST', uri: '/orders', latencyUs: 12_000, responseBytes: 15 }],
    ['apigee', apigee, { uri: '/v1/orders/77', latencyUs: 30_000, caller: { kind: 'api_key', name: 'app-1' } }],
  ];
  for (const [type, record, expected] of cases) {
    t.match(readGatewayRecord(type, record, nowMs), expected, type);
    t.match(readGatewayRecord('auto', record, nowMs), expected, `auto: ${type}`);
  }
  t.match(readGatewayRecord('kong', kong, nowMs), { caller: { kind: 'other', name: '' }, knowsCredentials: true });
  const v2 = {
    routeKey: 'GET /pets/{id}',
    path: '/prod/pets/7',
    stage: 'prod',
    status: '200',
    'identity.sourceIp': '192.0.2.1',
  };
  t.match(readGatewayRecord('aws', v2, nowMs), { method: 'GET', uri: '/pets/7', clientIp: '192.0.2.1' });
});

t.test('U4: hostile records are refused with a reason, and nothing else happens', async (t) => {
  const bomb = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`) as object;
  const cases: [unknown, RegExp][] = [
    [null, /no object/],
    [42, /no object/],
    [[generic], /no object/],
    [{}, /uri is missing/],
    [{ ...generic, uri: 7 }, /no path/],
    [{ ...generic, uri: 'orders' }, /no path/],
    [{ ...generic, uri: `/${'a'.repeat(10_000_000)}` }, /longer than/],
    [{ ...generic, method: 'GET /x' }, /method is none/],
    [{ ...generic, method: undefined }, /method is missing/],
    [{ ...generic, status: 'teapot' }, /status is no number/],
    [{ ...generic, status: 9000 }, /status is no status/],
    [{ ...generic, status: undefined }, /status is no status/],
    [{ ...generic, latency_ms: {} }, /latency_ms is no number/],
    [bomb, /uri is missing/],
  ];
  for (const [record, reason] of cases)
    t.throws(() => readGatewayRecord('auto', record, nowMs), reason, String(reason));
  t.throws(() => readHarEntry({ request: {} }, nowMs), /request or response/);
  t.throws(() => readMeshRecord({ path: '/a' }, nowMs), /source is missing/);
  const envoy = {
    method: 'GET',
    path: '/stock/7',
    response_code: 200,
    authority: 'stock',
    downstream_peer_subject: '-',
  };
  t.match(
    readMeshRecord({ ...envoy, downstream_remote_address: '10.1.2.3:44312' }, nowMs),
    { hop: { from: '10.1.2.3', to: 'stock', isIdentified: false }, clientIp: '10.1.2.3' },
    '24: Envoy without a certificate',
  );
  for (const principalId of ['-', ''])
    t.match(readGatewayRecord('aws', { ...aws, principalId }, nowMs), { caller: null, knowsCredentials: false }, '24');
  t.match(readGatewayRecord('aws', { ...aws, principalId: 'u7' }, nowMs), { knowsCredentials: true }, '24');
  t.throws(() => readGatewayRecord('generic', { uri: '/a\0b', method: 'GET', status: 200 }, nowMs), /NUL/, '24');
  for (const odd of [
    { timestamp: 'yesterday' },
    { timestamp: 9e99 },
    { timestamp: {} },
    { ip: 'nobody' },
    { headers: 7 },
  ])
    t.match(readGatewayRecord('generic', { ...generic, ...odd }, nowMs), { uri: '/orders/9', atMs: nowMs });
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const post = async (path: string, payload: string | Buffer, headers: Record<string, string> = {}) => {
    const reply = await at.app.inject({
      method: 'POST',
      url: path,
      payload,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    });
    return { status: reply.statusCode, headers: reply.headers, body: reply.json<Record<string, any>>() };
  };
  const get = async (path: string) => (await at.call('GET', path, { token })).body;
  const templates = async () =>
    (await get('/api/inventory?limit=500'))['items'].map(
      ({ site, method, template, hits }: Record<string, string | number>) => `${site} ${method} ${template} ${hits}`,
    );

  const mixed = await post(
    '/api/gateway/auto',
    JSON.stringify([kong, aws, nginx, apigee, generic, { uri: '/x' }, 'no']),
  );
  t.equal(mixed.status, 200);
  t.match(mixed.body, { accepted: 5, rejected_total: 2, duplicate: false });
  t.same(mixed.body['rejected'], [
    { index: 5, reason: 'method is missing' },
    { index: 6, reason: 'is no object' },
  ]);
  t.match(mixed.body['warnings'].join(' '), /do not say whether there was a credential/);
  t.match((await post('/api/gateway/auto', JSON.stringify([kong]))).body, { accepted: 1, duplicates: 1 });
  const lines = gzipSync(
    `${JSON.stringify(generic)}\n{"broken\n${JSON.stringify({ ...generic, uri: '/orders/10' })}\n`,
  );
  const ndjson = await post('/api/gateway/generic?site=shop', lines, {
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
    'idempotency-key': 'one',
  });
  t.match(ndjson.body, { accepted: 2, rejected: [{ index: 1, reason: 'is no JSON' }] });
  const again = await post('/api/gateway/generic?site=shop', lines, {
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
    'idempotency-key': 'one',
  });
  t.match(again.body, { duplicate: true });
  const found = await templates();
  t.ok(found.includes('shop GET /orders/{id} 2'), `counted once: ${found}`);
  t.ok(found.includes('api.shop.example GET /orders/{id} 1'));

  const har = {
    log: {
      version: '1.2',
      creator: { name: 'x', version: '1' },
      entries: [
        {
          startedDateTime: '2026-03-01T11:00:00.000Z',
          time: 12.5,
          request: {
            method: 'POST',
            url: 'https://www.shop.example/api/cart/7?x=1',
            headers: [
              { name: ':authority', value: 'www' },
              { name: 'Cookie', value: 'sid=abcdef' },
            ],
            postData: { mimeType: 'application/json', text: '{"sku":"a","count":2}' },
            bodySize: -1,
          },
          response: {
            status: 200,
            headers: [],
            content: { size: 20, mimeType: 'application/json', text: '{"ok":true}' },
          },
        },
        { nonsense: true },
      ],
    },
  };
  t.match((await post('/api/ingest', JSON.stringify(har))).body, { accepted: 1, rejected: [{ index: 1 }] });
  t.match((await get('/api/inventory?site=www.shop.example'))['items'][0], {
    method: 'POST',
    template: '/api/cart/{id}',
    sources: { har: 1 },
    auth_types: ['session'],
  });
  const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });
  const span = (kind: number, id: string, attributes: object[]) => ({
    traceId: 'ab'.repeat(16),
    spanId: id,
    kind,
    startTimeUnixNano: `${nowMs}000000`,
    endTimeUnixNano: `${nowMs + 5}000000`,
    attributes: [
      attribute('http.request.method', 'GET'),
      { key: 'http.response.status_code', value: { intValue: '200' } },
      ...attributes,
    ],
  });
  const traces = {
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', 'checkout')] },
        scopeSpans: [
          {
            spans: [
              span(2, 's1', [attribute('url.path', '/checkout/5'), attribute('server.address', 'checkout')]),
              span(3, 's2', [attribute('url.full', 'http://stock:80/items/9'), attribute('peer.service', 'stock')]),
              { kind: 1, name: 'work' },
            ],
          },
        ],
      },
    ],
  };
  for (const path of ['/api/ingest', '/api/ingest/v1/traces'])
    t.match((await post(path, JSON.stringify(traces))).body, { accepted: 2 }, path);
  t.ok((await templates()).includes('checkout GET /checkout/{id} 1'), 'the same spans count once');

  const xfcc = 'By=spiffe://x/ns/shop/sa/pay;Hash=ab;Subject="CN=a, O=b";URI=spiffe://x/ns/shop/sa/orders';
  const mesh = [
    {
      headers: { 'x-forwarded-client-cert': xfcc },
      authority: 'pay.shop.svc.cluster.local:80',
      path: '/charge',
      method: 'POST',
      response_code: 200,
    },
    {
      source: 'legacy',
      destination: 'shop/pay',
      path: '/charge',
      method: 'POST',
      status: 200,
      headers: { host: 'pay' },
    },
    { source: 'legacy', path: '/charge', method: 'POST', status: 200 },
  ];
  t.match((await post('/api/ingest/mesh', JSON.stringify(mesh))).body, {
    accepted: 2,
    rejected: [{ index: 2, reason: /destination is missing/ }],
  });
  const eastWest = await get('/api/east-west');
  const pairs = eastWest['items'].map(
    (one: Record<string, string | boolean>) => `${one['caller']} ${one['callee']} ${one['unauthenticated']}`,
  );
  t.same(pairs.sort(), ['checkout stock true', 'legacy shop/pay true', 'shop/orders shop/pay false'].sort());
  t.equal((await get('/api/east-west?unauthenticated=false'))['items'].length, 1);
  t.equal(eastWest['total'], 3);
  const firstPair = await get('/api/east-west?unauthenticated=true&limit=1');
  t.match(firstPair, { total: 2, unauthenticated: 2 }, 'X4: a list that is cut says how many there are');
  t.equal(firstPair['items'].length, 1);

  for (const [payload, headers, status] of [
    ['', {}, 400],
    ['{"a"', {}, 400],
    ['[]', { 'content-type': 'application/xml' }, 415],
    ['[]', { 'content-encoding': 'lz77' }, 415],
    ['not gzip', { 'content-encoding': 'gzip' }, 400],
    [gzipSync(Buffer.alloc(100 * 1024 * 1024)), { 'content-encoding': 'gzip' }, 413],
    [JSON.stringify(Array.from({ length: 50_001 }, () => 1)), {}, 413],
  ] as const)
    t.equal((await post('/api/ingest', payload as string, headers)).status, status, `${status} ${payload.length}`);
  t.match((await post('/api/ingest', '[]')).body, { accepted: 0, rejected_total: 0 });
  t.equal((await post('/api/gateway/tyk', '[]')).status, 400);
  const full = createIntake(at.parts, 1);
  const one = readGatewayRecord('generic', generic, nowMs);
  await t.rejects(
    full.take({ exchanges: [one, one], source: 'gateway', site: null, sender: 'x', idempotencyKey: null }),
    { code: 'too_many_requests' },
  );
}

t.test('U4: ingestion', (t) => onBothDatabases(t, 'records become the inventory', suite));
