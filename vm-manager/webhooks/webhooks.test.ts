// Webhooks from the event to the receiver, over HTTP, with the script of docs/webhooks.md as the receiver's check.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { startFake, type Asked, type Fake } from '../integrations/testing/fake-server.js';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const root = fileURLToPath(new URL('../../../', import.meta.url));
const minute = 60_000;

class Stage {
  readonly at: TestApp;
  readonly client: Client;
  readonly http: Fake;
  constructor(at: TestApp, client: Client, http: Fake) {
    [this.at, this.client, this.http] = [at, client, http];
  }
  async made(path: string, body: Json): Promise<Json> {
    const reply = await this.client.call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body;
  }
  async finding(title: string, severity = 'high'): Promise<string> {
    const application_id = await this.client.application();
    return String((await this.made('/vulnerabilities', { application_id, title, severity }))['id']);
  }
  /** A round of both jobs, so much later; what the receiver got. */
  async round(laterMs = 0): Promise<Asked[]> {
    this.at.clock.nowMs += laterMs;
    for (const name of ['vm-outbox', 'vm-notices']) {
      const job = this.at.jobs.find((one) => one.name === name);
      await job?.run({ nowMs: this.at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
    }
    return this.http.asked.splice(0);
  }
  async deliveries(id: string): Promise<Json[]> {
    return (await this.client.call('GET', `/webhooks/${id}/deliveries`)).body['items'] as Json[];
  }
}

async function stageOf(t: Test, database: Database): Promise<Stage> {
  const http = await startFake(
    t,
    () => ({ status: 200, json: {} }),
    () => true,
  );
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const made = await at.call('POST', '/api/v1/tokens', { token, body: { name: 't', scopes: ['admin'] } });
  return new Stage(at, new Client(at, String(made.body['token'])), http);
}

/** The script as it stands in the documentation; the clock of the test stands still, so the script gets it. */
function verify(t: Test, nowMs: number, secret: string) {
  const directory = t.testdir({});
  const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
  const script = /```js\n([\s\S]+?)```/.exec(page)?.[1] ?? '';
  const path = join(directory, 'verify.mjs');
  writeFileSync(path, `Date.now = () => ${nowMs};\n${script}`);
  return (one: Pick<Asked, 'headers'>, body: string): string => {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = one.headers;
    const run = spawnSync(process.execPath, [path, String(id), String(at), String(signature)], {
      input: body,
      env: { WEBHOOK_SECRET: secret, WEBHOOK_SEEN: join(directory, 'seen') },
      encoding: 'utf8',
    });
    return `${run.status} ${run.stdout}${run.stderr}`.trim();
  };
}

async function signed(t: Test, stage: Stage): Promise<void> {
  const url = `${stage.http.url}/hook`;
  const predicate = { field: 'severity', op: 'gte', value: 'high' };
  const { id, secret } = await stage.made('/webhooks', { url, events: ['finding.created'], predicate });
  t.match(secret, /^whsec_[\w+/]{43}=$/, 'shown once');
  t.match(await stage.client.call('POST', `/webhooks/${id}/test`), { status: 200, body: { ok: true } });
  t.match(await stage.round(), [{ body: { type: 'test' } }]);
  await stage.finding('mild', 'low');
  const finding = await stage.finding('Grave password=Hunter2-Secret-99');
  const [hook, ...others] = await stage.round();
  t.same(others, [], 'one event a delivery, and the predicate holds');
  t.match(hook?.body, {
    type: 'finding.created',
    timestamp: new Date(stage.at.clock.nowMs).toISOString(),
    data: { entity: 'finding', entity_id: finding, severity: 'high', is_open: true, about: /added by hand/ },
  });
  const shown = JSON.stringify([
    (await stage.client.call('GET', '/webhooks')).body,
    (await stage.client.call('GET', '/audit')).body,
    hook?.body,
  ]);
  t.notOk(shown.includes(String(secret).slice(6)), 'the secret is in no other answer');
  t.notMatch(shown, /Hunter2/, 'texts are masked');
  const body = JSON.stringify(hook?.body);
  const seconds = Number(hook?.headers['webhook-timestamp']);
  const check = verify(t, stage.at.clock.nowMs, String(secret));
  const changed = (headers: Record<string, string>) => ({ headers: { ...hook?.headers, ...headers } }) as Asked;
  for (const [what, one, text, said] of [
    ['another body', changed({}), body.replace('high', 'low'), /^1 the signature/],
    ['another id', changed({ 'webhook-id': 'other' }), body, /^1 the signature/],
    ['a later time', changed({ 'webhook-timestamp': String(seconds + 60) }), body, /^1 the signature/],
    ['an old one', changed({ 'webhook-timestamp': String(seconds - 301) }), body, /^1 the timestamp/],
    ['as it came', changed({}), body, /^0 ok$/],
    ['again', changed({}), body, /^1 the delivery was seen/],
  ] as const)
    t.match(check(one, text), said, what);
  t.match((await stage.client.call('GET', `/webhooks/${id}`)).body, { state: 'ok', url });
  const hidden = ['/notifications/channels', '/notifications/routes', '/notifications/deliveries'];
  for (const path of hidden) t.match((await stage.client.call('GET', path)).body, { total: 0 }, path);
  const route = { name: 'r', channel_id: id, events: [] };
  t.equal((await stage.client.call('POST', '/notifications/routes', route)).status, 422, 'a webhook is no channel');
  t.equal((await stage.client.call('DELETE', `/webhooks/${id}`)).status, 204);
  t.equal((await stage.client.call('GET', `/webhooks/${id}/deliveries`)).status, 404);
}

async function troubles(t: Test, stage: Stage): Promise<void> {
  const { client, http } = stage;
  const { id } = await stage.made('/webhooks', { url: `${http.url}/hook`, events: [], name: 'all' });
  const fail = (status: number, headers = {}) =>
    http.fail({ when: ({ path }) => path === '/hook', answer: { status, headers, body: 'no' } });
  await stage.round(minute);
  fail(503, { 'retry-after': '600' });
  await stage.finding('waits');
  const [first] = await stage.round();
  t.match(await stage.deliveries(id), [{ state: 'queued', attempts: 1, last_error: /503/ }]);
  t.same(await stage.round(5 * minute), [], 'left alone as long as it asked for');
  const [second] = await stage.round(7 * minute);
  t.equal(second?.headers['webhook-id'], first?.headers['webhook-id'], 'the same id');
  t.not(second?.headers['webhook-signature'], first?.headers['webhook-signature'], 'another signature');
  const [sent] = await stage.deliveries(id);
  t.match(sent, { state: 'sent', attempts: 2, delivery_id: first?.headers['webhook-id'], title: 'waits' });
  const again = await client.call('POST', `/webhooks/deliveries/${sent?.['id']}/redeliver`);
  t.match(again, { status: 200, body: { state: 'queued', attempts: 0 } });
  t.equal((await client.call('POST', `/webhooks/deliveries/${sent?.['id']}/redeliver`)).status, 409);
  t.equal((await client.call('POST', `/notifications/deliveries/${sent?.['id']}/redeliver`)).status, 404);
  const [third] = await stage.round(minute);
  t.match(third, { headers: { 'webhook-id': first?.headers['webhook-id'] }, body: second?.body as Json });
  fail(401);
  await stage.finding('credentials');
  await stage.round();
  t.match((await client.call('GET', `/webhooks/${id}`)).body, { state: 'failed', reason: /401/ });
  t.same(await stage.round(60 * minute), [], 'nothing until it is tested or changed');
  const renewed = await client.call('PATCH', `/webhooks/${id}`, { new_secret: true });
  t.match(renewed, { status: 200, body: { secret: /^whsec_/, state: 'untested' } });
  t.equal((await stage.round()).length, 1, 'what had waited');
  await client.call('PATCH', `/webhooks/${id}`, { enabled: false });
  await stage.finding('never');
  t.same(await stage.round(minute), [], 'switched off');
  t.equal((await client.call('POST', `/webhooks/deliveries/${sent?.['id']}/redeliver`)).status, 409);
}

async function refusals(t: Test, stage: Stage): Promise<void> {
  const { client, http } = stage;
  const { id } = await stage.made('/webhooks', { url: `${http.url}/r`, events: [], secret: 'x'.repeat(24) });
  const hollow = `whsec_${'!'.repeat(30)}`;
  const moved = http.url.replace('127.0.0.1', 'localhost');
  for (const [method, path, body, where] of [
    ['POST', '/webhooks', { url: 'https://10.0.0.1/', events: [] }, /\/url may not be asked.+OUTBOUND_ALLOW/],
    ['POST', '/webhooks', { url: 'http://hook.example/', events: [] }, /\/url is not encrypted/],
    ['POST', '/webhooks', { url: 'https://u:p@hook.example/', events: [] }, /without credentials/],
    ['POST', '/webhooks', { url: 'https://hook.example/', events: ['no.such'] }, /events/],
    ['POST', '/webhooks', { url: 'https://hook.example/', events: [], secret: 'short' }, /secret/],
    ['POST', '/webhooks', { url: `${http.url}/h`, events: [], secret: hollow }, /no key of 16 bytes/],
    ['PATCH', `/webhooks/${id}`, { secret: hollow }, /no key of 16 bytes/],
    ['PATCH', `/webhooks/${id}`, { secret: 'y'.repeat(30), new_secret: true }, /new_secret/],
    ['PATCH', `/webhooks/${id}`, { predicate: { field: 'cwe', op: 'eq', value: 1 } }, /severity/],
  ] as const)
    t.match(await client.call(method, path, body), { status: 422, body: { detail: where } }, JSON.stringify(body));
  const other = { url: moved.replace('http://', 'https://') };
  t.match(await client.call('PATCH', `/webhooks/${id}`, other), { status: 422 }, 'a secret follows to no other one');
  const stale = await stage.at.call('PATCH', `/api/v1/webhooks/${id}`, {
    token: client.token,
    body: { name: 'n' },
    headers: { 'if-match': '"7"' },
  });
  t.equal(stale.status, 409, stale.text);
  t.match(await client.call('PATCH', `/webhooks/${id}`, { name: 'n' }), { status: 200, body: { secret: null } });
  await exercise(t, client, '/webhooks');
}

t.test('30.webhooks: signed deliveries', (t) =>
  onBothDatabases(t, 'vm_webhooks', async (t, database) => {
    const stage = await stageOf(t, database);
    await t.test('30.webhooks: a receiver proves what came, and refuses what comes again', (t) => signed(t, stage));
    await t.test('30.webhooks: what is away is tried again under the same id', (t) => troubles(t, stage));
    await t.test('30.webhooks: addresses, secrets and versions are checked', (t) => refusals(t, stage));
  }),
);
