// Each sink against a receiver that speaks the real protocol, its errors included.
import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { generate } from 'selfsigned';
import { createOutbound } from '../../outbound/outbound.js';
import type { Connector, SiemKind } from '../connector.js';
import { plainEvent } from '../testing/events.js';
import { receiveDatagrams, receiveHttp, receiveStream, type Answer, type Call } from '../testing/receivers.js';
import { createSinks } from './index.js';
import type { Outcome } from './sink.js';
import { createSplunk } from './splunk.js';
import { datagramOf } from './syslog.js';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const events = ['1', '2', '3'].map((digit) => ({ ...plainEvent, id: `6f1d5a52-1111-4222-8333-44445555666${digit}` }));
const idsOf = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);

const connector = (kind: SiemKind, over: Partial<Connector>): Connector => ({
  name: 'one',
  kind,
  target: 'http://127.0.0.1:1',
  token: 'tiger-token',
  index: '',
  options: {},
  format: ({ elasticsearch: 'ecs', cef: 'cef', syslog: 'rfc5424' }[kind as string] as 'ecs') ?? 'native',
  redact: new Set(),
  events: null,
  problems: [],
  ...over,
});

function send(t: Test, one: Connector, batch = events, allow = ['127.0.0.1']): Promise<Outcome> {
  const outbound = createOutbound({ allow });
  t.teardown(() => outbound.close());
  return createSinks()[one.kind].deliver(one, batch, { outbound, now: () => nowMs });
}

t.test('SIEM 1: Splunk HEC, its form and its codes', async (t) => {
  let answer: Answer = { status: 200, body: '{"text":"Success","code":0}' };
  const hec = await receiveHttp(t, () => answer);
  const one = connector('splunk_hec', { target: hec.url, index: 'main', options: { sourcetype: 'waf' } });
  t.match(await send(t, one), { kind: 'taken', taken: 3, refused: [] });
  const call = hec.calls[0] as Call;
  t.match(call, { url: '/services/collector/event', headers: { authorization: 'Splunk tiger-token' } });
  const told = call.body.split('\n').map((line) => JSON.parse(line) as Record<string, any>);
  t.match(told[0], {
    time: 1772366400.123,
    host: 'node-1',
    sourcetype: 'waf',
    index: 'main',
    event: { id: events[0]?.id },
  });
  t.strictSame(
    told.map((line) => line['fields']['event_id']),
    idsOf(events),
  );
  const cases: [Answer, object][] = [
    [
      { status: 503, body: '{"text":"Server is busy","code":9}', headers: { 'retry-after': '7' } },
      { kind: 'later', afterMs: 7000 },
    ],
    [
      { status: 403, body: '{"text":"Invalid token","code":4}' },
      { kind: 'later', reason: /Invalid token/ },
    ],
    [{ status: 401, body: '{"text":"Token is required","code":2}' }, { kind: 'later' }],
    [{ status: 400, body: '{"text":"Incorrect index","code":7,"invalid-event-number":0}' }, { kind: 'later' }],
    [{ status: 400, body: '{"text":"Invalid data format","code":6,"invalid-event-number":1}' }, { kind: 'unfit' }],
    [{ status: 413, body: '' }, { kind: 'unfit' }],
    [{ status: 500, body: '{"text":"Internal server error","code":8}' }, { kind: 'later' }],
    [
      { status: 200, body: '<html>a captive portal</html>' },
      { kind: 'later', reason: /no success/ },
    ],
  ];
  for (const [given, outcome] of cases) {
    answer = given;
    t.match(await send(t, one), outcome, `${given.status} ${given.body ?? ''}`);
  }
});

t.test('SIEM 1: Splunk HEC, what an indexer acknowledges', async (t) => {
  let asked = 0;
  let writtenAt = 2;
  const hec = await receiveHttp(t, (call) => {
    const channel = call.headers['x-splunk-request-channel'];
    if (channel === undefined) return { status: 400, body: '{"text":"Data channel is missing","code":10}' };
    if (!call.url.includes('/ack')) return { status: 200, body: '{"text":"Success","code":0,"ackId":7}' };
    t.equal(call.url, `/services/collector/ack?channel=${String(channel)}`);
    t.match(JSON.parse(call.body), { acks: [7] });
    asked += 1;
    return { status: 200, body: JSON.stringify({ acks: { 7: asked >= writtenAt } }) };
  });
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  t.teardown(() => outbound.close());
  const one = connector('splunk_hec', { target: hec.url });
  const deliver = (ackMs?: number) => createSplunk(ackMs).deliver(one, events, { outbound, now: () => nowMs });
  t.match(await deliver(), { kind: 'taken', taken: 3 });
  t.equal(asked, 2, 'taken is what is written');
  writtenAt = Number.POSITIVE_INFINITY;
  t.match(await deliver(50), { kind: 'later', taken: 0, reason: /acknowledge/ });
});

t.test('SIEM 1: Elasticsearch _bulk, item by item', async (t) => {
  let statuses = [201, 201, 201];
  let over: Answer | null = null;
  const bulk = await receiveHttp(t, () => {
    if (over !== null) return over;
    const items = statuses.map((status) => ({
      create: { _id: 'x', status, ...(status < 300 ? {} : { error: { type: 'some_exception', reason: 'because' } }) },
    }));
    return { status: 200, body: JSON.stringify({ took: 1, errors: statuses.some((s) => s >= 300), items }) };
  });
  const one = connector('elasticsearch', { target: `${bulk.url}/`, options: { pipeline: 'p 1' } });
  t.match(await send(t, one), { kind: 'taken', taken: 3, refused: [] });
  const call = bulk.calls[0] as Call;
  t.match(call, { url: '/_bulk?pipeline=p%201', headers: { authorization: 'ApiKey tiger-token' } });
  t.equal(call.headers['content-type'], 'application/x-ndjson');
  t.ok(call.body.endsWith('}\n'), 'the last line ends');
  const lines = call.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, any>);
  t.match(lines[0], { create: { _index: 'logs-gatehouse.events-default', _id: events[0]?.id } });
  t.match(lines[1], { '@timestamp': plainEvent.at, event: { id: events[0]?.id } });
  statuses = [409, 201, 409];
  t.match(await send(t, one), { kind: 'taken', taken: 3, refused: [] }, '409: it is there already');
  statuses = [201, 400, 201];
  t.match(await send(t, one), { kind: 'taken', taken: 3, refused: [{ index: 1, reason: /because/ }] });
  statuses = [400, 429, 201];
  t.match(await send(t, one), { kind: 'later', taken: 1, refused: [{ index: 0 }] }, 'from the first that has to wait');
  statuses = [201, 403, 201];
  t.match(await send(t, one), { kind: 'later', taken: 1 });
  statuses = [201, 201];
  t.match(await send(t, one), { kind: 'later', reason: /3 items/ }, 'an answer that is about another body');
  over = { status: 429 };
  t.match(await send(t, one), { kind: 'later', taken: 0 });
  over = { status: 413 };
  t.match(await send(t, one), { kind: 'unfit' });
  const basic = connector('elasticsearch', { target: bulk.url, options: { username: 'u' } });
  await send(t, basic);
  t.equal(bulk.calls.at(-1)?.headers.authorization, `Basic ${Buffer.from('u:tiger-token').toString('base64')}`);
});

t.test('SIEM 1: Azure Logs Ingestion: token, stream, a token that is taken back', async (t) => {
  let tokens = 0;
  let isTokenRefused = false;
  let status = 204;
  const azure = await receiveHttp(t, (call) => {
    if (!call.url.endsWith('/oauth2/v2.0/token')) return { status };
    if (isTokenRefused)
      return { status: 401, body: '{"error":"invalid_client","error_description":"the secret is over"}' };
    tokens += 1;
    return { status: 200, body: `{"token_type":"Bearer","expires_in":3599,"access_token":"access-${tokens}"}` };
  });
  const options = {
    tenant_id: 'ten',
    client_id: 'cli',
    dcr_id: 'dcr-1',
    stream: 'Custom-Waf_CL',
    login_url: azure.url,
  };
  const one = connector('sentinel', { target: azure.url, options });
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  t.teardown(() => outbound.close());
  const sink = createSinks().sentinel;
  const deliver = (now = nowMs) => sink.deliver(one, events, { outbound, now: () => now });
  t.match(await deliver(), { kind: 'taken', taken: 3 });
  const [login, upload] = azure.calls;
  t.equal(login?.url, '/ten/oauth2/v2.0/token');
  t.strictSame(Object.fromEntries(new URLSearchParams(login?.body)), {
    grant_type: 'client_credentials',
    scope: 'https://monitor.azure.com/.default',
    client_id: 'cli',
    client_secret: 'tiger-token',
  });
  t.equal(upload?.url, '/dataCollectionRules/dcr-1/streams/Custom-Waf_CL?api-version=2023-01-01');
  t.equal(upload?.headers.authorization, 'Bearer access-1');
  const rows = JSON.parse(upload?.body ?? '') as Record<string, unknown>[];
  t.match(rows[0], { TimeGenerated: plainEvent.at, EventId: events[0]?.id });
  await deliver();
  t.equal(tokens, 1, 'a token is used again');
  await deliver(nowMs + 3_600_000);
  t.equal(tokens, 2, 'and not beyond its end');
  status = 401;
  t.match(await deliver(nowMs + 3_600_000), { kind: 'later' });
  status = 204;
  t.match(await deliver(nowMs + 3_600_000), { kind: 'taken' });
  t.equal(tokens, 3, 'one that was taken back is asked for anew');
  status = 200;
  t.match(await deliver(nowMs + 3_600_000), { kind: 'later', reason: /says 204/ }, 'a page of a gateway');
  status = 413;
  t.match(await deliver(nowMs + 3_600_000), { kind: 'unfit' });
  isTokenRefused = true;
  t.match(await deliver(nowMs + 9_000_000), { kind: 'later', reason: /invalid_client the secret is over/ });
  t.notMatch(JSON.stringify(await deliver(nowMs + 9_000_000)), /tiger/);
});

t.test('SIEM 1: a webhook is signed, one event a call', async (t) => {
  const statuses = [200, 200, 200];
  const hook = await receiveHttp(t, () => ({ status: statuses.shift() ?? 204 }));
  const secret = Buffer.from('tiger').toString('base64');
  const one = connector('webhook', { target: `${hook.url}/in`, token: `whsec_${secret}` });
  t.match(await send(t, one), { kind: 'taken', taken: 3 });
  for (const [index, { headers, body }] of hook.calls.entries()) {
    const id = headers['webhook-id'];
    t.equal(id, events[index]?.id);
    const signed = `${String(id)}.${String(headers['webhook-timestamp'])}.${body}`;
    t.equal(headers['webhook-timestamp'], (nowMs / 1000).toString());
    t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', 'tiger').update(signed).digest('base64')}`);
    t.match(JSON.parse(body), { id: events[index]?.id });
  }
  statuses.push(200, 400, 200);
  t.match(await send(t, one), { kind: 'taken', taken: 3, refused: [{ index: 1 }] });
  statuses.push(200, 503);
  t.match(await send(t, one), { kind: 'later', taken: 1 });
  statuses.push(302);
  t.match(await send(t, one), { kind: 'later', taken: 0 }, 'a redirect is followed nowhere');
  const list = connector('webhook', { target: hook.url, token: null, options: { batch: '2' } });
  const before = hook.calls.length;
  t.match(await send(t, list), { kind: 'taken', taken: 3 });
  t.strictSame(
    hook.calls.slice(before).map(({ body }) => idsOf(JSON.parse(body) as { id: string }[])),
    [idsOf(events.slice(0, 2)), idsOf(events.slice(2))],
  );
  t.equal(hook.calls.at(-1)?.headers['webhook-signature'], undefined);
});

t.test('SIEM 1: syslog over TCP and TLS with octet counting, CEF inside', async (t) => {
  const plain = await receiveStream(t);
  const one = connector('syslog', { target: `tcp://127.0.0.1:${plain.port}` });
  const long = { ...events[0]!, name: 'ü'.repeat(5000) };
  t.match(await send(t, one, [long, ...events.slice(1)]), { kind: 'taken', taken: 3 });
  t.equal(plain.messages.length, 3);
  t.match(plain.messages[0], /^<131>1 .*üüü: blocked 192\.0\.2\.77$/s);
  plain.cutAfter = 1;
  t.match(await send(t, one), { kind: 'later', taken: 0 }, 'a receiver that dies in the middle has taken nothing');
  await plain.kill();
  t.match(await send(t, one), { kind: 'later', reason: /ECONNREFUSED/ });

  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const secure = await receiveStream(t, { key: made.private, cert: made.cert });
  const cef = connector('cef', { target: `tls://localhost:${secure.port}`, options: { ca_cert: made.cert } });
  t.match(await send(t, cef), { kind: 'taken', taken: 3 });
  t.match(secure.messages[2], / - CEF:0\|Gatehouse\|.*externalId=6f1d5a52-1111-4222-8333-444455556663/);
  const distrusting = connector('cef', { target: `tls://localhost:${secure.port}` });
  t.match(await send(t, distrusting), { kind: 'later', reason: /self-signed|certificate/ });
});

t.test('SIEM 1: syslog over UDP; nobody there is noticed', async (t) => {
  const udp = await receiveDatagrams(t);
  const one = connector('syslog', { target: `udp://127.0.0.1:${udp.port}`, format: 'ecs' });
  const long = { ...events[0]!, name: 'ü'.repeat(5000) };
  t.match(await send(t, one, [...events, long]), { kind: 'taken', taken: 4 });
  t.equal(udp.messages.length, 4);
  t.ok(udp.messages.every((message) => Buffer.byteLength(message) <= 2048 && !message.includes('\ufffd')));
  await udp.kill();
  t.match(await send(t, one), { kind: 'later', reason: /nobody listens/ });
});

t.test('SIEM 1: a datagram is whole, however long what it tells of', async (t) => {
  const long = ['a', 'ü', '😀', '"]\\', '\n'].map((unit) => unit.repeat(50_000));
  const forms = [
    [connector('syslog', {}), /^<\d+>1 .*? - waf \[gatehouse@32473(?: [a-z]+="(?:[^"\\\]]|\\["\\\]])*")+\] \ufeff.+$/s],
    [connector('cef', {}), / - CEF:0\|.* externalId=6f1d5a52-1111-4222-8333-444455556661 /],
  ] as const;
  for (const text of long) {
    const request = { ...plainEvent.request!, path: `/${text}`, query: text, user_agent: text, host: text };
    const rules = Array.from({ length: 40 }, () => ({ id: 942_100, message: text, tags: [text], data: text }));
    const over = { name: text, node: text, site: text, reason: text, request, rules, details: { text } };
    const event = { ...events[0]!, ...over };
    for (const [one, form] of forms) {
      const bytes = datagramOf(one, event);
      t.ok(bytes.length <= 2048, `${one.kind}: ${bytes.length} bytes`);
      t.match(bytes.toString('utf8'), form);
      t.notMatch(bytes.toString('utf8'), /\ufffd/);
    }
    for (const format of ['native', 'ecs', 'ocsf'] as const) {
      const told = datagramOf(connector('syslog', { format }), event).toString('utf8');
      t.ok(Buffer.byteLength(told) <= 2048, format);
      t.ok(JSON.parse(told.slice(told.indexOf('{'))), `${format} is JSON`);
    }
  }
});

t.test('SIEM 1: nothing goes where the guarded client refuses to go', async (t) => {
  const hook = await receiveHttp(t, () => ({ status: 200, body: '{"code":0}' }));
  const lines = await receiveStream(t);
  const udp = await receiveDatagrams(t);
  for (const kind of ['splunk_hec', 'elasticsearch', 'webhook'] as const)
    t.match(await send(t, connector(kind, { target: hook.url }), events, []), { kind: 'later' }, kind);
  const streams = [`tcp://127.0.0.1:${lines.port}`, `tls://localhost:${lines.port}`, `udp://127.0.0.1:${udp.port}`];
  for (const target of [...streams, `tcp://[::ffff:127.0.0.1]:${lines.port}`, 'udp://169.254.169.254:514'])
    t.match(
      await send(t, connector('syslog', { target }), events, []),
      { kind: 'later', reason: /OUTBOUND_ALLOW/ },
      target,
    );
  t.strictSame([hook.calls, lines.messages, udp.messages], [[], [], []]);
});
