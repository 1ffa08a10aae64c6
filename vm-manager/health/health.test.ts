// The monitor through the API: every component from sound to broken and back, by the rows that it is derived from.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';
import { queueState } from './queues.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
/** In the order in which they are shown. */
const known = [
  'database',
  'replica',
  'redis',
  'nodes',
  'jobs',
  'disk',
  'certificates',
  'feeds',
  'backups',
  'connectors',
  'queues',
  'intelligence',
  'scanners',
  'outgoing',
];
const signal = new AbortController().signal;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { dataDirectory: '.' });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const { sql } = database;
  const minutes = (count: number): Date => new Date(at.clock.nowMs - count * 60_000);
  const ask = async (): Promise<Json> => {
    const { status, body, text } = await client.call('GET', '/health_monitor');
    if (status !== 200) throw new Error(text);
    return body;
  };
  const component = async (id: string): Promise<Json> =>
    (await client.call('GET', `/health_monitor/components/${id}`)).body;
  const look = async (): Promise<void> => {
    at.clock.nowMs += 60_000;
    for (const name of ['vm-health', 'vm-outbox'])
      await at.jobs.find((job) => job.name === name)?.run({ nowMs: at.clock.nowMs, signal });
  };
  const changes = async (query = ''): Promise<Json[]> =>
    (await client.call('GET', `/health_monitor/changes?${query}`)).body['items'] as Json[];

  await t.test('30.health: an installation that begins: every component, and what to do', async (t) => {
    const body = await ask();
    const components = body['components'] as Json[];
    t.strictSame(
      components.map(({ id }) => id),
      known,
    );
    for (const { id, state, summary, action } of components) {
      t.ok(summary !== '', `${id}: ${state}, ${summary}`);
      if (state === 'failing' || state === 'warning') t.match(action, /\S/, `${id} says what to do`);
      t.not(state, 'unknown', `${id} could be looked at`);
    }
    t.match(components[0], { state: 'ok', measure: { name: 'size', unit: 'bytes' }, since: null });
    t.ok(components[0]?.['measure'].value > 1_000_000, 'a measure is measured');
    t.equal(body['looked_at'], null);
    const counts = body['counts'] as Record<string, number>;
    t.equal(
      Object.values(counts).reduce((sum, count) => sum + count),
      components.length,
    );
    await look();
    t.match(await ask(), { looked_at: new Date(at.clock.nowMs).toISOString() });
    t.match(await component('database'), { since: new Date(at.clock.nowMs).toISOString() }, 'since it is looked at');
    t.equal((await client.call('GET', '/health_monitor/components/none')).status, 404);
  });

  /** Breaks a component, and makes it whole again. */
  const cases: readonly (readonly [string, string, RegExp, () => Promise<unknown>, () => Promise<unknown>, string])[] =
    [
      [
        'nodes',
        'failing',
        /1 of 1 node need/,
        () => sql`
        insert into data_nodes (url, first_seen_at, last_asked_at, last_seen_at, reachable, detail)
        values ('http://10.0.0.9:2019', ${minutes(60)}, ${minutes(0)}, ${minutes(30)}, false, 'connection refused')`,
        () => sql`delete from data_nodes`,
        'connection refused',
      ],
      [
        'jobs',
        'failing',
        /1 of \d+ job/,
        () => sql`
        insert into job_state (name, runs, last_started_at, running_since, timed_out_at)
        values ('siem-test', 1, ${minutes(0)}, ${minutes(30)}, ${minutes(20)})`,
        () => sql`delete from job_state where name = 'siem-test'`,
        'hangs since',
      ],
      [
        'feeds',
        'failing',
        /1 of 1 list /,
        () => sql`
        insert into feed_state (name, url, attempted_at, succeeded_at, last_error)
        values ('drop', 'https://feed.example', ${minutes(1)}, ${minutes(60 * 24 * 9)}, 'answered 404')`,
        () => sql`delete from feed_state`,
        'answered 404',
      ],
      [
        'backups',
        'failing',
        /The last backup failed/,
        () => sql`
        insert into backup_runs (started_at, ended_at, error) values (${minutes(9)}, ${minutes(8)}, 'No space left')`,
        () => sql`delete from backup_runs`,
        '',
      ],
      [
        'certificates',
        'failing',
        /1 of 1 certificate /,
        async () => {
          await sql`
          insert into certificates (id, names, source, challenge, attempts, last_error, created_by, created_at)
          values ('c1', 'shop.example', 'acme', 'http-01', 3, 'the authority refused', 'a', ${minutes(9)})`;
          await sql`
          insert into certificate_issues (id, certificate_id, chain, key_sealed, issuer, serial, not_before, not_after,
            issued_at, state)
          values ('i1', 'c1', '', '', 'CA', '1', ${minutes(60 * 24 * 89)}, ${minutes(-60 * 12)},
            ${minutes(60 * 24 * 89)}, 'serving')`;
        },
        async () => {
          await sql`delete from certificate_issues`;
          await sql`delete from certificates`;
        },
        'the authority refused',
      ],
      [
        'queues',
        'failing',
        /1 of \d+ queues lag/,
        () => sql`
        insert into vm_runs (kind, status, created_by, created_at) values ('iac', 'queued', 'a', ${minutes(600)})`,
        () => sql`delete from vm_runs`,
        'Scans of infrastructure: 1 wait',
      ],
      [
        'scanners',
        'failing',
        /1 of 1 need a look/,
        () => sql`
        insert into vm_runs (kind, status, error, created_by, created_at, finished_at)
        select 'sca', 'failed', 'the engine ended', 'a', ${minutes(3)}, ${minutes(2)} from generate_series(1, 3)`,
        () => sql`delete from vm_runs`,
        'the engine ended',
      ],
      [
        'intelligence',
        'failing',
        /1 of 3 sets/,
        () =>
          sql`insert into vm_feeds (name, sha256, rows, fetched_at) values ('kev', 'a', 1, ${minutes(60 * 24 * 20)})`,
        () => sql`delete from vm_feeds`,
        '20 days old',
      ],
      [
        'outgoing',
        'failing',
        /1 of 1 do not work/,
        () => sql`
        insert into vm_channels (name, type, config, state, reason, created_by, created_at, updated_at)
        values ('Team', 'slack', '{}', 'failed', 'the address is unknown', 'a', ${minutes(9)}, ${minutes(9)})`,
        () => sql`delete from vm_channels`,
        'the address is unknown',
      ],
    ];
  for (const [id, state, summary, breakIt, restore, text] of cases)
    await t.test(`30.health: ${id} fails, and recovers`, async (t) => {
      const before = (await component(id))['state'];
      await breakIt();
      t.match(await component(id), { id, state, summary, since: null, action: /\S/ });
      if (text !== '')
        t.match((await component(id))['parts'][0], { state, text: new RegExp(text) }, 'the gravest first');
      await look();
      const broken = new Date(at.clock.nowMs).toISOString();
      await look();
      t.match(await component(id), { state, since: broken }, 'since it was first seen so');
      t.match((await changes(`component=${id}`))[0], { before, state, summary, action: /\S/, at: broken });
      await restore();
      await look();
      t.match((await changes(`component=${id}`))[0], { before: state, state: before });
      const events = (await client.call('GET', '/events?limit=500')).body['items'] as Json[];
      const told = events.filter(({ payload }) => payload?.component === id).map(({ type }) => type);
      const whole = before === 'ok' || before === 'off';
      t.strictSame(told.sort(), ['health.failing', ...(whole ? ['health.recovered'] : [])]);
    });

  await t.test('30.health: queues, the bound of the history, and who may read', async (t) => {
    await sql`
      insert into vm_runs (kind, status, created_by, created_at, finished_at)
      values ('import', 'queued', 'a', ${minutes(45)}, null), ('import', 'failed', 'a', ${minutes(9)}, ${minutes(8)})`;
    const { items } = (await client.call('GET', '/health_monitor/queues')).body as { items: Json[] };
    t.match(
      items.find(({ id }) => id === 'runs.import'),
      { state: 'warning', depth: 1, lag_seconds: 2700, lag_seconds_max: 1800, failures: 1, action: /runs/ },
    );
    await sql`delete from vm_runs`;
    await sql`
      insert into vm_health_changes (component, before, state, summary, at)
      select 'disk', 'ok', 'warning', 'x', now() from generate_series(1, 1500)`;
    await sql`insert into backup_runs (started_at, ended_at, error) values (${minutes(9)}, ${minutes(8)}, 'No room')`;
    await look();
    const { total } = (await client.call('GET', '/health_monitor/changes?limit=1')).body;
    t.equal(total, 1000);
    const viewer = new Client(at, (await at.user('viewer')).token);
    t.equal((await viewer.call('GET', '/health_monitor')).status, 200);
    t.equal((await new Client(at, '').call('GET', '/health_monitor')).status, 401);
  });
}

t.test('the monitor of health', (t) => onOneDatabase(t, 'health', suite));

t.test('30.health: lag is a warning, four times as much a failure', async (t) => {
  const now = new Date('2026-03-01T12:00:00Z');
  const queue = { id: 'q', about: '', depth: 1, lagSecondsMax: 100, failures: 0, action: '' };
  for (const [waited, state] of [
    [100, 'ok'],
    [101, 'warning'],
    [400, 'warning'],
    [401, 'failing'],
  ] as const)
    t.equal(queueState({ ...queue, oldestAt: new Date(now.getTime() - waited * 1000) }, now), state, `${waited} s`);
  t.equal(queueState({ ...queue, depth: 0, oldestAt: null }, now), 'ok');
});
