// U1: what `block` would do to recorded requests: of saved settings, of a stored version, of a document that is sent.
import t, { type Test } from 'tap';
import type { Database } from '../../db/client.js';
import { insertSamples, maskSamples, type SampleRecord } from '../../records/samples.js';
import { startTestApp } from '../../testing/app.js';
import { masker, request, start } from '../../testing/builders/records.js';
import { onBothDatabases } from '../../testing/databases.js';
import { mayBeMasked } from './masked.js';

const document = (price: string, extra = ''): string => `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders:
    get:
      parameters: [{name: page, in: query, schema: {type: integer, minimum: 1}}]
      responses: {default: {description: any}}
    post:
      parameters: [{name: X-Tenant, in: header, required: true, schema: {type: string, format: uuid}}]
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [items]
              properties:
                token: {type: string, pattern: '^tok_[a-z]{4}[0-9]$'}
                items: {type: array, items: {type: object, properties: {sku: {type: string}, price: ${price}}}}
      responses: {default: {description: any}}
  /never: {get: {responses: {default: {description: any}}}}
${extra}`;
const tenant = ['X-Tenant', '123e4567-e89b-12d3-a456-426614174000'];
const sample = (n: number, over: Partial<SampleRecord> = {}): SampleRecord => {
  const body = over.body === undefined ? '{"items":[{"sku":"a","price":1}]}' : over.body;
  const own = over.headers ?? [...tenant, 'Content-Type', 'application/json', 'Content-Length', '20'];
  return {
    ...{ kind: 'ordinary', request_id: `s${n}`, at_ms: start, site: 'customer', method: 'POST', uri: '/orders' },
    ...{ protocol: 'HTTP/1.1', client_ip: '192.0.2.1', headers: own },
    ...over,
    body,
  };
};

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  at.clock.nowMs = start + 3_600_000;
  const { token } = await at.user('operator');
  const viewer = await at.user('viewer');
  const yaml = { 'content-type': 'application/yaml' };
  const ask = (path: string, body?: string) =>
    at.call(body === undefined ? 'GET' : 'POST', path, {
      token: viewer.token,
      body,
      headers: body && yaml ? yaml : {},
    });

  t.match(await ask('/api/spec/preview?site=customer'), { status: 404, body: { errors: [{ path: '/site' }] } });
  const samples = [
    sample(1),
    sample(2, { body: '{"items":[{"sku":"a"},{"sku":"b","price":"12"}]}' }),
    sample(3, { body: '{"items":[{"sku":"a","price":"7"}],"debug":1}' }),
    sample(4, { headers: [...tenant, 'Content-Type', 'text/plain', 'Content-Length', '20'] }),
    sample(5, { headers: ['Content-Type', 'application/json'] }),
    sample(6, { body: '{"items":[],"token":"tok_abcd1"}' }),
    sample(7, { body: '{"items":[],"token":5}' }),
    sample(8, { body: null }),
    sample(9, { body: '{"items":[],"admin":true}' }),
    sample(10, { site: 'payment', body: '{"other":1}' }),
    sample(11, { at_ms: start - 400 * 3_600_000, body: '{"other":1}' }),
    sample(12, { body: '{"items":[1]}'.padEnd(64 * 1024, ' ') }),
  ];
  const rows = await maskSamples(samples, 'secrets', masker);
  await database.sql.begin((tx) => insertSamples(tx, rows));
  const line = (n: number, over: object) => request(n, { site: 'customer', method: 'GET', request_bytes: 0, ...over });
  const requests = [
    line(100, { request_id: 's9', verdict: 'block', method: 'POST', uri: '/orders', request_bytes: 9 }),
    line(101, { uri: '/orders?page=2' }),
    line(102, { uri: '/orders?page=0' }),
    line(103, { uri: '/orders?page=0', request_id: 'again' }),
    line(104, { uri: '/orders?page=two', verdict: 'block' }),
    line(105, { method: 'POST', uri: '/orders', request_bytes: 9 }),
    line(106, { uri: '/unheard' }),
    line(107, { uri: `/orders?page=${'1'.repeat(2100)}`.slice(0, 2048) }),
    line(108, { method: 'DELETE', uri: '/orders' }),
    line(109, { site: 'payment', uri: '/orders?page=0' }),
  ];
  const batch = { node: 'n1', batch_id: 'p1', requests, events: [] };
  t.match(await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body: batch }), { status: 200 });

  const sent = await ask('/api/spec/preview?site=customer', document('{type: number}'));
  t.match(
    sent,
    {
      status: 200,
      body: {
        site: 'customer',
        specifications: [{ name: 'default', version: null, action: 'block', unknown_paths: 'ignore' }],
        // 11 samples of the site in time, one of them a line as well, and 7 lines more
        requests: { recorded: 18, whole: 8, fit: 2, would_fail: 8, refused_already: 2, undeclared: 1 },
        operations: { declared: 3, met: 2 },
        live: null,
      },
    },
    sent.text,
  );
  const groups = (reply: typeof sent) =>
    (reply.body['groups'] as Record<string, any>[]).map(
      (one) =>
        `${one['operation']} ${one['pointer']} ${one['keyword']} ${one['requests']} ${one['examples'].join(',')}`,
    );
  t.same(groups(sent).sort(), [
    'DELETE /orders /method method 1 r108',
    'GET /orders /query/page minimum 2 again,r102',
    'POST /orders /body mediaType 1 s4',
    'POST /orders /body/items/*/price type 2 s3,s2',
    'POST /orders /body/token type 1 s7',
    'POST /orders /header/X-Tenant required 1 s5',
  ]);
  const notChecked = Object.fromEntries(
    (sent.body['not_checked'] as { what: string; requests: number }[]).map(({ what, requests: count }) => [
      what,
      count,
    ]),
  );
  t.same(notChecked, { body: 3, masked: 1, cut: 1, answers: null }, 'what was not kept is told');

  t.match(
    (sent.body['not_checked'] as object[])[0],
    { operations: [{ operation: 'POST /orders', requests: 3 }], why: /posture-gaps/ },
    'N2: and of which operations, and what tells more',
  );

  // a change of settings: paths that nobody declares, and where the paths of the document begin
  const strict = await ask('/api/spec/preview?site=customer&unknown_paths=block', document('{type: number}'));
  t.match(strict.body, { requests: { undeclared: 0, would_fail: 9 } });
  t.ok(groups(strict).some((one) => one.startsWith('GET (unknown) /path unknown 1')));
  t.match((await ask('/api/spec/preview?site=customer&base_path=/v9', document('{type: number}'))).body, {
    requests: { would_fail: 0 },
    operations: { met: 0 },
  });
  t.match((await ask('/api/spec/preview?site=customer&limit=1', document('{}'))).body, { groups_total: 6 });
  t.equal((await ask('/api/spec/preview?site=customer&limit=1', document('{}'))).body['groups'].length, 1);
  t.match((await ask('/api/spec/preview?site=customer&hours=1000', document('{}'))).body, {
    requests: { recorded: 19 },
  });

  // stored versions, and what the settings name
  const put = (text: string, query = '') =>
    at.call('POST', `/api/spec?site=customer${query}`, { token, body: text, headers: yaml });
  const first = await put(document('{type: number}'));
  const second = await put(document('{type: [number, string]}'), '&activate=false');
  const idOf = (reply: typeof first): number => reply.body['specification'].id as number;
  const old = await ask(`/api/spec/${idOf(first)}/preview`);
  t.match(old.body, { specifications: [{ version: 1 }], requests: { would_fail: 8 } });
  const next = await ask(`/api/spec/${idOf(second)}/preview`);
  t.match(
    next.body,
    { specifications: [{ version: 2 }], requests: { would_fail: 7 } },
    'a price may be a text: s2 fits',
  );
  t.match((await ask('/api/spec/preview')).body, { specifications: [{ version: 1 }], requests: { would_fail: 8 } });
  t.match(await ask('/api/spec/999/preview'), { status: 404 });
  t.match(await ask('/api/spec/preview?site=nobody'), { status: 400 });
  t.match(await ask('/api/spec/preview?site=customer', 'openapi: 3.1.0\n'), { status: 422 });

  // in force with alert, nodes count what they see of live bodies
  await at.call('PATCH', '/api/settings', { token, body: { schema_action: 'alert' } });
  const message = (id: number, data: string) => ({
    ...{ rule_id: id, message: 'x', severity: '4', tags: [], file: '', line: 0, data },
    match: "Matched the specification `default' against `POST /orders'",
  });
  const event = (n: number, messages: object[]) => ({
    ...{
      at_ms: start + n,
      request_id: `e${n}`,
      site: 'customer',
      client_ip: '192.0.2.1',
      kind: 'waf',
      verdict: 'flag',
    },
    ...{ method: 'POST', uri: '/orders', status: 200, rule_id: null, inbound_score: 0, details: { messages } },
  });
  const events = [
    event(1, [message(1_006_500, '/body/items/0/price: type')]),
    event(2, [message(942_100, 'x'), message(1_006_500, '/body/items/3/price: type')]),
    event(3, [message(1_006_501, '/response/card: additionalProperties')]),
    event(4, [message(942_100, 'found 1006500 in it')]),
  ];
  const live = { node: 'n1', batch_id: 'p2', requests: [], events };
  t.match(await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body: live }), { status: 200 });
  t.match((await ask('/api/spec/preview')).body['live'], {
    ...{ events: 2, is_cut: false },
    groups: [
      {
        operation: 'POST /orders',
        pointer: '/body/items/*/price',
        keyword: 'type',
        requests: 2,
        examples: ['e2', 'e1'],
      },
    ],
  });
  t.match((await ask(`/api/spec/${idOf(second)}/preview`)).body['live'], { events: 2 }, 'of what is in force');
}

t.test('U1: the preview of schema enforcement', (t) => onBothDatabases(t, 'preview', suite));

t.test('U1: what masking may have changed is not held against a request', async (t) => {
  const body =
    '{"user":{"name":"Ann","pin":"xxxx"},"code":"x","n":1111,"otp":1111,"mail":"xxxxx@example.com","o":{"k":"xx"}}';
  const given = { uri: '/a/xxxxxxxx/b?token=xxxx&plain=abc', headers: ['X-Key', 'xx-xx', 'X-Plain', 'abc'], body };
  const masked: readonly (readonly [string, string])[] = [
    ['/body/user/pin', 'pattern'],
    ['/body/code', 'enum'],
    ['/body/otp', 'minimum'],
    ['/body/mail', 'format'],
    ['/body/o', 'oneOf'],
    ['/query/token', 'type'],
    ['/path/id', 'format'],
    ['/header/X-Key', 'format'],
    ['/cookie/session', 'pattern'],
  ];
  const plain: readonly (readonly [string, string])[] = [
    ['/body/n', 'minimum'],
    ['/body/otp', 'type'],
    ['/body/user/name', 'pattern'],
    ['/body/user/pin', 'required'],
    ['/body/user/pin', 'additionalProperties'],
    ['/query/plain', 'type'],
    ['/query/token', 'unknown'],
    ['/header/X-Plain', 'format'],
  ];
  for (const [pointer, keyword] of masked) t.ok(mayBeMasked(given, pointer, keyword), `${pointer} ${keyword}`);
  for (const [pointer, keyword] of plain) t.notOk(mayBeMasked(given, pointer, keyword), `${pointer} ${keyword}`);
});
