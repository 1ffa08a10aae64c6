// Notices from the event to the receiver: over HTTP, against servers that answer as Slack, Teams, PagerDuty, a webhook
// and a mail server do.
import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { startFake, type Asked, type Fake } from '../integrations/testing/fake-server.js';
import { Client, type Json } from '../testing/import-client.js';
import { found, run, sarif } from '../testing/reports-of-scopes.js';
import { startFakeSmtp, type FakeSmtp } from './testing/fake-smtp.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const minute = 60_000;
const key = 'a-key-of-the-test-that-is-long-1';
const hostile = 'Look <!channel> <https://evil.example|here> @all [a](b) password=Hunter2-Secret-99';

class Stage {
  readonly at: TestApp;
  readonly client: Client;
  readonly http: Fake;
  readonly smtp: FakeSmtp;
  application = '';
  constructor(at: TestApp, client: Client, http: Fake, smtp: FakeSmtp) {
    [this.at, this.client, this.http, this.smtp] = [at, client, http, smtp];
  }
  async made(path: string, body: Json): Promise<string> {
    const reply = await this.client.call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  }
  finding(title: string, severity = 'high'): Promise<string> {
    return this.made('/vulnerabilities', { application_id: this.application, title, severity, cwe: ['CWE-79'] });
  }
  /** A round of both jobs, so much later. */
  async round(laterMs = 0): Promise<void> {
    this.at.clock.nowMs += laterMs;
    for (const name of ['vm-outbox', 'vm-notices']) {
      const job = this.at.jobs.find((one) => one.name === name);
      await job?.run({ nowMs: this.at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
    }
  }
  /** What the path has got since it was asked last. */
  take(path: string): Asked[] {
    const found = this.http.asked.filter((one) => one.path === path);
    for (const one of found) this.http.asked.splice(this.http.asked.indexOf(one), 1);
    return found;
  }
  async deliveries(query = ''): Promise<Json[]> {
    return (await this.client.call('GET', `/notifications/deliveries?${query}`)).body['items'] as Json[];
  }
}

async function stageOf(t: Test, database: Database): Promise<Stage> {
  const http = await startFake(
    t,
    () => ({ status: 200, json: {} }),
    () => true,
  );
  const smtp = await startFakeSmtp(t);
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const made = await at.call('POST', '/api/v1/tokens', { token, body: { name: 't', scopes: ['admin'] } });
  const stage = new Stage(at, new Client(at, String(made.body['token'])), http, smtp);
  stage.application = await stage.client.application();
  await stage.round(); // what was made until here is of no interest
  return stage;
}

const channelsOf = ({ http, smtp }: Stage): Readonly<Record<string, Json>> => ({
  slack: { config: { console_url: 'https://gatehouse.example' }, secret: `${http.url}/slack/T0/secret-part` },
  teams: { config: {}, secret: `${http.url}/teams/secret-part` },
  pagerduty: { config: { url: `${http.url}/v2/enqueue` }, secret: 'r-key-of-a-service' },
  webhook: { config: { url: `${http.url}/hook` }, secret: key },
  email: {
    config: {
      host: '127.0.0.1',
      port: smtp.port,
      security: 'none',
      user: 'gate',
      from: 'gate@example.org',
      to: ['team@example.org', 'duty@example.org'],
    },
    secret: 'mail-password-1',
  },
});

async function everyKind(t: Test, stage: Stage): Promise<void> {
  const { client, smtp } = stage;
  const ids: Record<string, string> = {};
  for (const [type, body] of Object.entries(channelsOf(stage))) {
    ids[type] = await stage.made('/notifications/channels', { name: type, type, ...body });
    await stage.made('/notifications/routes', { name: type, channel_id: ids[type], events: ['finding.created'] });
    const tried = await client.call('POST', `/notifications/channels/${ids[type]}/test`);
    t.match(tried, { status: 200, body: { ok: true } }, `${type}: ${tried.text}`);
    t.match((await client.call('GET', `/notifications/channels/${ids[type]}`)).body, { state: 'ok', type });
  }
  for (const path of ['/slack/T0/secret-part', '/teams/secret-part', '/v2/enqueue', '/hook'])
    t.equal(stage.take(path).length, 1, `a test at ${path}`);
  t.equal(smtp.mails.splice(0).length, 1);
  const finding = await stage.finding(hostile);
  await stage.round();
  const [said] = stage.take('/slack/T0/secret-part');
  const text = String(said?.body['blocks'][1].text.text);
  t.match(text, /&lt;!channel&gt;/, text);
  t.match(text, `<https://gatehouse.example/vulnerabilities?status=all&finding=${finding}|`);
  t.notMatch(text, /<!channel|<https:\/\/evil/);
  const [card] = stage.take('/teams/secret-part');
  const { content } = ((card?.body['attachments'] ?? []) as Json[])[0] ?? {};
  t.match(content, { type: 'AdaptiveCard', body: [{ type: 'TextBlock' }, { text: /\\\[a\\\]\\\(b\\\)/ }] });
  const [page] = stage.take('/v2/enqueue');
  t.match(page?.body, { routing_key: 'r-key-of-a-service', event_action: 'trigger', payload: { severity: 'error' } });
  const [hook] = stage.take('/hook');
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = hook?.headers ?? {};
  const signed = createHmac('sha256', key).update(`${String(id)}.${String(at)}.${JSON.stringify(hook?.body)}`);
  t.equal(signature, `v1,${signed.digest('base64')}`, 'signed as Standard Webhooks say');
  const [mail] = smtp.mails.splice(0);
  t.match(mail, { from: 'gate@example.org', to: ['team@example.org', 'duty@example.org'] });
  t.match(mail?.text, /auto-submitted: auto-generated/i);
  t.same(smtp.logins.at(-1), '\0gate\0mail-password-1');
  const sent = JSON.stringify([said, card, page, hook, mail]);
  t.notMatch(sent, /Hunter2/, 'secrets are masked');
  const shown = JSON.stringify([
    (await client.call('GET', '/notifications/channels')).body,
    (await client.call('GET', '/audit')).body,
  ]);
  t.notMatch(shown, /secret-part|mail-password|r-key-of|a-key-of-the-test/, 'secrets are in no answer');
  await stage.round();
  t.same([...stage.http.asked], [], 'nothing is sent twice');
  t.match(await stage.deliveries('state=sent'), Array(5).fill({ type: 'finding.created', attempts: 1 }));
  for (const [, channel] of Object.entries(ids)) await clear(stage, channel);
}

async function clear({ client }: Stage, channel: string): Promise<void> {
  const { body } = await client.call('GET', `/notifications/routes?channel_id=${channel}`);
  for (const { id } of body['items'] as Json[]) await client.call('DELETE', `/notifications/routes/${id}`);
  await client.call('DELETE', `/notifications/channels/${channel}`);
}

async function predicates(t: Test, stage: Stage): Promise<void> {
  const { webhook } = channelsOf(stage);
  const channel = await stage.made('/notifications/channels', { name: 'p', type: 'webhook', ...webhook });
  const route = (name: string, more: Json) =>
    stage.made('/notifications/routes', { name, channel_id: channel, events: ['finding.created'], ...more });
  await route('grave', { predicate: { field: 'severity', op: 'gte', value: 'critical' } });
  const wrong = await stage.client.call('POST', '/notifications/routes', {
    name: 'w',
    channel_id: channel,
    events: [],
    predicate: { field: 'cwe', op: 'contains', value: 1 },
  });
  t.match(wrong, { status: 422, body: { detail: /severity/ } }, 'an event has no such field');
  t.match(await stage.client.call('DELETE', `/notifications/channels/${channel}`), {
    status: 409,
    body: { detail: /route grave/ },
  });
  await stage.finding('mild', 'low');
  await stage.finding('grave', 'critical');
  await stage.round();
  t.match(stage.take('/hook'), [{ body: { subject: /\[critical\] grave/, lines: [{ title: 'grave' }] } }]);
  await clear(stage, channel);
}

async function imports(t: Test, stage: Stage): Promise<void> {
  const { webhook } = channelsOf(stage);
  const config = { ...(webhook?.['config'] as Json), console_url: 'https://gatehouse.example' };
  const channel = await stage.made('/notifications/channels', { name: 'i', type: 'webhook', ...webhook, config });
  const predicate = { field: 'severity', op: 'gte', value: 'high' };
  await stage.made('/notifications/routes', { name: 'i', channel_id: channel, events: ['import.done'], predicate });
  const result = (score: string, rule: string): Json => ({
    ...found(rule),
    properties: { 'security-severity': score },
  });
  const [mild, ...grave] = [result('2', 'a'), result('8', 'b'), result('9.8', 'c'), result('9.1', 'd')] as const;
  for (const [results, title] of [
    [[mild], null],
    [[mild, ...grave], 'house tool: 3 new findings (2 critical, 1 high)'],
    [[mild, ...grave], null],
    [[], null],
    [[grave[1]], 'house tool: 1 new finding (1 critical)'], // what had gone is back
  ] as const) {
    const sent = await stage.client.send(stage.application, sarif(run('house tool', results)), {
      mode: 'sync',
      confirm_close: 'true',
    });
    t.equal(sent.status, 202, JSON.stringify(sent.body));
    await stage.round(minute);
    const lines = [{ title, severity: 'critical', url: 'https://gatehouse.example/vulnerabilities/imports' }];
    t.match(stage.take('/hook'), title === null ? [] : [{ body: { lines } }], title ?? 'nothing grave is new');
  }
  await clear(stage, channel);
}

async function digests(t: Test, stage: Stage): Promise<void> {
  const { webhook } = channelsOf(stage);
  const channel = await stage.made('/notifications/channels', { name: 'd', type: 'webhook', ...webhook });
  const id = await stage.made('/notifications/routes', {
    name: 'd',
    channel_id: channel,
    events: ['finding.created', 'finding.transition'],
    digest_minutes: 60,
    cooldown_minutes: 120,
  });
  const first = await stage.finding('first');
  await stage.finding('second');
  await stage.round();
  t.same(stage.take('/hook'), [], 'gathered');
  await stage.round(61 * minute);
  t.match(stage.take('/hook'), [{ body: { subject: /2 events/, lines: [{ title: 'first' }, { title: 'second' }] } }]);
  const move = (to: string) => stage.client.call('POST', `/vulnerabilities/${first}/transition`, { to, reason: 'r' });
  await move('triaged');
  await move('confirmed');
  await stage.round();
  await stage.round(61 * minute);
  const [one] = stage.take('/hook');
  t.equal(((one?.body['lines'] ?? []) as Json[]).length, 1, 'the same of one finding is silent for a while');
  await stage.client.call('PATCH', `/notifications/routes/${id}`, { enabled: false });
  await stage.finding('third');
  await stage.round();
  await stage.round(61 * minute);
  t.same(stage.take('/hook'), [], 'a route that is switched off');
  await clear(stage, channel);
}

async function quietHours(t: Test, stage: Stage): Promise<void> {
  const { webhook } = channelsOf(stage);
  const body = { name: 'q', type: 'webhook', ...webhook };
  const bad = await stage.client.call('POST', '/notifications/channels', {
    ...body,
    quiet: { from: '22:00', to: '07:00', zone: 'Mars/Base' },
  });
  t.match(bad, { status: 422, body: { detail: /\/quiet\/zone/ } });
  const quiet = { from: '22:00', to: '07:00', zone: 'UTC', urgent: 'critical' };
  const channel = await stage.made('/notifications/channels', { ...body, quiet });
  await stage.made('/notifications/routes', { name: 'q', channel_id: channel, events: ['finding.created'] });
  const night = new Date(stage.at.clock.nowMs);
  night.setUTCHours(47, 30, 0, 0);
  stage.at.clock.nowMs = night.getTime();
  await stage.finding('can wait');
  await stage.finding('cannot wait', 'critical');
  await stage.round();
  t.match(
    stage.take('/hook').map(({ body: said }) => said['lines'][0].title),
    ['cannot wait'],
  );
  await stage.round(6 * 60 * minute);
  t.same(stage.take('/hook'), []);
  await stage.round(2 * 60 * minute);
  t.match(stage.take('/hook'), [{ body: { lines: [{ title: 'can wait' }] } }], 'in the morning');
  await clear(stage, channel);
}

async function troubles(t: Test, stage: Stage): Promise<void> {
  const { client, http, smtp } = stage;
  const { webhook, email } = channelsOf(stage);
  const channel = await stage.made('/notifications/channels', { name: 't', type: 'webhook', ...webhook });
  await stage.made('/notifications/routes', { name: 't', channel_id: channel, events: ['finding.created'] });
  const fail = (status: number, headers = {}) =>
    http.fail({ when: ({ path }) => path === '/hook', answer: { status, headers, body: 'no' } });
  fail(503, { 'retry-after': '600' });
  await stage.finding('waits');
  await stage.round();
  const first = stage.take('/hook')[0];
  t.match(await stage.deliveries('state=queued'), [{ attempts: 1, last_error: /503/ }]);
  await stage.round(5 * minute);
  t.same(stage.take('/hook'), [], 'left alone as long as it asked for');
  await stage.round(7 * minute);
  const again = stage.take('/hook')[0];
  t.equal(again?.headers['webhook-id'], first?.headers['webhook-id'], 'the same id');
  t.match(await stage.deliveries('state=queued'), []);
  fail(422);
  await stage.finding('not taken');
  await stage.round();
  stage.take('/hook');
  const [refused] = await stage.deliveries('state=failed');
  t.match(refused, { last_error: /422/, title: 'not taken' });
  const redelivered = await client.call('POST', `/notifications/deliveries/${refused?.['id']}/redeliver`);
  t.match(redelivered, { status: 200, body: { state: 'queued' } }, redelivered.text);
  await stage.round();
  t.match(stage.take('/hook'), [{ body: { lines: [{ title: 'not taken' }] } }]);
  t.equal((await client.call('POST', `/notifications/deliveries/${refused?.['id']}/redeliver`)).status, 409);
  fail(401);
  await stage.finding('credentials');
  await stage.round();
  stage.take('/hook');
  t.match((await client.call('GET', `/notifications/channels/${channel}`)).body, { state: 'failed', reason: /401/ });
  await stage.round(60 * minute);
  t.same(stage.take('/hook'), [], 'nothing is sent until the channel is tested or changed');
  await client.call('POST', `/notifications/channels/${channel}/test`);
  await stage.round();
  t.equal(stage.take('/hook').length, 2, 'the test, and what had waited');
  fail(401);
  await stage.finding('never taken');
  await stage.round();
  await stage.round(8 * 24 * 60 * minute);
  const [waited] = await stage.deliveries('state=failed');
  t.match(waited, { title: 'never taken', last_error: /waited for 7 days/ }, 'the queue of a failed channel ends');
  stage.take('/hook');
  const moved = await client.call('PATCH', `/notifications/channels/${channel}`, {
    config: { url: http.url.replace('127.0.0.1', 'localhost') },
  });
  t.match(moved, { status: 422 }, 'a secret follows to no other receiver');
  const mail = await stage.made('/notifications/channels', { name: 'm', type: 'email', ...email });
  const tryMail = async () => (await client.call('POST', `/notifications/channels/${mail}/test`)).body;
  smtp.answers.set('AUTH', '535 no');
  t.match(await tryMail(), { ok: false, detail: /does not accept the user and password/ });
  smtp.answers.clear();
  smtp.answers.set('MAIL', '451 later');
  t.match(await tryMail(), { ok: false, detail: /451/ });
  smtp.answers.clear();
  await client.call('PATCH', `/notifications/channels/${mail}`, {
    config: { ...email?.['config'], security: 'starttls' },
  });
  t.match(await tryMail(), { ok: false, detail: /TLS/ }, 'never without the encryption that was asked for');
  t.same(smtp.mails, []);
  for (const [config, where] of [
    [{ ...email?.['config'], to: ['a@example.org\r\nBCC: x@example.org'] }, /\/config\/to/],
    [{ ...email?.['config'], from: 'Gate <gate@example.org>' }, /\/config\/from/],
    [{ ...email?.['config'], host: '10.0.0.1' }, /\/config may not be asked/],
  ] as const) {
    const reply = await client.call('POST', '/notifications/channels', { name: 'x', type: 'email', config });
    t.match(reply, { status: 422, body: { detail: where } }, reply.text);
  }
  await clear(stage, channel);
  await clear(stage, mail);
}

t.test('notices', (t) =>
  onBothDatabases(t, 'vm_notices', async (t, database) => {
    const stage = await stageOf(t, database);
    await t.test('30.notifications: every kind of channel, from the test to the notice', (t) => everyKind(t, stage));
    await t.test('30.notifications: routes choose by type and predicate', (t) => predicates(t, stage));
    await t.test('30.notifications: an import is one notice of what is new in it', (t) => imports(t, stage));
    await t.test('30.notifications: digests gather, cooldowns silence', (t) => digests(t, stage));
    await t.test('30.notifications: quiet hours wait, urgent notices do not', (t) => quietHours(t, stage));
    await t.test('30.notifications: what is away is tried again, what is wrong is said', (t) => troubles(t, stage));
  }),
);
