// P1: specifications beside traffic, over HTTP on both databases, and the parts of the report by themselves.
import t, { type Test } from 'tap';
import type { Observation } from '#proxy/contract';
import type { Database } from '../../db/client.js';
import { startTestApp } from '../../testing/app.js';
import { onBothDatabases } from '../../testing/databases.js';
import { declares } from './declared-places.js';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-03-01T12:00:00Z');

const observation = (over: Partial<Observation>): Observation => ({
  site: 'customer',
  method: 'GET',
  path: '/orders',
  count: 1,
  first_ms: nowMs - dayMs,
  last_ms: nowMs,
  statuses: { 200: over.count ?? 1 },
  credentials: { jwt: [over.count ?? 1, 0, 0] },
  clients: { external: 1 },
  parameters: {},
  request_types: {},
  response_types: {},
  pii: {},
  request_bytes: 1,
  response_bytes: 1,
  latency_us: 1,
  latency_us_max: 1,
  ...over,
});

const specification = `openapi: 3.1.0
info: {title: Shop, version: '1'}
servers: [{url: https://shop.example/v1}]
security: [{token: []}]
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
paths:
  /orders:
    get:
      operationId: listOrders
      parameters: [{name: page, in: query, schema: {type: integer}}]
      responses: {'200': {description: x, content: {application/json: {schema: {type: object, properties: {id: {}}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {sku: {type: string}}}}}}
      responses: {'201': {description: x}}
  /orders/{orderId}:
    parameters: [{name: orderId, in: path, required: true, schema: {type: integer}}]
    get: {responses: {'200': {description: x}}}
    delete: {deprecated: true, responses: {'204': {description: x}}}
  /reports/monthly:
    get: {responses: {'200': {description: x}}}
  /public/news:
    get: {security: [], responses: {'200': {description: x}}}
  /only/refused:
    get: {responses: {'200': {description: x}}}
`;

const seen: readonly Observation[] = [
  observation({ path: '/v1/orders', parameters: { 'query:page': { integer: 1 }, 'query:debug': { word: 1 } } }),
  observation({ path: '/v1/orders', pii: { 'response:/card': { card: 1 } }, count: 3 }),
  observation({
    ...{ method: 'POST', path: '/v1/orders', statuses: { 202: 1 }, request_types: { 'application/json': 1 } },
    parameters: { 'body:/sku': { word: 1 }, 'body:/isAdmin': { word: 1 } },
  }),
  observation({ path: '/v1/orders/12', credentials: { none: [2, 0, 0] }, count: 2 }),
  observation({ method: 'HEAD', path: '/v1/orders/12' }),
  observation({ method: 'PUT', path: '/v1/orders/12', credentials: { none: [1, 0, 0] } }),
  observation({ path: '/v1/metrics' }),
];

async function gaps(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  let { token } = await at.user('operator');
  let batches = 0;
  const observe = async (observations: readonly Observation[]) => {
    const batch = { batch_id: `p${(batches += 1)}`, observations, sightings: [], relations: [], dropped: 0 };
    const body = { node: 'n1', batch };
    t.equal((await at.call('POST', '/api/dataplane/observations', { token: 'c'.repeat(40), body })).status, 200);
  };
  const ask = async (query = '') => {
    const reply = await at.call('GET', `/api/posture-gaps${query}`, { token });
    t.equal(reply.status, 200, reply.text.slice(0, 300));
    return reply.body;
  };
  const keys = (list: Record<string, string>[]) => list.map(({ method, template }) => `${method} ${template}`).sort();

  t.match(await ask(), { documented: 0, coverage_percent: null, shadow: [], sites: [] }, 'nothing is known yet');
  t.match(await ask(), { hint: /POST \/api\/spec\?site=NAME/ }, 'N4: and how to begin');
  await observe(seen);
  t.match(await ask(), { shadow: [], sites: [{ site: 'customer', coverage_percent: null }] }, 'nothing is declared');
  const upload = /^customer has no specification .*POST \/api\/spec\?site=customer$/;
  t.match(await ask(), { observed: 0, hint: upload, sites: [{ hint: upload }] }, 'N4: zeros say why they are zeros');
  const headers = { 'content-type': 'application/yaml' };
  const sent = await at.call('POST', '/api/spec?site=customer', { token, body: specification, headers });
  t.equal(sent.status, 200, sent.text);
  await ask(); // the templates are learned anew with what is declared
  await observe([
    observation({
      method: 'DELETE',
      path: '/v1/orders/9',
      statuses: { 401: 4 },
      count: 4,
      credentials: { none: [0, 4, 0] },
    }),
  ]);

  const body = await ask('?site=customer');
  t.match(body, { hint: null, sites: [{ hint: null }] }, 'N4: figures that say something need no hint');
  t.match(body, { documented: 7, observed: 3, coverage_percent: 42.9, totals: { shadow: 2, zombie: 4 } });
  t.same(keys(body['shadow']), ['GET /v1/metrics', 'PUT /v1/orders/{orderId}'], 'HEAD is what GET is');
  t.match(body['shadow'][0], { method: 'PUT', severity: 'high', why: /PUT without credentials/ }, 'the riskiest first');
  t.same(keys(body['zombie']), [
    'DELETE /v1/orders/{orderId}',
    'GET /v1/only/refused',
    'GET /v1/public/news',
    'GET /v1/reports/monthly',
  ]);
  const operation = (method: string, template: string) =>
    (body['operations'] as Record<string, any>[]).find(
      (one) => one['method'] === method && one['template'] === template,
    );
  const codes = (method: string, template: string) =>
    (operation(method, template)?.['gaps'] as { code: string; severity: string; pointer: string | null }[] | undefined)
      ?.map(({ code, severity, pointer }) => `${code} ${severity} ${pointer}`)
      .sort();
  t.same(codes('GET', '/v1/orders'), [
    'undeclared-parameter medium /query/debug',
    'undeclared-personal-data high /response/card',
  ]);
  t.same(codes('POST', '/v1/orders'), [
    'undeclared-member medium /body/isAdmin',
    'undeclared-status medium /response/202',
  ]);
  t.same(codes('GET', '/v1/orders/{orderId}'), ['auth-not-enforced high null']);
  t.match(codes('GET', '/v1/public/news'), ['missing-auth medium /paths/~1public~1news/get']);
  t.equal(codes('GET', '/v1/reports/monthly'), undefined, 'declared, protected, not seen: no gap of its own');
  t.equal((await ask('?limit=1'))['operations'].length, 1);
  t.match(await at.call('GET', '/api/posture-gaps?site=nobody', { token }), { status: 404, body: { errors: [{}] } });

  const zombie = async (template: string) =>
    ((await ask())['zombie'] as Record<string, any>[]).find((one) => one['template'] === template)?.['confidence'];
  t.match(await zombie('/v1/reports/monthly'), { level: 'low', observed_days: 1, why: /only \d+ requests/ });
  await observe([observation({ path: '/v1/orders', count: 2000 })]);
  at.clock.nowMs = nowMs + 40 * dayMs;
  ({ token } = await at.user('operator', 'later@example.org')); // sessions do not last as long
  t.match(await zombie('/v1/reports/monthly'), {
    score: 0.61,
    level: 'high',
    why: 'not seen for 41 days; expected interval unknown',
  });
  t.match(await zombie('/v1/orders/{orderId}'), { level: 'low', why: /4 requests came and were all refused/ });
  const silent = (await ask())['operations'] as Record<string, any>[];
  t.match(
    silent.find((one) => one['method'] === 'POST')?.['gaps'],
    [{}, {}, { code: 'dormant', message: 'not seen for 40 days; expected interval unknown' }],
    'asked once, and no more',
  );
}

t.test('P1: posture gaps', (t) => onBothDatabases(t, 'posture gaps', gaps));

t.test('P1: places that schemas declare', async (t) => {
  const definitions = { '#/a': { properties: { x: { type: 'string' } } }, '#/loop': { $ref: '#/loop' } };
  const yes: [unknown, string][] = [
    [{ properties: { a: { properties: { b: {} } } } }, '/a/b/c'],
    [{ properties: { a: { items: { properties: { b: {} } } } } }, '/a/*/b'],
    [{ allOf: [{ $ref: '#/a' }, { properties: { y: {} } }] }, '/x'],
    [{ additionalProperties: { properties: { n: {} } } }, '/{uuid}/n'],
    [{ properties: { 'a/b': {} } }, '/a~1b'],
    [{ type: 'object' }, '/anything'],
    [{ $ref: '#/loop' }, '/x'],
    [true, '/x'],
  ];
  const no: [unknown, string][] = [
    [{ properties: { a: {} } }, '/b'],
    [{ properties: { a: { items: { properties: { b: {} } } } } }, '/a/*/c'],
    [{ allOf: [{ $ref: '#/a' }, { properties: { y: {} } }] }, '/z'],
    [{ additionalProperties: { properties: { n: {} } } }, '/{uuid}/m'],
    [{ additionalProperties: false }, '/x'],
  ];
  for (const [schema, pointer] of yes) t.ok(declares(schema as never, pointer, definitions), pointer);
  for (const [schema, pointer] of no) t.notOk(declares(schema as never, pointer, definitions), pointer);
});
