// 11.1: privacy_mode, proved by values that nobody may find again. They go through a real data plane and through every
// route that takes records, in each place of a message, and are looked for in every table, in what a node keeps on
// disk, in the log, in Redis, in what goes to other systems, and in every answer and export.
import { readdir, readFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { keptName, keptPath } from '../inventory/kept.js';
import { startTestApp, testEnv, type TestApp } from '../testing/app.js';
import { nodeToken, startNode, type TestNode } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { startRedis, withoutRedis } from '../testing/servers/redis.js';
import { until } from '../testing/waiting.js';

interface Canary {
  readonly kind: string;
  readonly value: string;
  /** The part that must be nowhere, in lower case. */
  readonly mark: string;
}
const of = (kind: string, value: string, mark = value.toLowerCase()): Canary => ({ kind, value, mark });

/** Never kept, whatever the settings say. */
const secrets: readonly Canary[] = [
  of('card', '4111111111111111'),
  of('card in groups', '5555 5555 5555 4444', '5555 4444'),
  of('jwt', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl', 'eyjzdwiioijjyw5hcnkifq'),
  of('key of a service', 'sk_live_51CanaryKey0abcd'),
];
const personal: readonly Canary[] = [
  of('e-mail', 'maria.canary@mail.example', 'maria.canary'),
  of('iban', 'GB82WEST12345698765432', 'west12345698765432'),
  of('telephone', '+4930123456789', '30123456789'),
  of('social security', '536-22-1234'),
  of('national id', '784-1990-1234567-6', '1990-1234567'),
];
const canaries = [...secrets, ...personal];

const escaped = (text: string): string => encodeURIComponent(text);
const twice = (text: string): string => escaped(escaped(text));

/** A request in each place of which the value stands. */
function messageWith({ kind, value }: Canary, index: number) {
  const enc = escaped(value);
  const uri =
    `/v1/customers/${enc}/orders/${index}/by/${twice(value)}?${enc}=1&q=${enc}&id=${enc}&filter[${enc}]=2` +
    `&password=${enc}&password=other`;
  const inJson = { [value]: 1, text: value, list: [{ [value]: { id: value } }], email: value, id: value };
  const body = JSON.stringify({ ...inJson, query: `query ${kind.replace(/\W/g, '')} { user(id: "${value}") { id } }` });
  const headers: Record<string, string> = {
    authorization: `Bearer ${enc}`,
    cookie: `sid=${enc}; theme=${enc}`,
    'content-type': 'application/json',
    'user-agent': `app/1 (${value})`,
    referer: `https://shop.example/?who=${enc}`,
    'x-note': value,
    'x-request-id': value,
    'x-forwarded-for': `198.51.100.${index + 1}`,
  };
  return { uri, headers, body };
}

/** Records of every route, the value in every member that a connector reads. */
function recordsWith(canary: Canary, index: number) {
  const { uri, headers, body } = messageWith(canary, index);
  const { value } = canary;
  const path = uri.slice(0, uri.indexOf('?'));
  const generic = { method: 'POST', uri, status: 201, headers, ip: '198.51.100.9', user_agent: value, id: value };
  const kong = {
    request: { id: `k ${value}`, uri, url: `http://${escaped(value)}.shop.example${uri}`, method: 'GET', headers },
    response: { status: 200, headers: { 'content-type': `application/${value}` } },
    latencies: { request: 2 },
    consumer: { id: value, username: value },
    client_ip: '198.51.100.9',
    upstream_uri: uri,
  };
  const aws = { requestId: value, httpMethod: 'GET', path, status: '200', domainName: value, user: value };
  const nginx = { remote_addr: '198.51.100.9', request: `GET ${uri} HTTP/1.1`, status: '200', remote_user: value };
  const apigee = { request_verb: 'GET', proxy_basepath: '/v2', proxy_pathsuffix: path, response_status_code: 200 };
  const flat = Object.entries(headers).map(([name, text]) => ({ name, value: text }));
  const entry = {
    startedDateTime: '2026-03-01T11:00:00.000Z',
    time: 1,
    request: {
      ...{ method: 'POST', url: `https://${value}@www.shop.example${uri}`, headers: flat },
      postData: { mimeType: 'application/json', text: body },
    },
    response: { status: 200, headers: flat, content: { mimeType: 'application/json', text: body } },
  };
  const attribute = (key: string, text: string) => ({ key, value: { stringValue: text } });
  const span = (kind: number) => ({
    traceId: value,
    spanId: `${value} ${kind}`,
    kind,
    attributes: [
      attribute('http.request.method', 'GET'),
      attribute('http.response.status_code', '200'),
      attribute('url.full', `http://${value}${uri}`),
      attribute('peer.service', value),
      attribute('enduser.id', value),
    ],
  });
  const resource = { attributes: [attribute('service.name', `service ${value}`)] };
  const xfcc = `By=spiffe://x/ns/a/sa/b;Hash=ab;Subject="CN=${value}";URI=spiffe://x/ns/${escaped(value)}/sa/orders`;
  const hop = { path: uri, method: 'POST', response_code: 200, request_id: value };
  const mesh = [
    { ...hop, headers: { ...headers, 'x-forwarded-client-cert': xfcc }, authority: `${value}.shop.svc:80` },
    { ...hop, request_id: `${value} 2`, source: value, destination: `shop/${value}`, headers },
  ];
  return {
    '/api/gateway/generic?site=shop': [generic],
    '/api/gateway/generic': [{ ...generic, id: `2 ${value}`, host: `${value}.example`, body }],
    '/api/gateway/kong': [kong],
    '/api/gateway/aws': [aws],
    '/api/gateway/nginx': [nginx],
    '/api/gateway/apigee': [{ ...apigee, gateway_flow_id: value, client_id: value }],
    '/api/gateway/auto': [kong, aws, nginx],
    '/api/ingest': [{ ...generic, id: `3 ${value}` }],
    '/api/ingest HAR': [entry],
    '/api/ingest traces': [{ resource, scopeSpans: [{ spans: [span(2), span(3)] }] }],
    '/api/ingest/mesh': mesh,
  };
}

/** The records of all values, as a sender of each kind would put them together. */
function bodyOf(route: string, records: readonly unknown[]): unknown {
  if (route.endsWith('HAR')) return { log: { version: '1.2', entries: records } };
  return route.endsWith('traces') ? { resourceSpans: records } : { events: records };
}

async function ingest(t: Test, at: TestApp, token: string, round: string): Promise<void> {
  const all = canaries.map(recordsWith);
  for (const route of Object.keys(all[0] ?? {}) as (keyof ReturnType<typeof recordsWith>)[]) {
    const records = all.flatMap((one) => one[route] as unknown[]);
    const headers = { 'idempotency-key': `${round} ${route} ${personal.map(({ value }) => value).join(' ')}` };
    const [url = ''] = route.split(' ');
    const reply = await at.call('POST', url, { token, body: bodyOf(route, records), headers });
    t.match(reply, { status: 200, body: { rejected: [] } }, `${route}: ${reply.text.slice(0, 300)}`);
    t.same(leaks(new Map([['the answer', reply.text]]), canaries), [], route);
  }
}

/** A real request; the application answers with what it got. */
const ask = (node: TestNode, { uri, headers, body }: ReturnType<typeof messageWith>): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: node.http, path: uri, method: 'POST', headers, agent: false };
    httpRequest(options, (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)))
      .on('error', reject)
      .end(body);
  });

async function startEcho(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('location', request.url ?? '/');
      response.statusCode = 201;
      response.end(Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What a reader could make of a text: percent-decoding, and base64 where something looks like it. */
function readable(text: string): string {
  const once = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const again = once.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const coded = [...text.matchAll(/[A-Za-z0-9+/]{16,}={0,2}/g)].map(([one]) => Buffer.from(one, 'base64').toString());
  return [text, once, again, ...coded].join('\n').toLowerCase();
}

/** Every row of every table, by table. */
async function tables({ sql }: Database): Promise<Map<string, string>> {
  const names = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'
      and table_type = 'BASE TABLE'`;
  const found = new Map<string, string>();
  for (const { name } of names) {
    const rows = await sql<{ row: string }[]>`select row_to_json(x)::text as row from ${sql(name)} x`;
    found.set(`table ${name}`, rows.map(({ row }) => row).join('\n'));
  }
  return found;
}

async function files(directory: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) found.set(`file ${entry.name}`, await readFile(join(entry.parentPath, entry.name), 'latin1'));
  return found;
}

async function keysOf(url: string): Promise<string> {
  const redis = new Redis(url);
  const keys = await redis.keys('*');
  const values = await Promise.all(keys.map(async (key) => JSON.stringify(await redis.hgetall(key).catch(() => ''))));
  redis.disconnect();
  return [...keys, ...values].join('\n');
}

const answers = [
  ...['/api/inventory?limit=500', '/api/inventory/export', '/api/inventory/stats', '/api/data-flow?limit=500'],
  ...['/api/east-west', '/api/api-threats?limit=200', '/api/requests?limit=500', '/api/events?limit=500', '/api/audit'],
  ...['/api/audit/export', '/api/posture-gaps', '/api/traffic', '/api/ai/soc'],
];

function leaks(stores: ReadonlyMap<string, string>, given: readonly Canary[]): string[] {
  const found: string[] = [];
  for (const [name, text] of stores) {
    const all = readable(text);
    for (const { kind, mark } of given)
      if (all.includes(mark))
        found.push(`${kind} in ${name}: …${all.slice(Math.max(0, all.indexOf(mark) - 60), all.indexOf(mark) + 30)}`);
  }
  return found;
}

async function suite(t: Test, database: Database): Promise<void> {
  const port = await freePort();
  const upstream = await startEcho(t);
  const redis = withoutRedis === false ? await startRedis(t, await freePort()) : null;
  const zone = { name: 'note', match_path: '/', key: 'header:X-Note', events: 1000, window: '1h' };
  const settings = {
    ...{ privacy_mode: true, pii_detect: true, rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1'] },
    ...{ accept_request_id: true, rl_enabled: true, rl_distributed: true, rl_zones: [zone] },
    audit_request_body_bytes_max: 10_000,
    sites: [{ name: 'shop', prefix: '/', upstream, protected: true, fail_mode: 'open' }],
  };
  const node = await startNode(t, {
    ...{ upstream, settings, workers: 1, redisUrl: redis?.url ?? null },
    controlUrl: `http://127.0.0.1:${port}`,
  });
  let log = '';
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      log += chunk.toString();
      done();
    },
  });
  const logger: { readonly level: string; readonly stream: Writable } = { level: 'trace', stream };
  const at = await startTestApp(database, { env: { ...testEnv, dataAdminToken: nodeToken }, logger });
  t.teardown(() => at.close());
  at.clock.nowMs = Date.now();
  const { token } = await at.user('admin');
  await database.sql`insert into siem_connectors (name, enabled) values ('test', true)`;

  await ingest(t, at, token, 'off');
  t.same(leaks(await tables(database), secrets), [], 'secrets are never kept');
  const told = leaks(await tables(database), personal);
  for (const { kind } of personal)
    t.ok(
      told.some((one) => one.startsWith(kind)),
      `without privacy_mode it is there: ${kind}`,
    );

  const patch = { privacy_mode: true, pii_detect: true };
  t.equal((await at.call('PATCH', '/api/settings', { token, body: patch })).status, 200);
  await database.sql`delete from api_sightings`; // goes by itself two minutes after it was evaluated
  await database.sql`delete from api_hops`; // as the setting says: what is stored from now on; paths are masked anew
  for (const table of ['api_cells', 'api_sites', 'api_endpoints'])
    await database.sql`delete from ${database.sql(table)} where site <> 'shop'`;
  await at.app.listen({ host: '127.0.0.1', port });
  await ingest(t, at, token, 'on');
  for (const [index, canary] of canaries.entries()) {
    t.equal(await ask(node, messageWith(canary, index)), 201, canary.kind);
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': '198.51.100.77' };
    const body = `email=${escaped(canary.value)}&password=${escaped(canary.value)}&${escaped(canary.value)}=1`;
    t.equal(await ask(node, { uri: '/login', headers: form, body }), 201);
  }
  await until('the node told of all requests', async () => {
    const [row] = await database.sql<{ n: number }[]>`
      select (select count(*) from request_records)::int
        + (select count(*) from api_cells where stats like '%"waf"%')::int as n`;
    return (row?.n ?? 0) > canaries.length * 2;
  });
  for (const name of ['api-inventory', 'api-threats', 'ai-engine', 'alerts', 'rule-evidence'])
    await at.jobs.find((job) => job.name === name)?.run({ nowMs: Date.now(), signal: new AbortController().signal });

  const stores = new Map([...(await tables(database)), ...(await files(node.dataDir)), ['the log', log]]);
  if (redis !== null) stores.set('Redis', await keysOf(redis.url));
  for (const url of answers) {
    const reply = await at.call('GET', url, { token });
    t.ok(reply.status < 500, `${url} ${reply.status}`);
    stores.set(url, reply.text);
  }
  t.ok(log.length > 1000, 'the log was read');
  if (redis !== null) t.match(stores.get('Redis'), /gatehouse/, 'Redis was used');
  t.same(leaks(stores, canaries), []);
  const paths = await database.sql<{ path: string }[]>`select path from api_cells`;
  t.ok(
    paths.some(({ path }) => path.startsWith('/v1/customers/{email}/orders/')),
    'what it was about is there still',
  );
}

t.test('11.1: values that nobody may find again', (t) => onBothDatabases(t, 'privacy canary', suite));

t.test('11.1: which segments and names are kept', async (t) => {
  const path = (given: string): readonly string[] => [keptPath(given, 'secrets'), keptPath(given, 'personal')];
  for (const [given, always, inPrivate] of [
    ['/orders/4711', '/orders/4711', '/orders/4711'],
    ['/users/me', '/users/me', '/users/me'],
    ['/auth/login', '/auth/login', '/auth/login'],
    ['/tokens/refresh', '/tokens/refresh', '/tokens/refresh'],
    ['/v1/reports/2024-05', '/v1/reports/2024-05', '/v1/reports/2024-05'],
    ['/users/a.b@c.example', '/users/a.b@c.example', '/users/{email}'],
    ['/users/a.b%40c.example', '/users/a.b%40c.example', '/users/{email}'],
    ['/cards/4111111111111111', '/cards/{integer}', '/cards/{integer}'],
    ['/cards/4111-1111-1111-1111', '/cards/{prefixed}', '/cards/{prefixed}'],
    ['/sessions/9f86d081884c7d659a2feaa0c55ad015', '/sessions/{uuid}', '/sessions/{uuid}'],
    ['/reset-password/kJ8sdf72HasdA91Qx0pLm', '/reset-password/{token}', '/reset-password/{token}'],
    ['/phones/5550123', '/phones/5550123', '/phones/{integer}'],
    ['/people/015112345678', '/people/015112345678', '/people/{integer}'],
    ['/people/M%C3%BCller', '/people/M%C3%BCller', '/people/{other}'],
    ['/graphql/query:GetUser', '/graphql/query:GetUser', '/graphql/query:GetUser'],
    ['/graphql/query:card4111111111111111', '/graphql/{other}', '/graphql/{other}'],
    ['/users/{email}/posts', '/users/{email}/posts', '/users/{email}/posts'],
    ['/odata/$metadata', '/odata/$metadata', '/odata/$metadata'],
    ['/users:search', '/users:search', '/users:search'],
  ] as const)
    t.same(path(given), [always, inPrivate], given);
  for (const [given, kept] of [
    ['query:page', 'query:page'],
    ['query:filter[status]', 'query:filter[status]'],
    ['query:a@b.example', 'query:{email}'],
    ['query:filter[a@b.example]', 'query:{email}'],
    ['body:/shipping_address/line2', 'body:/shipping_address/line2'],
    ['response:/4111111111111111/id', 'response:/{integer}/id'],
    ['body:/*/someVeryLongMemberNameOfThisApi', 'body:/*/someVeryLongMemberNameOfThisApi'],
  ] as const)
    t.equal(keptName(given, 'personal'), kept);
});
