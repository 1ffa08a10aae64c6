// Entries of the audit log at a connector that asks for them, and alerts about what is no request.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { receiveHttp, type Call } from './testing/receivers.js';

const signal = new AbortController().signal;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createOutbound({ allow: ['127.0.0.1'] }) });
  t.teardown(() => at.close());
  const { token, email } = await at.user('admin');
  const hook = await receiveHttp(t, () => ({ status: 200 }));
  const run = (name: string) => at.jobs.find((job) => job.name === name)?.run({ nowMs: at.clock.nowMs, signal });
  const patch = (body: object) => at.call('PATCH', '/api/settings', { token, body });
  const eventsAt = (path: string) =>
    hook.calls.filter(({ url }: Call) => url === path).map(({ body }) => JSON.parse(body) as Record<string, any>);
  const connector = (name: string, events?: string) => ({
    name,
    kind: 'webhook',
    target: `${hook.url}/${name}`,
    ...(events === undefined ? {} : { options: { events } }),
  });

  await t.test('O12.7: nothing of the audit log leaves where no connector names it', async (t) => {
    t.equal((await patch({ siem_connectors: [connector('all'), connector('waf', 'waf')] })).status, 200);
    t.equal((await patch({ paranoia_level: 2 })).status, 200);
    const [row] = await database.sql<{ n: number }[]>`select count(*) as n from siem_outbox`;
    t.equal(row?.n, 0);
  });
  await t.test('O12.7: a connector that names the kind gets each entry, others none', async (t) => {
    t.equal((await patch({ siem_connectors: [connector('all'), connector('soc', 'waf, audit')] })).status, 200);
    t.equal((await patch({ paranoia_level: 3, ti_feed_url: 'https://feed.example/list?key=s3cret' })).status, 200);
    await run('siem');
    const [event] = eventsAt('/soc').slice(-1);
    t.match(event, {
      kind: 'audit',
      name: 'Audit: settings.update',
      action: 'observed',
      severity: 5,
      client_ip: '192.0.2.10',
      details: { action: 'settings.update', actor: email, role: 'admin' },
    });
    t.notMatch(JSON.stringify(event), /s3cret/);
    t.same(eventsAt('/all'), [], 'it has to be asked for by name');
    const [entry] = await database.sql<{ hash: string; id: number }[]>`
      select hash, id from audit_entries order by id desc limit 1`;
    t.match(event?.['details'], { hash: entry?.hash, entry: entry?.id });
    t.match((await at.call('GET', '/api/audit/verify', { token })).body, { ok: true });
    t.match(await patch({ siem_connectors: [connector('x', 'audits')] }), { status: 200 });
    t.match((await at.call('GET', '/api/siem', { token })).text, /audits/, 'a kind that there is not is named');
  });

  await t.test('O12.8: alerts about a lost self-test and new findings of API abuse', async (t) => {
    const ids: string[] = [];
    const common = { threshold: 0, window_min: 60, cooldown_min: 30, type: 'chat' };
    for (const [name, more] of [
      ['lost', { metric: 'self_test_lost' }],
      ['threats', { metric: 'api_threats', site: 'shop' }],
      ['elsewhere', { metric: 'api_threats', site: 'other' }],
    ] as const) {
      const body = { ...common, ...more, name, target: `${hook.url}/${name}` };
      const reply = await at.call('POST', '/api/alerts', { token, body });
      t.equal(reply.status, 201, reply.text);
      ids.push(String(reply.body['id']));
    }
    await run('alerts');
    t.same([...eventsAt('/lost'), ...eventsAt('/threats')], [], 'nothing has happened');
    at.clock.nowMs += 60_000;
    const now = new Date(at.clock.nowMs);
    const lost = JSON.stringify([{ attack: 'sqli.1' }, { attack: 'sqli.2' }]);
    await database.sql`
      insert into self_tests (site, started_at, ended_at, lost) values ('shop', ${now}, ${now}, ${lost}::text::jsonb)`;
    const finding = (template: string, status: string) => database.sql`
      insert into api_threats (kind, owasp, site, method, template, principal, credential, client_ips, severity,
        confidence, reason, count, evidence, first_at, last_at, found_at, status)
      values ('bola', 'API1', 'shop', 'GET', ${template}, 'p', 'jwt', '[]', 'high', 'high', 'r', 1, '{}', ${now},
        ${now}, ${now}, ${status})`;
    await finding('/orders/{id}', 'open');
    await finding('/users/{id}', 'dismissed');
    await run('alerts');
    t.match(eventsAt('/lost'), [{ text: /2 attacks that the self-test lost protection against/ }]);
    t.match(eventsAt('/threats'), [{ text: /1 new findings of API abuse/ }], 'a false one counts for nothing');
    t.same(eventsAt('/elsewhere'), []);
    at.clock.nowMs += 3_700_000;
    await run('alerts');
    t.match(eventsAt('/lost').at(-1), { text: /Resolved/ });
    t.equal(ids.length, 3);
    t.notMatch((await at.call('GET', `/api/alerts/${ids[0]}/why`, { token })).text, /request log has no requests/);
  });
}

t.test('audit entries and alerts beside requests', (t) => onBothDatabases(t, 'siem_audit', suite));
