// What is said once: deadlines that are at risk or missed, by a clock that the test sets, over restarts and beside
// other servers. And how long it is kept.
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases, onOneDatabase } from '#api/testing/databases';
import { eventTypes } from '../kit/events.js';
import { pruneEvents } from '../kit/prune-events.js';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const dayMs = 86_400_000;
const signal = new AbortController().signal;

/** By a token: months pass in these tests, and a session ends. */
async function connect(at: TestApp): Promise<Client> {
  const { token } = await at.user('admin');
  const reply = await new Client(at, token).call('POST', '/tokens', { name: 'n', scopes: ['read', 'write'] });
  return new Client(at, String(reply.body['token']));
}

const runJob = async (at: TestApp, name: string, nowMs: number) =>
  at.jobs.find((job) => job.name === name)?.run({ nowMs, signal });

async function deadlines(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = await connect(at);
  const application = await client.application();
  const start = at.clock.nowMs;
  const made = async (title: string, severity: string): Promise<string> => {
    const reply = await client.call('POST', '/vulnerabilities', { application_id: application, title, severity });
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const [seven, thirty, never] = [
    await made('week', 'critical'),
    await made('month', 'high'),
    await made('no', 'info'),
  ];
  let after = '0';
  /** What is said at so many days after the start, by three that look at once, and once more. */
  const said = async (days: number): Promise<string[]> => {
    const nowMs = start + days * dayMs;
    at.clock.nowMs = nowMs;
    await Promise.all([1, 2, 3].map(() => runJob(at, 'vm-sla', nowMs)));
    await runJob(at, 'vm-sla', nowMs);
    const body = (await client.call('GET', `/events?after=${after}&limit=500`)).body;
    after = body['next_after'] ?? after;
    return (body['items'] as Json[])
      .filter(({ type }) => String(type).startsWith('sla.'))
      .map(({ type, entity_id: id }) => `${String(id)} ${String(type)}`);
  };
  const move = async (id: string, to: string): Promise<void> => {
    const reply = await client.call('POST', `/vulnerabilities/${id}/transition`, { to, reason: 'r' });
    if (reply.status !== 200) throw new Error(reply.text);
  };

  await t.test('VM2: each is said once, at its time, whoever looks', async (t) => {
    t.same(await said(5.5), []);
    t.same(await said(5.7), [`${seven} sla.at_risk`], 'a fifth of seven days is left');
    t.same(await said(6.9), []);
    t.same(await said(7), [`${seven} sla.breached`], 'at the very end');
    t.same(await said(8), []);
    t.same(await said(23.9), []);
    t.same(await said(24.1), [`${thirty} sla.at_risk`]);
    const restarted = await startTestApp(database);
    t.teardown(() => restarted.close());
    const nothing = '0 deadlines are at risk, 0 were missed';
    t.equal(await runJob(restarted, 'vm-sla', start + 25 * dayMs), nothing, 'another process knows what was said');
  });
  await t.test('VM2: what is closed or paused is silent; a clock that begins anew speaks anew', async (t) => {
    await move(thirty, 'resolved');
    t.same(await said(40), [], 'it was fixed before its end');
    await move(thirty, 'reopened');
    t.same(await said(63), []);
    t.same(await said(64.1), [`${thirty} sla.at_risk`]);
    t.same(await said(80), [`${thirty} sla.breached`]);
    const late = await made('late', 'critical');
    t.same(await said(100), [`${late} sla.breached`], 'nobody looked while it was at risk');
    const [row] = await sql<{ sla_told: number }[]>`select sla_told from vm_findings where id = ${never}`;
    t.match(row, { sla_told: 0 }, 'what has no clock has nothing to say');
  });
  await t.test('VM2: an event says until when, and reaches the outbox with its finding', async (t) => {
    const [row] = await sql<{ body: Json }[]>`
      select body from vm_outbox where body ->> 'type' = 'sla.breached' order by id desc limit 1`;
    t.match(row?.body, {
      entity: 'finding',
      title: 'late',
      is_open: true,
      payload: { due_at: new Date(start + 87 * dayMs).toISOString(), days: 7, class: 'severity' },
    });
  });
  await t.test('VM2: more than one batch is said in one round, each once', async (t) => {
    await sql`
      insert into vm_findings (application_id, title, severity, source, effective_risk, priority_score, fingerprint,
        sla_start, sla_days, due_at, first_seen, last_seen, created_at, updated_at)
      select ${application}, 'many', 3, 'sast', 1, 1, 'many ' || n, ${new Date(start)}, 1,
        ${new Date(start + dayMs)}, now(), now(), now(), now() from generate_series(1, 1200) n`;
    await said(101);
    const [row] = await sql<{ n: number; ids: number }[]>`
      select count(*)::int as n, count(distinct entity_id)::int as ids from vm_events e
      where type = 'sla.breached' and entity_id in (select id from vm_findings where title = 'many')`;
    t.same(row, { n: 1200, ids: 1200 });
  });
}

async function pruning(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token, email } = await at.user('admin');
  const client = new Client(at, token);
  const application = await client.application();
  const fill = (count: number, ageDays: number) => sql`
    insert into vm_events (type, entity, entity_id, application_id, at)
    select 'finding.created', 'finding', n, ${application}, ${new Date(at.clock.nowMs - ageDays * dayMs)}
    from generate_series(1, ${count}::int) n`;
  const stats = async (who = client): Promise<Json> => (await who.call('GET', '/events/stats')).body;
  await fill(6000, 100);
  await fill(2000, 10);

  await t.test('VM3: events go with their age, and readers are told up to where', async (t) => {
    t.match(await stats(), {
      events: 8000,
      by_type: { 'finding.created': 8000 },
      bounds: { days: 90, events_max: 500_000 },
      removed: 0,
      removed_last_at: null,
      pruned_through: null,
    });
    t.equal(await runJob(at, 'vm-events', at.clock.nowMs), '6000 events were removed');
    t.match(await stats(), { events: 2000, removed: 6000, pruned_through: '6000' });
    const page = (await client.call('GET', '/events?after=10&limit=1')).body;
    t.match(page, { items: [{ id: '6001' }], pruned_through: '6000' });
    t.equal(await runJob(at, 'vm-events', at.clock.nowMs), '0 events were removed');
  });
  await t.test('VM3: and with their number; the settings say how many', async (t) => {
    const login = await at.logIn(email);
    const set = (body: Json) => at.call('PATCH', '/api/settings', { token: String(login.body['token']), body });
    t.equal((await set({ vm_events_max: 999 })).status, 400);
    t.equal((await set({ vm_events_max: 1500, vm_events_days: 30 })).status, 200);
    at.clock.nowMs += 3000;
    t.equal(await runJob(at, 'vm-events', at.clock.nowMs), '500 events were removed');
    t.match(await stats(), {
      events: 1500,
      bounds: { days: 30, events_max: 1500 },
      removed: 6500,
      pruned_through: '6500',
    });
    await pruneEvents(sql, { days: 1, rowsMax: 0 }, new Date(at.clock.nowMs));
    t.match(await stats(), { events: 0, oldest_at: null, removed: 8000, pruned_through: '8000' });
  });
  await t.test(
    'VM3: the audit log is another chain and holds; a reader of one project learns no numbers',
    async (t) => {
      t.match((await client.call('GET', '/audit/verify')).body, { ok: true });
      const someone = await at.user('operator');
      await sql`insert into vm_grants (user_id, scope, scope_id, role)
      values (${someone.id}, 'application', ${application}, 'operator')`;
      await sql`insert into vm_confined values (${someone.id})`;
      await fill(3, 0);
      t.match(await stats(new Client(at, someone.token)), { events: 3, removed: null });
      await sql`delete from vm_grants`;
      await sql`insert into vm_grants (user_id, scope, scope_id, role)
      values (${someone.id}, 'project', 12345, 'operator')`;
      t.match(await stats(new Client(at, someone.token)), { events: 0, by_type: {}, removed: null });
    },
  );
}

t.test('VM2: every type of event is written by somebody', async (t) => {
  const { readdir, readFile } = await import('node:fs/promises');
  const folder = new URL('../', import.meta.url);
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => name.endsWith('.js') && !name.endsWith('.test.js') && name !== 'kit/events.js',
  );
  const text = (await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')))).join('\n');
  for (const type of Object.keys(eventTypes)) t.ok(text.includes(`'${type}'`) || text.includes(`"${type}"`), type);
});
t.test('deadlines that are told', (t) => onBothDatabases(t, 'deadlines told', deadlines));
t.test('events that are removed', (t) => onOneDatabase(t, 'events removed', pruning));
