// Rules of conditions through the API: written, refused at the place of the fault, tried, counted on recorded requests.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { ruleTest } from '../testing/builders/custom-rules.js';
import { onBothDatabases } from '../testing/databases.js';

const admin = { field: 'path', operator: 'begins_with', values: ['/admin'] };
const curl = { field: 'user_agent', operator: 'contains', values: ['curl'] };
const rule = {
  name: 'No scripts on the admin pages',
  kind: 'conditions',
  action: 'block',
  any: [{ all: [admin, curl] }, { all: [{ field: 'operation', operator: 'is', values: ['DELETE /users/{id}'] }] }],
  tests: [
    { ...ruleTest('scripted', 'match', '/%61dmin/x'), headers: [['User-Agent', 'curl/8']] },
    { ...ruleTest('an operation', 'match', '/users/7'), method: 'DELETE' },
    ruleTest('a person', 'no_match', '/admin/x'),
  ],
};

const sample = (id: string, method: string, uri: string, agent: string) => ({
  kind: 'ordinary',
  request_id: id,
  at_ms: Date.parse('2026-03-01T11:00:00Z') + Number(id),
  site: 'shop',
  method,
  uri,
  protocol: 'HTTP/1.1',
  headers: ['Host', 'shop.example', 'User-Agent', agent],
  body: null,
  client_ip: '203.0.113.9',
});

async function conditions(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const call = (method: string, url: string, body?: unknown) => at.call(method, url, { token, body });

  const tried = await call('POST', '/api/rules/test', { rule });
  t.match(tried.body, { compiles: true, passed: true, problems: [] }, tried.text);
  t.match(tried.body['seclang'], /SecRule REQUEST_FILENAME\|PATH_READINGS:path/);

  const saved = await call('POST', '/api/rules', rule);
  t.equal(saved.status, 201, saved.text);
  const { id } = saved.body['rule'];
  t.match((await call('GET', `/api/rules/${id}`)).body['rule'], {
    any: [{ all: [{ ...admin, is_not: false }, curl] }, {}],
  });

  const other = [{ all: [{ ...admin, is_not: true }] }];
  t.match((await call('PATCH', `/api/rules/${id}`, { any: other, tests: [] })).body['rule'], { any: other });

  const faults: readonly (readonly [any: unknown, path: RegExp])[] = [
    [[], /"path":"\/any"/],
    [[{ all: [] }], /\/any\/0\/all/],
    [[{ all: [{ ...admin, field: 'moon' }] }], /\/any\/0\/all\/0\/field/],
    [[{ all: [{ ...admin, field: 'method' }] }], /\/any\/0\/all\/0\/operator/],
    [[{ all: [admin, { ...curl, operator: 'matches', values: ['('] }] }], /\/any\/0\/all\/1\/values/],
    [[{ all: [{ field: 'address', operator: 'is_in', values: ['home'] }] }], /\/any\/0\/all\/0\/values/],
  ];
  for (const [any, path] of faults) {
    const refused = await call('POST', '/api/rules', { ...rule, tests: [], any });
    t.ok([400, 422].includes(refused.status), refused.text);
    t.match(refused.text, path);
  }

  const empty = await call('POST', '/api/rules/matches', { rule });
  t.match(empty.body, { recorded: 0, looked_at: 0, matched: 0, since: null, examples: [] }, empty.text);
  const samples = [
    sample('1', 'GET', '/admin/a', 'Mozilla'),
    sample('2', 'GET', '/Admin/a', 'curl/8'),
    sample('3', 'DELETE', '/users/5', 'Mozilla'),
    sample('4', 'GET', '/', 'curl/8'),
  ];
  const node = await at.call('POST', '/api/dataplane/samples', {
    token: 'c'.repeat(40),
    body: { node: 'n1', samples },
  });
  t.equal(node.status, 200, node.text);
  const counted = await call('POST', '/api/rules/matches', { rule });
  t.match(
    counted.body,
    {
      recorded: 4,
      looked_at: 4,
      matched: 2,
      since: '2026-03-01T11:00:00.001Z',
      examples: [
        { request_id: '3', method: 'DELETE', site: 'shop' },
        { request_id: '2', uri: '/Admin/a' },
      ],
    },
    counted.text,
  );
  t.match((await call('POST', '/api/rules/matches', { rule: { ...rule, any: other, sites: ['shop'] } })).body, {
    recorded: 4,
    matched: 2,
    examples: [{ request_id: '4', variable: /^(?:REQUEST_FILENAME|PATH_READINGS)/ }, {}],
  });
  t.match((await call('POST', '/api/rules/matches', { rule: { ...rule, sites: ['blog'] } })).body, { recorded: 0 });

  // what cannot be compared is told, and is no "0 of 6"
  const hidden = [
    { ...sample('5', 'GET', '/a?token=abcdefgh12345678abcdefgh12345678', 'Mozilla'), site: 'api' },
    { ...sample('6', 'POST', '/b', 'Mozilla'), site: 'api', headers: ['Content-Length', '5'] },
  ];
  const more = await at.call('POST', '/api/dataplane/samples', {
    token: 'c'.repeat(40),
    body: { node: 'n1', samples: hidden },
  });
  t.equal(more.status, 200, more.text);
  t.match((await call('POST', '/api/rules/matches', { rule: { ...rule, sites: ['api'] } })).body, {
    ...{ recorded: 2, looked_at: 2, matched: 0 },
    not_looked_at: { masked: 1, body: 1 },
  });
  t.match(counted.body, { not_looked_at: { masked: 0, body: 0 } });
  t.match(await call('POST', '/api/rules/matches', { rule: { name: 'x', kind: 'raw', seclang: 'SecRule' } }), {
    status: 400,
    body: { errors: [{ path: /^\/rule/ }] },
  });
}

void onBothDatabases(t, 'conditions', conditions);
