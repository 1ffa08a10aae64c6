// Alert rules from stored requests to the channels, on both databases.
import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import { receiveHttp, type Answer } from '../siem/testing/receivers.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { request } from '../testing/builders/records.js';
import { onBothDatabases, onOneDatabase } from '../testing/databases.js';

const routingKey = 'R'.repeat(32);

async function start(t: Test, database: Database) {
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  const at = await startTestApp(database, { outbound });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  let batches = 0;
  /** Stores requests of this moment: so many, of them so many blocked and so many that failed. */
  const store = async (count: number, blocked = 0, errors = 0, site = 'shop'): Promise<void> => {
    const requests = Array.from({ length: count }, (_, n) =>
      request(n, {
        at_ms: at.clock.nowMs,
        site,
        verdict: n < blocked ? 'block' : 'pass',
        status: n < blocked ? 403 : n < blocked + errors ? 502 : 200,
      }),
    );
    const body = { node: 'n', batch_id: `b${++batches}`, requests, events: [] };
    const reply = await at.call('POST', '/api/dataplane/records', { token: testEnv.dataAdminToken, body });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const job = at.jobs.find(({ name }) => name === 'alerts')!;
  const round = async (afterMs = 15_000): Promise<string> => {
    at.clock.nowMs += afterMs;
    return job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  };
  const add = async (body: object): Promise<string> => {
    const reply = await at.call('POST', '/api/alerts', { token, body });
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const why = async (id: string) => (await at.call('GET', `/api/alerts/${id}/why`, { token })).body;
  return { at, token, store, round, add, why };
}

async function channels(t: Test, database: Database): Promise<void> {
  const { at, token, store, round, add, why } = await start(t, database);
  let answer: Answer = { status: 202, body: '{"status":"success"}' };
  const hook = await receiveHttp(t, () => answer);
  const rule = { metric: 'block_rate', threshold: 20, window_min: 5, cooldown_min: 10, for_min: 1 };
  const id = await add({
    ...rule,
    name: 'pager',
    type: 'pagerduty',
    target: routingKey,
    endpoint: hook.url,
    site: 'shop',
  });
  await add({ ...rule, name: 'chat <&>', type: 'chat', target: `${hook.url}/services/tiger` });
  await add({ ...rule, name: 'hook', type: 'webhook', target: `${hook.url}/in`, secret: 'tiger-secret' });
  await round();
  t.match(await why(id), {
    state: 'ok',
    value: null,
    holds: false,
    reasons: [/no requests of site shop/, /nothing to make/],
  });
  await store(10, 1);
  await round();
  t.match(await why(id), {
    state: 'ok',
    value: 10,
    requests: 10,
    blocked: 1,
    reasons: [/block_rate is 10, which is not above 20/],
  });
  await store(10, 9);
  await round();
  t.match(await why(id), { state: 'pending', value: 50, holds: true, reasons: [/has to hold until .*for_min/] });
  t.equal(hook.calls.length, 0);
  for (let second = 0; second < 60; second += 15) await round();
  t.match(await why(id), {
    state: 'firing',
    reasons: [/has been firing since/],
    notices: [{ action: 'trigger', outcome: 'sent' }],
  });
  const pager = hook.calls.find(({ url }) => url === '/')!;
  t.match(JSON.parse(pager.body), {
    routing_key: routingKey,
    event_action: 'trigger',
    dedup_key: `gatehouse:${id}:shop`,
    payload: {
      summary: /^Firing: pager\. 50 % blocked within 5 min, site shop \(above 20\)/,
      severity: 'warning',
      source: 'shop',
    },
  });
  const chat = JSON.parse(hook.calls.find(({ url }) => url === '/services/tiger')?.body ?? '') as Record<string, any>;
  t.match(chat, { text: /^Firing: chat &lt;&amp;&gt;\./, blocks: [{ type: 'section' }, { type: 'context' }] });
  const signed = hook.calls.find(({ url }) => url === '/in')!;
  const { 'webhook-id': sentId, 'webhook-timestamp': time, 'webhook-signature': signature } = signed.headers;
  const hmac = createHmac('sha256', 'tiger-secret').update(`${String(sentId)}.${String(time)}.${signed.body}`);
  t.equal(signature, `v1,${hmac.digest('base64')}`);
  t.match(JSON.parse(signed.body), {
    schema: 'gatehouse.alert/1',
    action: 'trigger',
    value: 50,
    rule: { name: 'hook' },
  });

  hook.calls.length = 0;
  answer = { status: 429, headers: { 'retry-after': '30' } };
  await round(6 * 60_000);
  t.match(await why(id), {
    state: 'resolved',
    notices: [{ action: 'resolve', ended_at: null, outcome: /answered 429/ }],
  });
  answer = { status: 202 };
  await round();
  t.equal(hook.calls.length, 3, 'not before the pause that was asked for');
  await round(60_000);
  const resolves = hook.calls
    .slice(3)
    .filter(({ url }) => url === '/')
    .map(({ body }) => JSON.parse(body) as object);
  t.match(resolves, [{ event_action: 'resolve', dedup_key: `gatehouse:${id}:shop` }]);
  await store(10, 9);
  await round();
  for (let second = 0; second < 90; second += 15) await round();
  t.match(await why(id), { state: 'pending', reasons: [/less than cooldown_min ago/] });

  const shown = await at.call('GET', '/api/alerts', { token });
  t.notMatch(shown.text, /tiger|RRRR/, 'what lets people in is shown to nobody');
  t.match((await at.call('GET', '/api/audit?limit=20', { token })).text, /alert\.create/);
  await at.app.close();
}

async function ends(t: Test, database: Database): Promise<void> {
  const { at, token, store, round, add, why } = await start(t, database);
  let answer: Answer = { status: 202 };
  const hook = await receiveHttp(t, () => answer);
  const rule = { metric: 'requests', threshold: 3, window_min: 5, cooldown_min: 0 };
  const pager = { ...rule, type: 'pagerduty', target: routingKey, endpoint: hook.url };
  const call = (method: string, url: string, body?: object) => at.call(method, url, { token, body });
  const gone = await add({ ...pager, name: 'gone' });
  const off = await add({ ...pager, name: 'off' });
  const moved = await add({ ...rule, name: 'moved', type: 'chat', target: `${hook.url}/one` });
  await add({ ...rule, name: 'stays', type: 'webhook', target: `${hook.url}/stays` });
  await round();
  await store(5);
  await round();
  const waiting = await add({ ...rule, name: 'waits', for_min: 2, type: 'chat', target: hook.url });
  t.match(await why(waiting), { state: 'ok', holds: true, reasons: [/not evaluated yet/, /hold for 2 min/] });
  t.match(await why(gone), { state: 'firing' });
  const count = hook.calls.length;
  await round();
  await round();
  t.equal(hook.calls.length, count, 'without a cooldown nothing is told with every evaluation');

  hook.calls.length = 0;
  t.equal((await call('DELETE', `/api/alerts/${gone}`)).status, 204);
  t.match(JSON.parse(hook.calls[0]?.body ?? ''), { event_action: 'resolve', dedup_key: `gatehouse:${gone}:*` });
  t.equal((await call('PUT', `/api/alerts/${off}`, { ...pager, name: 'off', enabled: false })).status, 200);
  t.match(JSON.parse(hook.calls[1]?.body ?? ''), { event_action: 'resolve', dedup_key: `gatehouse:${off}:*` });
  t.match(await why(off), { state: 'ok', holds: true, reasons: [/switched off/] });
  t.notMatch((await why(off))['reasons'], [/./, /fires with the next/]);
  const elsewhere = { ...rule, name: 'moved', type: 'chat', target: `${hook.url}/two` };
  t.equal((await call('PUT', `/api/alerts/${moved}`, elsewhere)).status, 200);
  t.match([hook.calls[2]?.url, hook.calls[2]?.body], ['/one', /Resolved: moved\. The rule was changed\./]);
  t.equal(hook.calls.length, 3);
  await round();
  t.equal(hook.calls.at(-1)?.url, '/two', 'the new place is told that it fires');
  t.equal((await call('DELETE', `/api/alerts/${waiting}`)).status, 204);
  t.equal(hook.calls.length, 4, 'what told nobody ends without a word');

  const page = { headers: { 'content-type': 'text/html' }, body: ' <!DOCTYPE html><p>Log in to the network</p>' };
  answer = { status: 200, ...page };
  for (const [type, target, sent] of [
    ['pagerduty', routingKey, false],
    ['chat', hook.url, false],
    ['webhook', hook.url, true],
  ] as const) {
    const tried = { type, target, ...(type === 'pagerduty' ? { endpoint: hook.url } : {}) };
    t.match((await call('POST', '/api/alerts/test', tried)).body, { sent }, `${type}: a page is no receipt`);
  }

  const moment = new Date(at.clock.nowMs);
  const found = { kind: 'bfla', owasp: 'API5:2023', site: 'shop', method: 'GET', template: '/', principal: 'p' };
  const row = { ...found, credential: 'session', client_ips: '[]', severity: 'high', confidence: 'high', reason: 'r' };
  const times = { first_at: moment, last_at: moment, found_at: moment };
  await database.sql`insert into api_threats ${database.sql({ ...row, count: 1, evidence: '[]', ...times })}`;
  const abuse = await add({
    ...rule,
    name: 'abuse',
    metric: 'api_threats',
    threshold: 0,
    type: 'chat',
    target: hook.url,
  });
  t.match(await why(abuse), { value: 1 });
  await database.sql`update api_threats set status = 'dismissed'`;
  t.match(await why(abuse), { value: 0 }, 'what people dismissed is no finding');
}

async function metrics(t: Test, database: Database): Promise<void> {
  const { at, token, store, round, add, why } = await start(t, database);
  const hook = await receiveHttp(t, () => ({ status: 200, body: 'ok' }));
  const channel = { type: 'chat', target: hook.url, cooldown_min: 0, window_min: 2, repeat: false };
  await round();
  const ids = {
    requests: await add({ ...channel, name: 'many', metric: 'requests', threshold: 20 }),
    blocked: await add({ ...channel, name: 'blocked', metric: 'blocked', threshold: 4 }),
    errors: await add({ ...channel, name: 'errors', metric: 'errors', threshold: 2, site: 'shop' }),
    few: await add({ ...channel, name: 'few', metric: 'requests', comparison: 'below', threshold: 5 }),
    missing: await add({ ...channel, name: 'silence', metric: 'missing_data', threshold: 0 }),
  };
  const states = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(ids).map(async ([name, id]) => [name, (await why(id))['state']])),
    );
  await round();
  t.match(await states(), { few: 'firing', missing: 'ok' }, 'nothing is missing where nothing ever was');
  await store(21, 5, 3);
  await store(5, 0, 5, 'other');
  await round();
  t.match(await states(), { requests: 'firing', blocked: 'firing', errors: 'firing', few: 'resolved', missing: 'ok' });
  t.match(await why(ids.errors), { value: 3, requests: 21 }, 'of its site');
  await round(3 * 60_000);
  t.match(await states(), {
    requests: 'resolved',
    blocked: 'resolved',
    errors: 'resolved',
    few: 'firing',
    missing: 'firing',
  });
  await store(30);
  await round();
  t.match(await states(), { missing: 'resolved', few: 'resolved', requests: 'firing' });

  // a silence of two days is still one, although the day before it has nothing to compare with
  await round(3 * 60_000);
  t.match(await why(ids.missing), { state: 'firing' });
  await database.sql`update alert_counts set slot = slot - interval '2 days'`;
  await round();
  await round();
  t.match(await why(ids.missing), { state: 'firing', holds: true, reasons: [/has been firing since/] });
  await store(30);
  await round();
  t.match(await why(ids.missing), { state: 'resolved' });

  const before = hook.calls.length;
  await at.app.close(); // a restart: another process with the same database
  const again = await startTestApp(database, { outbound: createOutbound({ allow: ['127.0.0.1'] }) });
  t.teardown(() => again.close());
  again.clock.nowMs = at.clock.nowMs + 15_000;
  const job = again.jobs.find(({ name }) => name === 'alerts')!;
  await job.run({ nowMs: again.clock.nowMs, signal: new AbortController().signal });
  t.equal(hook.calls.length, before, 'nobody is told anything again');

  const call = (method: string, url: string, body?: object) => again.call(method, url, { token, body });
  const rule = { ...channel, name: 'other', metric: 'requests', threshold: 1 };
  t.match(await call('POST', '/api/alerts', { ...rule, name: 'many' }), { status: 409 });
  for (const [body, path] of [
    [{ ...rule, metric: 'block_rate', threshold: 101 }, '/threshold'],
    [{ ...rule, type: 'pagerduty', target: 'short' }, '/target'],
    [{ ...rule, target: 'ftp://a' }, '/target'],
    [{ ...rule, target: 'https://a/********' }, '/target'],
    [{ ...rule, endpoint: 'https://a' }, '/endpoint'],
    [{ ...rule, metric: 'missing_data', comparison: 'above' }, '/comparison'],
    [{ ...rule, threshold: null }, '/threshold'],
    [{ ...rule, threshold: '' }, '/threshold'],
    [{ ...rule, window_min: null }, '/window_min'],
  ] as const)
    t.match(await call('POST', '/api/alerts', body), { status: 400, body: { errors: [{ path }] } }, path);
  const { body: one } = await call('GET', `/api/alerts/${ids.requests}`);
  const { id: _, state, since, value, evaluated_at: at2, ...sent } = one;
  t.match(await call('PUT', `/api/alerts/${ids.requests}`, { ...sent, threshold: 7 }), {
    status: 200,
    body: { threshold: 7, target: one['target'] },
  });
  t.match(await call('POST', '/api/alerts/test', { id: ids.requests }), {
    status: 200,
    body: { sent: true, reason: null },
  });
  t.match(
    JSON.parse(hook.calls.at(-1)?.body ?? ''),
    { text: /^Test of the alert rule "many"/ },
    'kept although it was sent back hidden',
  );
  t.match(await call('POST', '/api/alerts/test', { type: 'webhook', target: 'http://127.0.0.2:9/x' }), {
    body: { sent: false, reason: /OUTBOUND_ALLOW/ },
  });
  t.match(await call('POST', '/api/alerts/test', {}), { status: 400 });
  t.equal((await call('DELETE', `/api/alerts/${ids.few}`)).status, 204);
  t.equal((await call('GET', `/api/alerts/${ids.few}`)).status, 404);
  void [state, since, value, at2];
}

t.test('ALERT 2: channels, pauses, why', (t) => onBothDatabases(t, 'channels', channels));
t.test('ALERT 2: rules that end while they fire, receipts, findings', (t) => onOneDatabase(t, 'ends', ends));
t.test('ALERT 2: metrics, restart, refusals', (t) => onBothDatabases(t, 'metrics', metrics));
