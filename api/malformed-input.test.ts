// Every operation of the OpenAPI document with input that is wrong in many ways: whatever it is, the answer is a
// declared one and never a failure of the server. What to send is taken from the document, so a new route is covered
// when it exists.
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Database } from './db/client.js';
import { startTestApp, type Reply, type TestApp } from './testing/app.js';
import { onBothDatabases } from './testing/databases.js';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
type Json = Record<string, unknown>;

const long = 'x'.repeat(70_000);
const wrongValues: readonly unknown[] = [
  null,
  -1,
  1e308,
  'x',
  '\u0000',
  '\ud800',
  'ü😀',
  long,
  [],
  {},
  [null],
  { '\u0000': 1 },
  JSON.parse('{"constructor":{"prototype":1}}'),
];
const wrongText: readonly string[] = [
  '',
  '-1',
  '1e309',
  '9223372036854775808',
  '%00',
  '%ff',
  '%',
  '%F0%9F%98%80',
  "'",
  '2026-02-31',
  '275760-09-14T00:00:00Z',
  'a\\',
  Buffer.from('["\\u0000","\\u0000"]').toString('base64url'),
  Buffer.from('["x",1]').toString('base64url'),
  Buffer.from('[9e15,1]').toString('base64url'),
];
const wrongBodies: readonly (readonly [string, string | Buffer])[] = [
  ['application/json', ''],
  ['application/json', '{'],
  ['application/json', 'null'],
  ['application/json', '[]'],
  ['application/json', '"x"'],
  ['application/json', '{}{}'],
  ['application/json', '{"__proto__":{"x":1}}'],
  ['application/json', '['.repeat(100)],
  ['application/json', Buffer.from([0xff, 0xfe])],
  ['application/json', JSON.stringify({ a: 'x'.repeat(1024 * 1024) })],
  ['application/merge-patch+json', 'null'],
  ['text/plain', 'x'],
  ['multipart/form-data; boundary=x', '--x--'],
  ['nonsense', '{}'],
  ['', '{}'],
];
const wrongHeaders: readonly (readonly [string, string])[] = [
  ['if-match', '"x"'],
  ['if-match', ''],
  ['if-match', `W/"${long.slice(0, 5000)}"`],
  ['accept', 'image/png'],
  ['x-forwarded-for', 'nonsense'],
  ['cookie', 'gatehouse_session=%ff; a'],
  ['last-event-id', 'x'],
];

/**
 * Bodies that are right, so that one wrong member is all that is wrong with them. Routes without a row are called with
 * `{}`.
 */
function rightBodies(settings: Json): Readonly<Record<string, Json>> {
  const rule = {
    name: 'r',
    kind: 'visual',
    variable: 'ARGS',
    operator: 'contains',
    value: 'evil',
    action: 'block',
    phase: 2,
    enabled: true,
    seclang: '',
    tests: [{ name: 't', expect: 'match', method: 'GET', uri: '/?a=evil', headers: [['Host', 'a']], body: '' }],
  };
  return {
    'POST /api/login': { email: 'nobody@example.org', password: 'x' },
    'POST /api/users': { email: 'new@example.org', role: 'viewer', name: '', password: 'Quiet-river-stone-42' },
    'PATCH /api/users/{id}': { name: 'n', role: 'operator', suspended: false },
    'POST /api/tokens': { name: 'n', role: 'viewer', scopes: ['settings:read'] },
    'POST /api/threat-intel': {
      addresses: ['203.0.113.7'],
      text: '198.51.100.0/24',
      reason: 'r',
      expires_in_seconds: 60,
      skip_invalid: false,
      force: false,
    },
    'POST /api/rules': rule,
    'PATCH /api/rules/{id}': rule,
    'POST /api/rules/test': { rule, tests: rule.tests },
    'POST /api/vpatch': { cve: 'CVE-2021-44228', enabled: true },
    'POST /api/apply': {},
    'POST /api/config/rollback': { version: 1 },
    'PUT /api/settings': settings,
    'PATCH /api/settings': { mode: 'On' },
    'POST /api/dataplane/records': {
      node: 'n',
      batch_id: 'b',
      requests: [],
      events: [
        {
          at_ms: 1,
          request_id: '',
          site: '',
          client_ip: '',
          kind: '',
          verdict: '',
          method: '',
          uri: '',
          status: 0,
          rule_id: 1,
          inbound_score: 2 ** 50,
          details: { a: '\u0000' },
        },
      ],
      dropped: 1,
    },
    'POST /api/dataplane/samples': { node: 'n', samples: [] },
  };
}

/** The settings that would lock the caller out. */
const skippedMembers = new Set(['policy_2fa_required_admin']);

interface Attempt {
  readonly url: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly what: string;
}

function* attempts(
  pattern: string,
  operation: Operation,
  ids: Readonly<Record<string, string>>,
  right: Json,
): Generator<Attempt> {
  const path = (id: string): string => pattern.replace(/\{[^}]+\}/, id);
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query');
  const needed = query.filter((one) => one.required === true).map(({ name }) => `${name}=1`);
  const url = [path(ids[pattern] ?? '1'), needed.join('&')].filter((part) => part !== '').join('?');
  const body = operation.requestBody === undefined ? {} : { body: right };
  yield { url, ...body, what: 'as it should be' };
  if (pattern.includes('{'))
    for (const id of [...wrongText, 'x'.repeat(300), '..%2f', '__proto__'])
      yield { url: path(id), ...body, what: `id ${id.slice(0, 40)}` };
  for (const { name } of query)
    for (const text of wrongText)
      yield {
        url: `${path('1')}?${[...needed.filter((one) => !one.startsWith(`${name}=`)), `${name}=${text}`].join('&')}`,
        ...body,
        what: `${name}=${text}`,
      };
  for (const extra of ['surprise=1', '%00=1', '__proto__=1', 'limit=1&limit=2'])
    yield { url: `${url}${url.includes('?') ? '&' : '?'}${extra}`, ...body, what: extra };
  for (const [name, value] of wrongHeaders)
    yield { url, ...body, headers: { [name]: value }, what: `${name}: ${value.slice(0, 40)}` };
  if (operation.requestBody === undefined) return;
  for (const [type, text] of wrongBodies)
    yield { url, body: text, headers: { 'content-type': type }, what: `${type} ${String(text).slice(0, 20)}` };
  const names = [...Object.keys(right), 'surprise'].filter((name) => !skippedMembers.has(name));
  for (const [i, value] of wrongValues.entries())
    for (const [j, name] of names.entries()) {
      // of the settings with their hundred members each gets a third of the values
      if (names.length < 50 || (i + j) % 3 === 0)
        yield {
          url,
          body: JSON.stringify({ ...right, [name]: value }),
          headers: { 'content-type': 'application/json' },
          what: `/${name} = ${JSON.stringify(value).slice(0, 40)}`,
        };
    }
}

/** Why the answer is not one that the document promises; null when it is. */
function fault(reply: Reply, operation: Operation): string | null {
  if (reply.status >= 500) return 'the server failed';
  const header = reply.headers['content-type'];
  const type = (typeof header === 'string' ? header.split(';')[0] : undefined) ?? '';
  const declared = operation.responses[reply.status] ?? operation.responses[`${String(reply.status)[0]}XX`];
  if (declared === undefined) return 'the status is not declared';
  if (reply.status < 400) return null;
  if (type !== 'application/problem+json' || declared.content?.[type] === undefined)
    return `${type} is not what is declared`;
  if (['type', 'title', 'detail', 'instance', 'code'].some((member) => typeof reply.body[member] !== 'string'))
    return 'no problem document';
  return /node_modules|\.js:\d+|syntax error|violates|invalid input/i.test(reply.text)
    ? 'something of the inside leaks'
    : null;
}

async function prepare(
  at: TestApp,
  call: (method: string, url: string, body?: unknown) => Promise<Reply>,
): Promise<{ settings: Json; ids: Record<string, string> }> {
  const other = await at.user('viewer');
  const settings = {
    ...(await call('GET', '/api/settings')).body,
    sites: [{ name: 'a', prefix: '/', upstream: 'http://127.0.0.1:1' }],
  };
  const id = String((await call('POST', '/api/rules', rightBodies(settings)['POST /api/rules'])).body['rule'].id);
  return {
    settings,
    ids: {
      '/api/users/{id}': other.id,
      '/api/users/{id}/sessions': other.id,
      '/api/users/{id}/password': other.id,
      '/api/users/{id}/totp': other.id,
      '/api/rules/{id}': id,
      '/api/config/versions/{id}': '1',
    },
  };
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { email } = await at.user('admin');
  let token = String((await at.logIn(email)).body['token']);
  const { settings, ids } = await prepare(at, (method, url, body) =>
    at.call(method, url, { token, ...(body === undefined ? {} : { body }) }),
  );
  const right = rightBodies(settings);
  const { paths } = (await at.call('GET', '/api/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>;
  };
  const missing = Object.keys(right).filter(
    (row) => paths[row.split(' ')[1] ?? '']?.[(row.split(' ')[0] ?? '').toLowerCase()] === undefined,
  );
  t.same(missing, [], 'the rows are routes');
  let calls = 0;
  let refused = 0;
  for (const [pattern, operations] of Object.entries(paths))
    for (const [verb, operation] of Object.entries(operations)) {
      if (pattern === '/api/events/stream') continue; // does not end
      const method = verb.toUpperCase();
      const own = right[`${method} ${pattern}`] ?? {};
      const faults: string[] = [];
      token = String((await at.logIn(email)).body['token']);
      for (const { what, ...attempt } of attempts(pattern, operation, ids, own)) {
        if (pattern === '/api/logout') token = String((await at.logIn(email)).body['token']);
        // from many addresses, so that limits of one caller do not stand in front of everything
        const reply = await at.call(method, attempt.url, {
          token: pattern.startsWith('/api/dataplane/') ? at.parts.nodeToken : token,
          ip: `192.0.2.${calls % 250}`,
          ...attempt,
        });
        const found = fault(reply, operation);
        if (reply.status === 401 && !/login|account/.test(pattern)) faults.push(`not logged in: ${what}`);
        if (found !== null) faults.push(`${found}: ${what} → ${reply.status} ${reply.text.slice(0, 200)}`);
        calls++;
        if (reply.status >= 400) refused++;
      }
      t.same(faults, [], `${method} ${pattern}`);
    }
  t.ok(calls > 2500 && refused > calls / 2 && refused < calls - 500, `${refused} of ${calls} calls were refused`);
  await at.close();
}

async function others(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  for (const [method, url, allow] of [
    ['OPTIONS', '/api/settings', 'GET, HEAD, PATCH, PUT'],
    ['DELETE', '/api/login', 'POST'],
    ['POST', '/api/users/x', 'DELETE, GET, HEAD, PATCH'],
    ['PROPFIND', '/api/health', 'GET, HEAD'],
  ] as const) {
    t.match(
      await at.call(method, url),
      { status: 405, headers: { allow }, body: { code: 'method_not_allowed', status: 405 } },
      `${method} ${url}`,
    );
  }
  t.match(await at.call('GET', '/api/users/%ff'), { status: 400, body: { code: 'malformed_request' } });
  t.match(await at.call('GET', `/api/users/${'x'.repeat(300)}`), { status: 404, body: { code: 'not_found' } });
  await at.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = at.app.server.address() as AddressInfo;
  for (const text of [
    'nonsense\r\n\r\n',
    `GET /api/health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
    'GET /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ]) {
    const answer = await new Promise<string>((resolve, reject) => {
      let got = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket
        .setEncoding('utf8')
        .on('data', (piece: string) => (got += piece))
        .once('close', () => resolve(got))
        .once('error', reject);
    });
    t.match(
      answer,
      /^HTTP\/1\.1 400 [^]*content-type: application\/problem\+json[^]*"code":"malformed_request"/i,
      text.slice(0, 30),
    );
  }
  await at.close();
}

t.test('malformed input', (t) => onBothDatabases(t, 'malformed input', suite));
t.test('methods, paths and bytes that are no request', (t) => onBothDatabases(t, 'no request', others));
