// E2: requests and answers against a plan: every place of a parameter, every kind of body, and every way around.
import t from 'tap';
import type { PlannedOperation, PlannedParameter, SchemaPlan } from './plan.js';
import { SiteSchemas } from './site-schemas.js';

const text = { type: 'string' };
const parameter = (over: Partial<PlannedParameter> & Pick<PlannedParameter, 'name' | 'in'>): PlannedParameter => ({
  required: false,
  style: over.in === 'path' || over.in === 'header' ? 'simple' : 'form',
  explode: over.in === 'query' || over.in === 'cookie',
  schema: text,
  mediaType: null,
  allowsEmpty: false,
  ...over,
});
const media = (schema: object) => ({ schema: schema as Record<string, unknown>, encoding: {} });
const item = { type: 'object', required: ['sku'], properties: { sku: text, price: { type: 'number', minimum: 0 } } };
const order = { type: 'object', required: ['items'], properties: { items: { type: 'array', items: item } } };
const operation = (over: Partial<PlannedOperation>): PlannedOperation => ({
  method: 'GET',
  templates: ['/v1/orders'],
  action: null,
  parameters: [],
  body: null,
  responses: {},
  ...over,
});

const operations = [
  operation({
    parameters: [
      parameter({ name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } }),
      parameter({ name: 'tag', in: 'query', schema: { type: 'array', items: text } }),
      parameter({ name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } }),
      parameter({
        name: 'f',
        in: 'query',
        style: 'deepObject',
        schema: { type: 'object', properties: { a: { type: 'integer' } } },
      }),
      parameter({ name: 'X-Tenant', in: 'header', required: true, schema: { type: 'string', format: 'uuid' } }),
      parameter({ name: 'mode', in: 'cookie', schema: { enum: ['a', 'b'] } }),
      parameter({ name: 'seats', in: 'cookie', explode: false, schema: { type: 'array', items: { type: 'integer' } } }),
      parameter({ name: 'since', in: 'query', schema: { type: ['string', 'null'], format: 'date' } }),
    ],
    responses: { '2XX': { 'application/json': media({ type: 'array', items: item }) } },
  }),
  operation({
    method: 'POST',
    body: {
      required: true,
      content: {
        'application/json': media(order),
        'application/x-www-form-urlencoded': media({
          type: 'object',
          properties: { n: { type: 'integer' }, on: { type: 'boolean' } },
        }),
        'multipart/form-data': media({
          type: 'object',
          required: ['n'],
          properties: { n: { type: 'integer' }, file: { type: 'string', format: 'binary' } },
        }),
        'image/*': media({}),
      },
    },
  }),
  operation({
    method: 'DELETE',
    templates: ['/v1/orders/{id}'],
    parameters: [parameter({ name: 'id', in: 'path', required: true, schema: { type: 'integer' } })],
  }),
  operation({ templates: ['/v1/orders/latest'], action: 'alert' }),
  operation({
    templates: ['/files/{name}.{ext}'],
    parameters: [parameter({ name: 'ext', in: 'path', schema: { enum: ['png'] } })],
  }),
];
const plan = (over: Partial<SchemaPlan> = {}): SchemaPlan => ({
  name: 'default',
  site: 'shop',
  action: 'block',
  responseAction: 'alert',
  unknownPaths: 'ignore',
  operations,
  definitions: {},
  ...over,
});
const tenant = ['X-Tenant', '123e4567-e89b-12d3-a456-426614174000'];

interface Sent {
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  readonly type?: string;
}
function ask(schemas: SiteSchemas, line: string, { headers = tenant, body, type = 'application/json' }: Sent = {}) {
  const [method = '', uri = ''] = line.split(' ');
  const bytes = body === undefined ? null : Buffer.from(body);
  const all = bytes === null ? headers : [...headers, 'Content-Type', type];
  return schemas.request({ method, uri, headers: all }, bytes);
}
function told(schemas: SiteSchemas, line: string, sent: Sent = {}): string | null {
  const { violation } = ask(schemas, line, sent);
  return violation === null ? null : `${violation.pointer} ${violation.keyword}`;
}

const form = 'application/x-www-form-urlencoded';
const part = ([name, value]: readonly [string, string]): string =>
  `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const parts = (...fields: readonly (readonly [string, string])[]): Sent => ({
  type: 'multipart/form-data; boundary=xx',
  body: `${fields.map(part).join('')}--xx--\r\n`,
});
const good = '{"items":[{"sku":"a","price":1.5}]}';
const rows: readonly (readonly [line: string, sent: Sent, expected: string | null])[] = [
  ['GET /v1/orders', {}, null],
  ['HEAD /v1/orders', {}, null],
  ['GET /v1/orders?page=2&tag=a&tag=b&ids=1,2&f[a]=3', {}, null],
  ['GET /v1/orders?page=0', {}, '/query/page minimum'],
  ['GET /v1/orders?page=two', {}, '/query/page type'],
  ['GET /v1/orders?page=1&page=2', {}, '/query/page duplicate'],
  ['GET /v1/orders?ids=1,x', {}, '/query/ids/1 type'],
  ['GET /v1/orders?f[z]=3', {}, '/query/f/z additionalProperties'],
  ['GET /v1/orders?debug=true', {}, '/query/debug unknown'],
  ['GET /v1/orders?pa%67e=0', {}, '/query/page minimum'],
  ['GET /v1/orders?page=%ff', {}, '/query encoding'],
  ['GET /v1/orders', { headers: [] }, '/header/X-Tenant required'],
  ['GET /v1/orders', { headers: ['x-tenant', 'me'] }, '/header/X-Tenant format'],
  ['GET /v1/orders', { headers: [...tenant, 'Cookie', '_ga=1; mode=c'] }, '/cookie/mode enum'],
  ['GET /v1/orders', { headers: [...tenant, 'Cookie', 'seats=1,2,3; mode=a'] }, null],
  ['GET /v1/orders', { headers: [...tenant, 'Cookie', 'seats=1,x'] }, '/cookie/seats/1 type'],
  ['GET /v1/orders', { headers: [...tenant, 'Cookie', 'seats=1,2', 'Cookie', 'mode=c'] }, '/cookie/mode enum'],
  ['GET /v1/orders', { headers: [...tenant, 'Cookie', 'mode=c; mode=a'] }, '/cookie/mode enum'],
  ['GET /v1/orders', { headers: [...tenant, 'Cookie', 'mode=b; mode=a'] }, null],
  ['GET /v1/orders?since=', {}, null],
  ['GET /v1/orders?since=2026-02-30', {}, '/query/since format'],
  ['GET /v1/orders', { body: 'x' }, '/body unknown'],
  ['PUT /v1/orders', {}, '/method method'],
  ['OPTIONS /v1/orders', {}, null],
  ['POST /v1/orders', { body: good }, null],
  ['POST /v1/orders', { body: good, type: 'application/json; charset=utf-8' }, null],
  ['POST /v1/orders', {}, '/body required'],
  ['POST /v1/orders', { body: '{"items":[{"sku":"a"}],"admin":true}' }, '/body/admin additionalProperties'],
  ['POST /v1/orders', { body: '{"items":[{"sku":"a","price":-1}]}' }, '/body/items/0/price minimum'],
  ['POST /v1/orders', { body: '{"items":[{"price":1}]}' }, '/body/items/0/sku required'],
  ['POST /v1/orders', { body: '{"items":[],"items":[{"sku":"a"}]}' }, '/body duplicate'],
  ['POST /v1/orders', { body: '{"items":[],"\\u0069tems":[{"sku":"a"}]}' }, '/body duplicate'],
  ['POST /v1/orders', { body: '{"items":' }, '/body json'],
  ['POST /v1/orders', { body: Buffer.from([0x22, 0xff, 0x22]) }, '/body utf8'],
  ['POST /v1/orders', { body: good, type: 'text/json' }, '/body mediaType'],
  ['POST /v1/orders', { body: 'n=1&on=true', type: form }, null],
  ['POST /v1/orders', { body: 'n=one', type: form }, '/body/n type'],
  ['POST /v1/orders', { body: 'n=1&role=admin', type: form }, '/body/role additionalProperties'],
  ['POST /v1/orders', { body: 'n=1&n=2', type: form }, '/body/n duplicate'],
  ['POST /v1/orders', parts(['n', '1'], ['file', 'bytes']), null],
  ['POST /v1/orders', parts(['file', 'bytes']), '/body/n required'],
  ['POST /v1/orders', parts(['n', '1'], ['role', 'x']), '/body/role additionalProperties'],
  ['POST /v1/orders', { body: 'bytes', type: 'image/png' }, null],
  ['DELETE /v1/orders/7', {}, null],
  ['DELETE /v1/orders/seven', {}, '/path/id type'],
  ['DELETE /v1/orders/7/', {}, '/path spelling'],
  ['DELETE /V1/orders/7', {}, '/path spelling'],
  ['DELETE /v1//orders/7', {}, '/path spelling'],
  ['DELETE /v1/x/../orders/7', {}, '/path spelling'],
  ['DELETE /v1/%6frders/7', {}, null],
  ['DELETE /v1/orders;a=b/7', {}, '/path spelling'],
  ['POST /v1/orders.json', { body: '{"x":1}' }, '/path spelling'],
  ['POST /v1/orders%2ejson', { body: '{"x":1}' }, '/path spelling'],
  ['POST /;/v1/orders', { body: '{"x":1}' }, '/path spelling'],
  ['POST /v1/%ef%bd%8frders', { body: '{"x":1}' }, '/path spelling'],
  ['POST /v1/ord%ffers', { body: '{"x":1}' }, '/path spelling'],
  ['POST /index.php/v1/orders', { body: '{"x":1}' }, '/path spelling'],
  ['POST /v1/orders%00', { body: '{"x":1}' }, '/path spelling'],
  ['POST /v1/orders2.json', { body: '{"x":1}' }, null],
  ['POST /v1/caf%C3%A9', { body: '{"x":1}' }, null],
  ['GET /files/a.b.png', {}, '/path/ext enum'],
  ['GET /files/a.png', {}, null],
  ['GET /elsewhere', {}, null],
];

t.test('E2: what fits and what does not', async (t) => {
  const schemas = new SiteSchemas([plan()]);
  for (const [line, sent, expected] of rows)
    t.equal(told(schemas, line, sent), expected, `${line} ${String(sent.body ?? '').slice(0, 60)}`);
});

t.test('E2: actions by specification, by operation, and for what nobody declares', async (t) => {
  const block = new SiteSchemas([plan({ unknownPaths: 'block' })]);
  t.match(ask(block, 'GET /elsewhere').violation, { pointer: '/path', keyword: 'unknown', action: 'block' });
  t.match(ask(block, 'GET /v1/orders/latest?x=1').violation, { pointer: '/query/x', action: 'alert' });
  const alert = new SiteSchemas([plan({ action: 'alert', unknownPaths: 'block' })]);
  t.match(ask(alert, 'GET /elsewhere').violation, { action: 'alert' }, 'no more than the specification');
  t.equal(ask(new SiteSchemas([plan({ action: 'ignore' })]), 'GET /v1/orders?x=1').violation, null);
  const second = plan({ name: 'second', operations: [operation({ templates: ['/b'] })] });
  t.match(ask(new SiteSchemas([plan(), second]), 'GET /b?x=1').violation, { specification: 'second' });
  const long = block.request(
    { method: 'POST', uri: '/v1/orders', headers: ['Content-Type', 'application/json'] },
    Buffer.from('{'),
    false,
  );
  t.match(long.violation, { pointer: '/body', keyword: 'tooLarge' });
});

t.test('E2: answers that show more than is declared', async (t) => {
  const schemas = new SiteSchemas([plan()]);
  const { matched } = ask(schemas, 'GET /v1/orders');
  if (matched === null) throw new Error('not matched');
  const json = 'application/json; charset=utf-8';
  t.ok(schemas.wantsAnswer(matched, 200, json));
  t.notOk(schemas.wantsAnswer(matched, 404, json), 'no answer of that status is declared');
  t.notOk(schemas.wantsAnswer(matched, 200, 'text/html'));
  const answer = (body: string) => schemas.answer(matched, 'GET', 200, json, Buffer.from(body));
  t.equal(answer('[{"sku":"a"}]'), null);
  t.match(answer('[{"sku":"a","cost":3}]'), {
    pointer: '/response/0/cost',
    keyword: 'additionalProperties',
    action: 'alert',
  });
});
