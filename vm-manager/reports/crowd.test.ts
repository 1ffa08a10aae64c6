// One person makes no hundred reports and links in a row, and sees no address that sends to others.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const admin = new Client(at, token);

  await t.test('reports: thirty within five minutes, two at once', async (t) => {
    const other = new Client(at, (await at.user('operator')).token);
    const build = async (as: Client, title = 'x') => as.call('POST', '/reports', { format: 'json', title });
    t.match(await build(admin, 'a\r\nBcc: evil@e.test'), { status: 422, body: { detail: /title/ } }, 'one line');
    const crowd = await Promise.all(Array.from({ length: 8 }, () => build(admin)));
    const refused = crowd.filter(({ status }) => status === 429);
    t.ok(refused.length > 0, crowd.map(({ status }) => status).join());
    for (const one of refused) t.match(one.body, { detail: /2 of your reports are in the making.*Try again in/ });
    let made = crowd.filter(({ status }) => status === 201).length;
    let last: Json = {};
    for (let left = 40; left > 0; left--) {
      last = await at.call('POST', '/api/v1/reports', { token, body: { format: 'json' } });
      if (last['status'] !== 201) break;
      made++;
    }
    t.equal(made, 30);
    t.match(last, { status: 429, body: { detail: /You have made 30 reports within 5 minutes/ } });
    t.match((last['headers'] as Json)['retry-after'], /^\d+$/);
    t.equal((await build(other)).status, 201, 'others still build theirs');
  });

  await t.test('addresses of webhooks are for who may change them', async (t) => {
    const url = 'https://127.0.0.1/services/T0/secret-path?token=secret-query';
    const hook = await admin.call('POST', '/webhooks', { url, events: [] });
    t.match(hook, { status: 201, body: { url } }, hook.text);
    const channel = await admin.call('POST', '/notifications/channels', {
      ...{ name: 'c', type: 'webhook', secret: 'x'.repeat(30) },
      config: { url },
    });
    t.equal(channel.status, 201, channel.text);
    const viewer = new Client(at, (await at.user('viewer')).token);
    for (const path of ['/webhooks', `/webhooks/${hook.body['id']}`, '/notifications/channels']) {
      const seen = await viewer.call('GET', path);
      t.equal(seen.status, 200, path);
      t.notMatch(seen.text, /secret-path|secret-query/, path);
      t.match(seen.text, /127\.0\.0\.1\/…/);
      t.match((await admin.call('GET', path)).text, /secret-query/, path);
    }
    t.notMatch(
      (await at.call('GET', '/api/audit?limit=50', { token })).text,
      /secret-query.*webhook|"url":"[^"]*secret/,
    );
  });
}

void onBothDatabases(t, 'report_crowd', suite);
