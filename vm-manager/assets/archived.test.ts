// An archived application counts in no gate, has nothing due, tells nobody and begins nothing; restored, all of it is
// as before, and no time was gained. Over HTTP and the jobs of the clock, on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const dayMs = 86_400_000;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const session = new Client(at, (await at.user('admin')).token);
  // days pass: a session would end
  const token = (await session.call('POST', '/tokens', { name: 't', scopes: ['admin'] })).body['token'];
  const client = new Client(at, String(token));
  const made = async (path: string, body: Json): Promise<string> => {
    const reply = await client.call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const job = async (name: string): Promise<unknown> =>
    at.jobs.find((one) => one.name === name)?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  const total = async (path: string): Promise<number> => Number((await client.call('GET', path)).body['total']);
  const application = await client.application();
  const move = (to: 'archive' | 'restore') => client.call('POST', `/applications/${application}/${to}`, {});
  await client.send(application, 'title,severity,cwe,file\nInjection,critical,CWE-89,a.js\n', {
    ...{ format: 'csv', mode: 'sync', commit: 'abcdef1', branch: 'main' },
  });
  const judge = async (): Promise<Json> =>
    (await client.call('POST', '/gate/evaluate', { application_id: application, commit: 'abcdef1' })).body;

  await t.test('30.archived: no gate counts it, and to archive is no way around one', async (t) => {
    const before = await judge();
    t.match(before, { verdict: 'fail', reason: /new_critical/ });
    await move('archive');
    const after = await judge();
    t.match(after, { verdict: 'fail', reason: /archived: restore it/, blocking_vuln_ids: [] });
    t.same(after['conditions'], []);
    await move('restore');
    t.equal((await judge())['reason'], before['reason']);
  });

  await t.test('30.archived: nothing of it is due, nor told, and no time is gained', async (t) => {
    const said = async (): Promise<number> => {
      await job('vm-sla');
      const { items } = (await client.call('GET', '/events?limit=500')).body;
      return (items as Json[]).filter(({ type }) => type === 'sla.breached').length;
    };
    await move('archive');
    at.clock.nowMs += 20 * dayMs;
    t.equal(await total('/sla/breaches'), 0);
    t.equal(await total('/sla/clocks'), 0);
    t.equal(await said(), 0);
    await move('restore');
    t.equal(await total('/sla/breaches'), 1, 'it is overdue as it would have been');
    t.equal(await total('/sla/clocks'), 1);
    t.equal(await said(), 1, 'and that is said now');
  });

  await t.test('30.archived: policies end with it, and begin again', async (t) => {
    const predicate = { field: 'severity', op: 'eq', value: 'critical' };
    const policy = await made('/policies', { name: 'p', predicate, action: 'violation' });
    const open = async (): Promise<number> => {
      await job('vm-policies');
      const { items } = (await client.call('GET', '/policies/violations?limit=500')).body;
      return (items as Json[]).filter(({ ended_at: end }) => end === null).length;
    };
    t.equal(await open(), 1);
    await move('archive');
    t.equal(await open(), 0);
    t.match((await client.call('POST', `/policies/${policy}/evaluate`, {})).body, { count: 0 });
    await move('restore');
    t.equal(await open(), 1);
  });

  await t.test('30.archived: nobody is told what happens to it', async (t) => {
    const channel = { name: 'c', type: 'webhook', config: { url: 'https://hook.example' } };
    const id = await made('/notifications/channels', { ...channel, secret: 'a-key-that-is-long-enough-1' });
    await made('/notifications/routes', { name: 'r', channel_id: id, events: ['finding.created'] });
    const other = await client.application();
    const notices = async (): Promise<number> => {
      for (const [app, title] of [
        [application, 'A'],
        [other, 'B'],
      ])
        await made('/vulnerabilities', { application_id: app, title, severity: 'high' });
      await job('vm-outbox');
      const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from vm_notices`;
      return row?.n ?? 0;
    };
    await job('vm-outbox');
    await database.sql`delete from vm_notices`;
    await move('archive');
    t.equal(await notices(), 1, 'of the other one alone');
    await move('restore');
    t.equal(await notices(), 3);
  });

  await t.test('30.archived: its schedules say why they begin nothing', async (t) => {
    const target = await made('/targets', { application_id: application, url: 'https://a.example' });
    const payload = { target_id: target, profile: 'quick' };
    const person = new Client(at, (await at.user('admin')).token);
    const reply = await person.call('POST', '/schedules', { name: 's', kind: 'scan', cron: '0 3 * * *', payload });
    t.equal(reply.status, 201, reply.text);
    await move('archive');
    at.clock.nowMs += dayMs;
    await job('vm-schedules');
    t.match((await client.call('GET', `/schedules/${String(reply.body['id'])}`)).body, {
      last_outcome: 'refused',
      last_reason: /is archived: restore it/,
    });
    await move('restore');
    at.clock.nowMs += dayMs;
    await job('vm-schedules');
    const { last_reason: reason } = (await client.call('GET', `/schedules/${String(reply.body['id'])}`)).body;
    t.notMatch(reason, /archived/);
  });
}

void onBothDatabases(t, 'archived applications', suite);
