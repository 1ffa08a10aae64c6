// E1: specifications over HTTP: uploaded in every form, versions kept, listed, compared, deleted.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

const document = (properties: string, version = '1'): string => `openapi: 3.1.0
info: {title: Shop, version: '${version}'}
paths:
  /orders:
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, properties: ${properties}}
      responses: {default: {description: any}}
`;

async function uploads(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const viewer = await at.user('viewer');
  const yaml = { 'content-type': 'application/yaml' };
  const send = (body: unknown, query = '', headers: Record<string, string> = yaml) =>
    at.call('POST', `/api/spec${query}`, { token, body, headers });

  const first = await send(document('{a: {type: string}}'));
  t.match(first, {
    status: 200,
    body: {
      created: true,
      changed: true,
      specification: { site: 'customer', name: 'default', version: 1, operations: 1 },
    },
  });
  t.match(await send(document('{a: {type: string}}')), { status: 200, body: { created: false, changed: false } });
  const second = await send(document('{a: {type: integer}}', '2'));
  t.match(second.body, {
    specification: { version: 2, in_settings: true },
    changes: [{ kind: 'breaking', code: 'type', operation: 'POST /orders', pointer: '/body/application~1json/a' }],
  });
  t.match((await at.call('GET', '/api/settings', { token })).body, {
    api_specs: [{ site: 'customer', name: 'default', version: 2, action: null, response_action: 'alert' }],
  });
  t.match(await send(document('{}'), '?name=other&activate=false', { 'content-type': 'text/plain' }), {
    body: { changed: false, specification: { name: 'other', in_settings: false } },
  });
  t.match(
    await send(
      { spec: { openapi: '3.1.0', info: { title: 'J', version: '1' }, paths: { '/j': { get: {} } } }, name: 'j' },
      '',
      {},
    ),
    { status: 200, body: { specification: { name: 'j', format: 'json', title: 'J' } } },
    'JSON in an envelope',
  );
  const list = await at.call('GET', '/api/spec', { token: viewer.token });
  t.same(
    (list.body['items'] as { name: string; version: number }[]).map(({ name, version }) => `${name} ${version}`),
    ['default 2', 'default 1', 'j 1', 'other 1'],
  );
  const [newest, oldest, , other] = list.body['items'] as { id: number }[];
  t.match(await at.call('GET', `/api/spec/${oldest?.id}`, { token: viewer.token }), {
    status: 200,
    body: { text: document('{a: {type: string}}'), operations: [{ method: 'POST', path: '/orders' }] },
  });
  t.match(await at.call('GET', `/api/spec/compare?from=${oldest?.id}&to=${newest?.id}`, { token: viewer.token }), {
    body: { breaking: 1 },
  });
  t.match(await at.call('DELETE', `/api/spec/${newest?.id}`, { token }), { status: 409 });
  t.match(await at.call('DELETE', `/api/spec/${oldest?.id}`, { token }), { status: 409 }, 'older settings name it');
  t.match(await at.call('DELETE', `/api/spec/${other?.id}`, { token: viewer.token }), { status: 403 });
  t.match(await at.call('DELETE', `/api/spec/${other?.id}`, { token }), { status: 204 });
  t.match(await at.call('DELETE', `/api/spec/${other?.id}`, { token }), { status: 404 });
  t.match(
    await send(document('{}', 'anew'), '?name=other'),
    {
      body: { specification: { version: 2 } },
    },
    'a number is not given twice',
  );

  t.match(await send(document('{}'), '?site=nobody'), { status: 400, body: { errors: [{ path: '/site' }] } });
  t.match(await send('openapi: 3.1.0\ninfo: {title: x, version: "1"}\npaths: {a: {}}\n'), {
    status: 422,
    body: { detail: /line 3/, errors: [{ path: '/paths/a', reason: /begin with .*line 3/, fix: /write it as/ }] },
  });
  t.match(await send('<xml/>', '', { 'content-type': 'application/x-www-form-urlencoded' }), {
    status: 415,
    body: { detail: /application\/yaml.*it was application\/x-www-form-urlencoded/ },
  });
  t.match(await at.call('POST', '/api/apply', { token, body: 'x: 1', headers: yaml }), { status: 415 });
  t.match(
    ((await at.call('GET', '/api/audit?action=spec.', { token })).body['items'] as { action: string }[]).map(
      ({ action }) => action,
    ),
    ['spec.activate', 'spec.upload', 'spec.delete', 'spec.activate', 'spec.upload'],
  );
  await at.close();
}

t.test('E1: specifications', (t) => onBothDatabases(t, 'specifications', uploads));
