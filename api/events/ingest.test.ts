import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { event, masker, request, start } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';
import { createIngest, type Ingest } from './ingest.js';

async function pressure(t: Test, database: Database): Promise<void> {
  await startTestApp(database);
  const ingest = createIngest({
    database,
    now: () => start,
    maskLevel: async () => 'secrets',
    masker,
    sampleAboveRows: 2000,
    refuseAboveRows: 6000,
  });
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, async (_, b) =>
      ingest.accept({
        node: 'n',
        batch_id: `p${b}`,
        requests: Array.from({ length: 1000 }, (__, n) => request(n)),
        events: [event(b)],
      }),
    ),
  );
  const done = results.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : []));
  const sampled = done.reduce((sum, r) => sum + r.sampled_out, 0);
  const refused = results.filter(
    (r) => r.status === 'rejected' && (r.reason as { code: string }).code === 'busy',
  ).length;
  t.ok(sampled > 0, `${sampled} sampled out`);
  t.equal(done.length + refused, 20);
  const [rows] = await database.sql<{ requests: number; events: number; blocked: number }[]>`
    select (select count(*) from request_records) as requests, (select count(*) from security_events) as events,
      (select count(*) from request_records where verdict = 'block') as blocked`;
  t.equal(rows?.requests, done.length * 1000 - sampled, 'every record is stored or counted');
  t.equal(rows?.events, done.length, 'events are never sampled');
  t.equal(rows?.blocked, done.length * 100, 'nor are requests that were not plainly passed');
  t.equal((await database.sql`select value from ingest_counters where name = 'sampled_out'`)[0]?.['value'], sampled);
  t.equal(ingest.waitingRows, 0);
}

/**
 * What a crash between two parts of a large batch leaves is completed when the node sends it again: each record once.
 */
async function interrupted(t: Test, database: Database): Promise<void> {
  await startTestApp(database);
  const { sql } = database;
  const batch = {
    node: 'n',
    batch_id: 'large',
    dropped: 7,
    requests: Array.from({ length: 700 }, (_, n) => request(n)),
    events: Array.from({ length: 300 }, (_, n) => event(n)),
  };
  const accept = (given: Parameters<Ingest['accept']>[0]) =>
    createIngest({ database, now: () => start, maskLevel: async () => 'secrets', masker }).accept(given);
  const stored = async () => {
    const [row] = await sql`
      select (select count(*) from request_records) as requests, (select count(*) from security_events) as events,
        (select count(distinct request_id) from request_records) as different,
        (select value from ingest_counters where name = 'dropped_by_nodes') as dropped`;
    return row;
  };
  let parts = 0;
  const ending: Database = {
    ...database,
    copyFiles: null,
    untilQuiet: async () => {
      if (++parts === 4) throw new Error('the process ends');
      return false;
    },
  };
  const crashing = createIngest({
    database: ending,
    now: () => start,
    maskLevel: async () => 'secrets',
    masker,
  }).accept(batch);
  if (database.kind === 'embedded') await t.rejects(crashing, /the process ends/);
  else await crashing;
  const partly = await stored();
  const before = Number(partly?.['requests']) + Number(partly?.['events']);
  if (database.kind === 'embedded')
    t.match(partly, { dropped: null, events: 300, requests: 200 }, 'what the node dropped comes with the whole');
  t.match(await accept(batch), { duplicate: before === 1000, stored: 1000 - before, refused: 0 });
  t.match(await accept(batch), { duplicate: true, stored: 0 });
  t.same(await stored(), { requests: 700, different: 700, events: 300, dropped: 7 });
  t.equal((await sql`select * from ingest_batches`).length, 1, 'a batch is one mark, whatever it fell into');
}

/**
 * Records that the schema lets through and the database does not: each is left out, counted and told, whenever the
 * batch is sent again.
 */
async function refusing(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const ingest = createIngest({ database, now: () => start, maskLevel: async () => 'secrets', masker });
  const requests = Array.from({ length: 500 }, (_, n) => request(n, n === 3 || n === 499 ? { status: 2 ** 40 } : {}));
  const events = Array.from({ length: 10 }, (_, n) => event(n, n === 0 ? { rule_id: 2 ** 70 } : {}));
  const batch = { node: 'n', batch_id: 'wrong', requests, events, dropped: 1 };
  const [first, other, second] = await Promise.all([
    ingest.accept(batch),
    ingest.accept({ node: 'n', batch_id: 'right', requests: [request(1000)], events: [] }),
    ingest.accept(batch),
  ]);
  t.same(
    [first, other, second],
    [
      { stored: 507, duplicate: false, sampled_out: 0, refused: 3 },
      { stored: 1, duplicate: false, sampled_out: 0, refused: 0 },
      { stored: 0, duplicate: true, sampled_out: 0, refused: 3 },
    ],
  );
  t.same(await ingest.accept(batch), second);
  t.match((await at.call('GET', '/api/policy/stats', { token: (await at.user('viewer')).token })).body, {
    requests_stored: 499,
    events_stored: 9,
    records_refused: 3,
    records_dropped_by_nodes: 1,
  });
  const all = { node: 'n', batch_id: 'all wrong', requests: [request(1, { status: 2 ** 40 })], events: [] };
  t.match(await ingest.accept(all), { stored: 0, duplicate: false, refused: 1 });
  const strange = {
    node: 'n',
    batch_id: 'strange',
    requests: [request(2000, { inbound_score: 2 ** 50, outbound_score: 2 ** 50 })],
    events: [event(2000, { details: { 'a\u0000': { '\ud800': '\u0000' } } })],
  };
  t.match(await ingest.accept(strange), { stored: 2, refused: 0 }, 'what has a nearest value is stored with that');
  t.same((await database.sql`select details from security_events where request_id = 'r2000'`)[0]?.['details'], {
    'a\ufffd': { '\ufffd': '\ufffd' },
  });
  await at.close();
}

/**
 * Where statements queue behind each other, a batch lets an apply go first; the node waits no longer than its patience.
 */
async function letsApplyGoFirst(t: Test, database: Database): Promise<void> {
  await startTestApp(database);
  const ingest = createIngest({ database, now: () => start, maskLevel: async () => 'secrets', masker });
  await ingest.accept({ node: 'n', batch_id: 'first', requests: [request(0)], events: [] });
  const order: string[] = [];
  await database.withLock('apply', async () => {
    const behind = ingest
      .accept({ node: 'n', batch_id: 'behind', requests: [request(1)], events: [] })
      .then(() => order.push('records'));
    await (database.kind === 'postgres' ? behind : new Promise((resolve) => setTimeout(resolve, 300)));
    order.push('apply');
  });
  await ingest.accept({ node: 'n', batch_id: 'last', requests: [request(2)], events: [] });
  t.same(order, database.kind === 'embedded' ? ['apply', 'records'] : ['records', 'apply']);
}

t.test('more than can be written', (t) => onBothDatabases(t, 'pressure', pressure));
t.test('a batch that was interrupted', (t) => onBothDatabases(t, 'interrupted', interrupted));
t.test('records that the database refuses', (t) => onBothDatabases(t, 'refusing', refusing));
t.test('records and an apply', (t) => onBothDatabases(t, 'apply first', letsApplyGoFirst));
