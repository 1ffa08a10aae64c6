// From a stored event to the receivers, on both databases: what one transaction writes, the order, receivers that are
// killed and come back, dead letters, replays, and what people see of it.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { systemActor } from '../http-kit/index.js';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp, testEnv, type TestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { addDenials, decide } from '../measures/store.js';
import { addBans } from '../edge/store.js';
import { pruneOutbox } from './store.js';
import { receiveDatagrams, receiveHttp, receiveStream } from './testing/receivers.js';

const nodeToken = testEnv.dataAdminToken;

function eventRecord(at: TestApp, number: number) {
  return {
    at_ms: at.clock.nowMs,
    request_id: `r-${number}`,
    site: 'shop',
    client_ip: '192.0.2.7',
    kind: 'waf',
    verdict: 'block',
    method: 'GET',
    uri: `/items/${number}?q=tiger`,
    status: 403,
    rule_id: 942_100,
    inbound_score: 5,
    details: { headers: [['User-Agent', 'curl']], messages: [{ rule_id: 942_100, message: 'SQL', tags: [] }] },
  };
}

async function start(t: Test, database: Database) {
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  const at = await startTestApp(database, { outbound });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  let batches = 0;
  let made = 0;
  /** Stores so many new events; returns the numbers of them. */
  const store = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, () => eventRecord(at, ++made));
    const body = { node: 'n', batch_id: `b${++batches}`, requests: [], events };
    const reply = await at.call('POST', '/api/dataplane/records', { token: nodeToken, body });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const patch = async (body: object): Promise<void> => {
    const reply = await at.call('PATCH', '/api/settings', { token, body });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const job = at.jobs.find(({ name }) => name === 'siem')!;
  /** One round of the loop, a minute after the one before: longer than any pause. */
  const round = async (): Promise<string> => {
    at.clock.nowMs += 61_000;
    return job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  };
  const status = async (name: string): Promise<Record<string, any>> => {
    const reply = await at.call('GET', '/api/siem', { token });
    return (reply.body['connectors'] as { name: string }[]).find((one) => one.name === name) ?? {};
  };
  return { at, token, store, patch, round, status };
}

const numbered = (uris: readonly string[]): number[] => uris.map((uri) => Number(/items\/(\d+)/.exec(uri)?.[1]));
const upTo = (count: number, from = 1): number[] => Array.from({ length: count }, (_, index) => from + index);

/** Without what came twice under one id; in the order in which each came first. */
function unique(messages: readonly { id: string; path: string }[]): number[] {
  return numbered([...new Map(messages.map(({ id, path }) => [id, path])).values()]);
}

const fromSyslog = (line: string) => ({
  id: / id="([^"]+)"/.exec(line)?.[1] ?? '',
  path: / path="([^"]+)"/.exec(line)?.[1] ?? '',
});

async function killed(t: Test, database: Database): Promise<void> {
  const { at, store, patch, round, status } = await start(t, database);
  const seen: Record<string, { id: string; path: string }[]> = { hec: [], elastic: [], hook: [] };
  let answersLost = false;
  const hec = await receiveHttp(t, ({ body }) => {
    for (const line of body.split('\n')) {
      const { event } = JSON.parse(line) as { event: { id: string; request: { path: string } } };
      seen['hec']?.push({ id: event.id, path: event.request.path });
    }
    return answersLost ? null : { status: 200, body: '{"text":"Success","code":0}' };
  });
  const known = new Set<string>();
  const elastic = await receiveHttp(t, ({ body }) => {
    const lines = body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, any>);
    const items = [];
    for (let index = 0; index < lines.length; index += 2) {
      const id = String(lines[index]?.['create']['_id']);
      const isNew = !known.has(id);
      known.add(id);
      if (isNew) seen['elastic']?.push({ id, path: String(lines[index + 1]?.['url'].path) });
      items.push({ create: { _id: id, status: isNew ? 201 : 409 } });
    }
    return { status: 200, body: JSON.stringify({ errors: false, items }) };
  });
  const hook = await receiveHttp(t, ({ body }) => {
    const event = JSON.parse(body) as { id: string; request: { path: string } };
    seen['hook']?.push({ id: event.id, path: event.request.path });
    return answersLost ? null : { status: 200 };
  });
  const lines = await receiveStream(t);
  const datagrams = await receiveDatagrams(t);
  await patch({
    siem_connectors: [
      { name: 'hec', kind: 'splunk_hec', target: hec.url, token: 'x' },
      { name: 'elastic', kind: 'elasticsearch', target: elastic.url },
      { name: 'lines', kind: 'syslog', target: `tcp://127.0.0.1:${lines.port}` },
      { name: 'udp', kind: 'syslog', target: `udp://127.0.0.1:${datagrams.port}` },
    ],
    siem_webhook_url: hook.url,
  });
  const receivers = [hec, elastic, hook, lines, datagrams];
  await store(30);
  await round();
  answersLost = true;
  lines.cutAfter = 5;
  await store(30);
  await round();
  t.equal((await status('hec'))['state'], 'failing', 'an answer that is lost means: again');
  answersLost = false;
  await round();
  // ten minutes without receivers, by the clock of the test
  for (const receiver of receivers) await receiver.kill();
  for (let minute = 0; minute < 10; minute++) {
    await store(40);
    await round();
  }
  for (const name of ['hec', 'elastic', 'lines', 'udp', '_siem_webhook_url']) {
    const told = await status(name);
    t.match(told, { state: 'failing', waiting: 400, failures: 10, dead_letters: 0, last_error: /127\.0\.0\.1/ }, name);
    t.ok(told['lag_seconds'] >= 600, `${name} says how far it is behind`);
  }
  for (const receiver of receivers) await receiver.revive();
  while ((await round()) !== 'nothing new');
  const all = upTo(460);
  for (const [name, events] of Object.entries(seen)) t.strictSame(unique(events), all, `${name}: none lost, in order`);
  t.strictSame(unique(lines.messages.map(fromSyslog)), all, 'syslog over TCP: none lost, in order');
  t.strictSame(unique(datagrams.messages.map(fromSyslog)), all, 'syslog over UDP: none lost, in order');
  t.equal(seen['elastic']?.length, 460, 'what was there before is not stored twice');
  t.match(await status('lines'), { state: 'waiting', waiting: 0, failures: 0, last_error: null, delivered: 460 });
  await at.app.close();
}

async function outbox(t: Test, database: Database): Promise<void> {
  const { at, store, patch, round } = await start(t, database);
  const bodies: Record<string, any>[] = [];
  const hook = await receiveHttp(t, ({ body }) => {
    bodies.push(JSON.parse(body) as Record<string, any>);
    return { status: 200 };
  });
  const { sql } = database;
  const outboxRows = async (): Promise<number> => (await sql`select 1 from siem_outbox`).length;
  await store(2);
  t.equal(await outboxRows(), 0, 'nobody wants any: none is kept');
  await patch({ siem_webhook_url: hook.url });
  await store(1);
  t.equal(await outboxRows(), 1, 'from the change of the settings on, with the event itself');
  await t.rejects(
    sql.begin(async (tx) => {
      await tx`insert into security_events (at, request_id, site, client_ip, kind, verdict, method, uri, status)
        values (${new Date(at.clock.nowMs)}, 'x', '', '', 'waf', 'flag', 'GET', '/', 200)`;
      throw new Error('rolled back');
    }),
  );
  t.equal(await outboxRows(), 1, 'what is rolled back was never there');
  const now = new Date(at.clock.nowMs);
  const until = new Date(at.clock.nowMs + 600_000);
  await sql.begin(async (tx) => {
    const ban = { network: '192.0.2.8', zone: 'default', requestId: 'q', offence: 2, threshold: 9, windowSeconds: 60 };
    await addBans(tx, 'n', [{ ...ban, atMs: now.getTime(), untilMs: until.getTime() }]);
    await addDenials(
      tx,
      { subjects: ['192.0.2.8'], source: 'manual', reason: '', addedBy: 'x', expiresAt: until },
      now,
    );
    const decision = { subject: '192.0.2.9', action: 'challenge', reason: 'risk 61', expiresAt: until } as const;
    await decide(tx, [decision], { source: 'manual', addedBy: systemActor.name }, now);
  });
  await round();
  t.match(
    bodies.map(({ kind, action, client_ip: ip }) => [kind, action, ip]),
    [
      ['waf', 'blocked', '192.0.2.7'],
      ['ban', 'blocked', '192.0.2.8'],
      ['verdict', 'challenged', '192.0.2.9'],
    ],
  );
  t.match(bodies[0], { request: { path: '/items/3', query: 'q=tiger' }, rules: [{ id: 942_100 }] });
  t.equal(await pruneOutbox(sql, new Date(0), 1), 2, 'the outbox has a bound');
  t.equal(await pruneOutbox(sql, new Date(at.clock.nowMs + 86_400_000), 10), 1);
  await at.app.close();
}

async function refused(t: Test, database: Database): Promise<void> {
  const { at, token, store, patch, round, status } = await start(t, database);
  let isStrict = true;
  const seen: number[] = [];
  const hec = await receiveHttp(t, ({ body }) => {
    const events = body.split('\n').map((line) => (JSON.parse(line) as { event: any }).event);
    const paths = numbered(events.flatMap(({ request }) => (request === null ? [] : [String(request.path)])));
    if (isStrict && paths.some((number) => number % 40 === 0))
      return { status: 400, body: '{"text":"Invalid data format","code":6}' };
    seen.push(...paths);
    return { status: 200, body: '{"code":0}' };
  });
  const target = { name: 'hec', kind: 'splunk_hec', target: hec.url, token: 'tiger-token' };
  await patch({ siem_connectors: [{ ...target, options: { redact: 'client_ip query', events: 'waf' } }] });
  const startedMs = at.clock.nowMs;
  await store(100);
  while ((await round()) !== 'nothing new');
  t.strictSame(
    seen,
    upTo(100).filter((number) => number % 40 !== 0),
    'those that fit came, in order',
  );
  t.match(await status('hec'), { state: 'waiting', dead_letters: 2, delivered: 98, format: 'native' });
  const path = '/api/siem/connectors/hec';
  const letters = await at.call('GET', `${path}/dead-letters?limit=1`, { token });
  t.match(letters.body, { items: [{ reason: /Invalid data format/, kind: 'record', is_retried: false }] });
  t.notMatch(letters.text, /192\.0\.2\.7|tiger/, 'the list shows no more than the connector tells');
  const next = await at.call('GET', `${path}/dead-letters?cursor=${String(letters.body['next_cursor'])}`, { token });
  t.match(next.body, { items: [{ event: { request: { path: '/items/40' } } }], next_cursor: null });
  t.match(await at.call('POST', `${path}/dead-letters/retry`, { token, body: {} }), {
    status: 202,
    body: { events: 2 },
  });
  await round();
  t.match(await status('hec'), { dead_letters: 2 }, 'refused again, kept again');
  isStrict = false;
  await at.call('POST', `${path}/dead-letters/retry`, { token, body: {} });
  await round();
  t.strictSame(seen.slice(98), [40, 80]);
  t.match(await status('hec'), { dead_letters: 0, delivered: 98 });

  const range = { from: new Date(startedMs).toISOString(), to: new Date(at.clock.nowMs).toISOString() };
  seen.length = 0;
  t.match(await at.call('POST', `${path}/replays`, { token, body: range }), { status: 202, body: { events: 100 } });
  await store(1);
  await round();
  t.strictSame(seen, [101, ...upTo(100)], 'what is new first, then the range in its order');
  t.match(await at.call('POST', `${path}/replays`, { token, body: { from: '2020-01-01', to: '2020-01-02' } }), {
    status: 202,
    body: { events: 0 },
  });
  t.match(await at.call('POST', `${path}/replays`, { token, body: { from: '2020-01-02', to: '2020-01-01' } }), {
    status: 400,
  });
  t.match(await at.call('POST', '/api/siem/connectors/other/test', { token, body: {} }), {
    status: 404,
    body: { detail: /Those that are: hec/ },
  });
  const tried = await at.call('POST', `${path}/test`, { token, body: {} });
  t.match(tried, { status: 200 });
  t.match((await at.call('GET', '/api/audit?limit=50', { token })).text, /siem\.replay.*siem\.retry/s);
  const { token: viewer } = await at.user('viewer');
  t.equal((await at.call('POST', `${path}/dead-letters/retry`, { token: viewer, body: {} })).status, 403);
  t.notMatch((await at.call('GET', '/api/siem', { token: viewer })).text, /tiger/);

  await patch({ siem_connectors: [{ ...target, options: { format: 'xml', colour: 'red', redact: 'all' } }] });
  await store(1);
  await round();
  t.match(await status('hec'), {
    state: 'misconfigured',
    waiting: 1,
    problems: [/colour is no option of splunk_hec; those are/, /format is xml/, /redact has the word all/],
  });
  t.match(await at.call('POST', `${path}/test`, { token, body: {} }), { body: { delivered: false, reason: /colour/ } });
  await patch({ siem_connectors: [target] });
  await round();
  t.equal(seen.at(-1), 102, 'what waited comes when it is fixed');
  await patch({ siem_connectors: [] });
  await store(5);
  await patch({ siem_connectors: [target] });
  await store(1);
  await round();
  t.equal(seen.at(-1), 108, 'one that was off begins with what comes after it is on');
  t.notOk(seen.includes(105));
  await at.app.close();
}

t.test('SIEM 1: receivers killed and back', (t) => onBothDatabases(t, 'none is lost', killed));
t.test('SIEM 1: the outbox', (t) => onBothDatabases(t, 'one transaction with the event', outbox));
t.test('SIEM 1: what is refused, and sent again', (t) => onBothDatabases(t, 'dead letters and replays', refused));
