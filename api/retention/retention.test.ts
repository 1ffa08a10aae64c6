// What goes when: R5 (a clock that jumps), R7 (the size of the embedded database), R9 (a day that went meanwhile).
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createIngest } from '../events/ingest.js';
import { createOrdinaryBucket } from '../events/ordinary-limit.js';
import { startTestApp } from '../testing/app.js';
import { event, masker, request, start } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';
import { createRetentionJob } from './job.js';
import { shrinkTo } from './size.js';

const dayMs = 86_400_000;
const signal = new AbortController().signal;

async function store(database: Database, nowMs: number, id: string, requests = 3, ordinary?: object) {
  const ingest = createIngest({ database, now: () => nowMs, maskLevel: async () => 'secrets', masker, ...ordinary });
  return ingest.accept({
    node: 'n',
    batch_id: id,
    requests: Array.from({ length: requests }, (_, n) => ({ ...request(n), at_ms: nowMs + n })),
    events: [{ ...event(1), at_ms: nowMs }],
  });
}

const count = async ({ sql }: Database): Promise<number> =>
  (await sql<{ n: number }[]>`select count(*) as n from request_records`)[0]?.n ?? -1;

async function jump(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  let people = 0;
  // sessions end with the clock, so each question is somebody's who has just come
  const tokenOf = async (role: 'admin' | 'viewer'): Promise<string> =>
    (await at.user(role, `${role}${++people}@example.test`)).token;
  const job = createRetentionJob(at.parts);
  const run = (nowMs: number): Promise<string> => {
    at.clock.nowMs = nowMs;
    return job.run({ nowMs, signal });
  };
  await store(database, start, 'a');
  t.match(await run(start), /removed$/, 'the first run prunes');
  t.match(await run(start + dayMs), /removed$/);
  for (const days of [401, 31, 5]) {
    t.match(await run(start + days * dayMs), /^refused to prune: the clock says .* days after the last run/, `${days}`);
    t.equal(await count(database), 3);
  }
  const audit = await at.call('GET', '/api/audit', { token: await tokenOf('admin') });
  t.equal(audit.text.split('retention.refused').length - 1, 1, 'told once');
  t.match((await at.call('GET', '/api/retention', { token: await tokenOf('viewer') })).body, {
    refused_since: new Date(start + 401 * dayMs).toISOString(),
  });
  t.match(await run(start + dayMs + 1), /removed$/, 'the clock is back');
  t.match((await at.call('GET', '/api/retention', { token: await tokenOf('viewer') })).body, { refused_since: null });
  t.equal(await count(database), 3);
  t.match(await run(start - dayMs), /removed$/, 'a clock that was set back makes nothing old');
  t.match(await run(start), /removed$/);
  // it is right after all
  t.match(await run(start + 60 * dayMs), /^refused/);
  t.equal((await at.call('POST', '/api/retention/confirm', { token: await tokenOf('viewer') })).status, 403);
  t.equal((await at.call('POST', '/api/retention/confirm', { token: await tokenOf('admin') })).status, 200);
  t.match(await run(start + 60 * dayMs), /removed$/);
  t.equal(await count(database), 0);
}

t.test('R5: a clock that jumps ahead erases nothing', (t) => onBothDatabases(t, 'jump', jump));

t.test('R5: an installation from before the clock was noted asks its records', (t) =>
  onBothDatabases(t, 'old', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    await store(database, start, 'a');
    t.match(await createRetentionJob(at.parts).run({ nowMs: start + 400 * dayMs, signal }), /^refused to prune/);
    t.equal(await count(database), 3);
  }),
);

t.test('R7: days go, the oldest first, until the embedded database is small enough', (t) =>
  onBothDatabases(t, 'size', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    for (const [index, days] of [0, 1, 2].entries()) await store(database, start + days * dayMs, `b${index}`, 500);
    const now = new Date(start + 2 * dayMs);
    const size = async (): Promise<number> =>
      (await database.sql<{ n: number }[]>`select pg_database_size(current_database()) as n`)[0]?.n ?? 0;
    t.equal(await shrinkTo(database, Number.MAX_SAFE_INTEGER, now), null);
    t.match(await shrinkTo(database, (await size()) - 1000, now), { days: 1, emptied: [] });
    t.equal(await count(database), 1000);
    t.match(await shrinkTo(database, 1, now), { days: 1, emptied: ['request_records', 'security_events'] });
    t.equal(await count(database), 0);
    await store(database, now.getTime(), 'after', 3);
    t.equal(await count(database), 3, 'and it goes on');
  }),
);

t.test('R7: the embedded database takes so many ordinary requests, and everything else', (t) =>
  onBothDatabases(t, 'sampling', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const { token } = await at.user('viewer');
    const limit = { ordinary: { perSecond: 1, burst: 40 } };
    const stored = await store(database, start, 'a', 1000, limit);
    const isEmbedded = database.kind === 'embedded';
    const [row] = await database.sql<{ ordinary: number; others: number }[]>`
      select count(*) filter (where verdict = 'pass') as ordinary,
        count(*) filter (where verdict <> 'pass') as others from request_records`;
    t.equal(row?.others, 100, 'each that was not plainly passed');
    t.equal(row?.ordinary, isEmbedded ? 40 : 900);
    t.equal(stored.sampled_out, isEmbedded ? 860 : 0, 'the rest is counted');
    t.match((await at.call('GET', '/api/policy/stats', { token })).body, {
      records_sampled_out: stored.sampled_out,
      ordinary_per_second_max: isEmbedded ? 20 : null,
    });
  }),
);

t.test('R7: the bucket', async (t) => {
  const take = createOrdinaryBucket({ perSecond: 10, burst: 20 });
  t.equal(take(50, 1000), 20);
  t.equal(take(50, 1500), 5, 'half a second');
  t.equal(take(50, 500), 0, 'a clock that is set back');
  t.equal(take(50, 10_000_000), 20, 'never more than the burst');
  t.equal(take(0, 10_000_000), 0);
});

t.test('R9: a day whose table went meanwhile is made again, and no record is lost', (t) =>
  onBothDatabases(t, 'gone', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const ingest = createIngest({ database, now: () => start, maskLevel: async () => 'secrets', masker });
    const send = (id: string, requests: number) =>
      ingest.accept({
        node: 'n',
        batch_id: id,
        requests: Array.from({ length: requests }, (_, n) => ({ ...request(n), at_ms: start + n })),
        events: [{ ...event(1), at_ms: start }],
      });
    t.match(await send('a', 3), { stored: 4, refused: 0 });
    const tables = await database.sql<{ name: string }[]>`
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where c.relkind = 'r' and c.relname ~ '^(request_records|security_events)_'`;
    for (const { name } of tables) await database.sql.unsafe(`drop table ${name}`);
    t.match(await send('b', 700), { stored: 701, refused: 0 });
    t.equal(await count(database), 700);
  }),
);
