// What must not be kept, submitted through every door a data-plane node has, and looked for in everything that is
// stored and answered.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, type TestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

const node = 'c'.repeat(40);

interface Canary {
  readonly what: string;
  readonly value: string;
}
/** Never kept. The names are the query parameters. */
const secrets: readonly Canary[] = [
  { what: 'note', value: '4111111111111111' },
  { what: 'note', value: '5555 5555 5555 4444' },
  { what: 'note', value: '378282246310005' },
  { what: 'password', value: 'canary-Hunter2' },
  { what: 'api_key', value: 'canaryKey77' },
  { what: 'note', value: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2ln' },
];
/** Not kept while privacy_mode is on. */
const personal: readonly Canary[] = [
  { what: 'note', value: 'GB82WEST12345698765432' },
  { what: 'note', value: 'DE89370400440532013000' },
  { what: 'q', value: 'maria.canary@example.com' },
  { what: 'q', value: '+4930123456789' },
  { what: 'q', value: '536-22-1234' },
  { what: 'last_name', value: 'Canary-Lopez' },
];
/** Evidence that must stay, whatever is masked. */
const evidence = "1' OR '7'='7";

async function submit(at: TestApp, batch: string, { what, value }: Canary): Promise<void> {
  const encoded = encodeURIComponent(value);
  const uri = `/search?item=${encodeURIComponent(evidence)}&${what}=${encoded}&end=1`;
  const ids = { at_ms: at.clock.nowMs, request_id: batch, site: 'shop', client_ip: '203.0.113.1', method: 'POST' };
  const request = {
    ...ids,
    uri,
    generation: 1,
    status: 200,
    verdict: 'pass',
    inbound_score: 0,
    outbound_score: 0,
    rule_ids: [],
    user_agent: `app/1 (${what}=${value})`,
    request_bytes: 1,
    response_bytes: 1,
    latency_us: 1,
    inspection_us: 1,
  };
  const messages = [
    {
      rule_id: 942100,
      message: 'injection',
      data: `found within ARGS:item: ${evidence}`,
      match: `against variable \`REQUEST_URI' (Value: \`/search?${what}=${value}')`,
    },
    {
      rule_id: 942101,
      message: 'injection',
      data: `{"${what}":"${value}"}`,
      match: `against variable \`REQUEST_BODY' (Value: \`a=1&${what}=${value}&b=2')`,
    },
  ];
  const named = ['password', 'api_key', 'last_name'].includes(what);
  if (named)
    messages.push({
      rule_id: 942102,
      message: 'injection',
      data: `found within ARGS:${what}: ${value}`,
      match: `against variable \`ARGS:${what}' (Value: \`${value}')`,
    });
  const event = {
    ...ids,
    uri,
    kind: 'waf',
    verdict: 'block',
    status: 403,
    rule_id: 942100,
    inbound_score: 5,
    details: {
      headers: [['User-Agent', `app/1 (${what}=${value})`]],
      messages,
      error: `could not read ${what}=${value}`,
    },
  };
  const records = await at.call('POST', '/api/dataplane/records', {
    token: node,
    body: { node: 'n1', batch_id: batch, requests: [request], events: [event] },
  });
  if (records.status !== 200) throw new Error(records.text);
  const bodies = [
    `a=1&${what}=${encoded}`,
    JSON.stringify({ a: 1, [what]: value }),
    `<a><${what}>${value}</${what}></a>`,
    `--b\r\nContent-Disposition: form-data; name="${what}"\r\n\r\n${value}\r\n--b--`,
  ];
  const headers = [
    'Host',
    'shop',
    'Referer',
    uri,
    'Cookie',
    `${what}=${value}`,
    'X-Note',
    `${what}=${value}`.startsWith('note') || what === 'q' ? value : 'x',
    'User-Agent',
    'test',
  ];
  const samples = bodies.map((body, n) => ({
    request_id: `${batch}-${n}`,
    at_ms: at.clock.nowMs,
    site: 'shop',
    method: 'POST',
    uri,
    protocol: 'HTTP/1.1',
    headers,
    body,
    client_ip: '203.0.113.1',
  }));
  const sent = await at.call('POST', '/api/dataplane/samples', { token: node, body: { node: 'n1', samples } });
  if (sent.status !== 200) throw new Error(sent.text);
}

/** Everything stored of requests, and everything the API tells of them. */
async function dump(at: TestApp, database: Database, token: string): Promise<string> {
  const stored = await database.sql`
      select uri, user_agent, '' as details from request_records
      union all select uri, '', details::text from security_events`;
  const samples = (await database.sql<{ body: string }[]>`select body from request_samples`).map(({ body }) =>
    Buffer.from(body, 'base64').toString('utf8'),
  );
  const answers = await Promise.all(
    ['/api/requests?limit=500', '/api/events?limit=500'].map(
      async (url) => (await at.call('GET', url, { token })).text,
    ),
  );
  const text = [...stored.map((row) => Object.values(row).join('\n')), ...samples, ...answers].join('\n');
  return `${text}\n${text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))}`;
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  let count = 0;
  for (const canary of [...secrets, ...personal]) await submit(at, `off-${++count}`, canary);
  const off = await dump(at, database, token);
  for (const { value } of secrets) t.notOk(off.includes(value), `never: ${value}`);
  for (const { value } of personal)
    t.ok(off.includes(value), `without privacy_mode it is kept, or this test could not fail: ${value}`);
  t.ok(off.includes(evidence));

  t.equal((await at.call('PATCH', '/api/settings', { token, body: { privacy_mode: true } })).status, 200);
  for (const table of ['request_records', 'security_events', 'request_samples'])
    await database.sql.unsafe(`delete from ${table}`);
  for (const canary of [...secrets, ...personal]) await submit(at, `on-${++count}`, canary);
  const on = await dump(at, database, token);
  for (const { value } of [...secrets, ...personal]) t.notOk(on.includes(value), `privacy_mode: ${value}`);
  t.ok(on.includes(evidence), 'what was tried is still there');
  t.ok(on.includes('203.0.113.1'), 'and from where');
  t.equal(
    (await database.sql<{ n: number }[]>`select count(*) as n from security_events`)[0]?.n,
    secrets.length + personal.length,
  );
}

t.test('canaries', (t) => onBothDatabases(t, 'privacy', suite));
