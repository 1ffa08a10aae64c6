// What a round of the clock reads of findings: muted ones whose time has come, and what changed, however many others
// there are.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { systemActor } from '#http-kit';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import type { Tx } from '../database.js';
import { findingFields } from '../findings/fields.js';
import { Client, type Json } from '../testing/import-client.js';
import { applyMutes } from './mutes.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
const hourMs = 3_600_000;
/** Read by a round: its own statements, and nothing of what stays as it is. */
const readMax = 20;

async function suite(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  // by a token: hours pass, and a session ends
  const inPerson = new Client(at, (await at.user('admin')).token);
  const { body: made } = await inPerson.call('POST', '/tokens', { name: 'n', scopes: ['read', 'write'] });
  const client = new Client(at, String(made['token']));
  const application = await client.application();
  const start = at.clock.nowMs;
  const fill = (title: string, count: number) => sql`
    insert into vm_findings (application_id, title, severity, source, effective_risk, priority_score, fingerprint,
      sla_start, first_seen, last_seen, created_at, updated_at)
    select ${application}, ${title}, 3, 'sast', 1, 1, ${title} || n, now(), ${new Date(start)}, now(), now(), now()
    from generate_series(1, ${count}::int) n`;
  const mute = async (field: string, value: string, hours: number, op = 'eq'): Promise<Json> => {
    const body = { name: value, predicate: { field, op, value }, reason: 'r' };
    const ends = new Date(start + hours * hourMs).toISOString();
    const made = await client.call('POST', '/mutes', { ...body, expires_at: ends });
    if (made.status !== 201) throw new Error(made.text);
    return made.body;
  };
  /** Rows of vm_findings that a round reads so many hours after the start, and how many findings it changes. */
  const round = (hours: number, checksMax = 20_000): Promise<{ changed: number; read: number }> =>
    sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`; // small tables are read whole, whatever indexes they have
      const before = await readSoFar(tx);
      const now = new Date(start + hours * hourMs);
      const changed = await applyMutes(tx, systemActor, now, { muted: 'due', open: 'changed', checksMax });
      return { changed, read: (await readSoFar(tx)) - before };
    }) as Promise<{ changed: number; read: number }>;
  const statuses = async (): Promise<Json> =>
    Object.fromEntries(
      (
        await sql<{ key: string; n: number }[]>`
          select title || ' ' || status as key, count(*)::int as n from vm_findings group by title, status`
      ).map(({ key, n }) => [key, n]),
    );

  await fill('long', 300);
  await fill('short', 2);
  await mute('title', 'long', 48);
  await mute('title', 'short', 1);
  await sql`analyze vm_findings`;

  await t.test('14.M1: a round reads what ends, not what is muted', async (t) => {
    t.match(await statuses(), { 'long muted': 300, 'short muted': 2 });
    const quiet = await round(0.5);
    t.equal(quiet.changed, 0);
    t.ok(quiet.read <= readMax, `${quiet.read} rows were read`);
    const ended = await round(1.5);
    t.equal(ended.changed, 2);
    t.ok(ended.read <= readMax, `${ended.read} rows were read`);
    t.match(await statuses(), { 'long muted': 300, 'short new': 2 });
  });
  await t.test(
    '14.M1: what changed is looked at in the next round, and keeps its mute where that still holds',
    async (t) => {
      await sql`update vm_findings set title = 'other' where id in (select min(id) from vm_findings)`;
      await sql`update vm_findings set severity = 4 where id in (select min(id) + 1 from vm_findings)`;
      const { changed, read } = await round(1.6);
      t.equal(changed, 1);
      t.ok(read <= readMax, `${read} rows were read`);
      t.equal((await round(1.7)).changed, 0);
      t.match(await statuses(), { 'long muted': 299, 'other new': 1 });
    },
  );
  await t.test('14.M1: a mute that asks for a time is looked at in each round', async (t) => {
    at.clock.nowMs = start + 1.8 * hourMs;
    await fill('timed', 1);
    await sql`update vm_findings set first_seen = ${new Date(start + 10 * hourMs)} where title = 'timed'`;
    await mute('first_seen', new Date(start + 5 * hourMs).toISOString(), 24, 'gte');
    t.match(await statuses(), { 'timed muted': 1 });
    const [row] = await sql`select mute_check_at from vm_findings where title = 'timed'`;
    t.match(row, { mute_check_at: null });
  });
  await t.test('14.M1: a mute that ends later holds until then, and the last round gives all back', async (t) => {
    const [{ id, version }] = (await client.call('GET', '/mutes?q=long')).body['items'] as [Json];
    const later = { expires_at: new Date(start + 96 * hourMs).toISOString() };
    t.equal((await client.call('PATCH', `/mutes/${id}`, later)).status, 200, `version ${version}`);
    t.match(await round(50), { changed: 1 }, 'the timed one');
    t.match(await round(97), { changed: 299 });
    t.match(await statuses(), { 'long new': 299 });
  });
  await t.test('14.M1: what was muted before is written down by and by', async (t) => {
    at.clock.nowMs = start + 97 * hourMs;
    await mute('title', 'long', 200);
    await sql`update vm_findings set mute_check_at = null`;
    for (const left of [99, 0]) {
      t.match(await round(98, 200), { changed: 0 });
      const [row] = await sql<{ n: number }[]>`
        select count(*)::int as n from vm_findings where status = 'muted' and mute_check_at is null`;
      t.equal(row?.n, left);
    }
    t.ok((await round(99)).read <= readMax);
  });
  await t.test('14.M1: every column that a predicate may ask for is one that the trigger compares', async (t) => {
    const [trigger] = await sql<{ text: string }[]>`
      select pg_get_triggerdef(oid) as text from pg_trigger where tgname = 'vm_findings_muted_changed'`;
    const [noted] = await sql<{ text: string }[]>`
      select pg_get_functiondef('vm_note_changed_findings'::regproc) as text`;
    // the state before the mute cannot change under it; last sight is written by every import
    for (const { column } of Object.values(findingFields)) {
      if (column === 'last_seen') continue;
      if (column !== 'status') t.match(trigger?.text, new RegExp(`old\\.${column}\\b`), column);
      t.match(noted?.text.split('where')[1], new RegExp(`o\\.${column}\\b`), column);
    }
  });
  await t.test('14.M1: a round asks about open findings of what changed, not about all that are open', async (t) => {
    at.clock.nowMs = start + 99 * hourMs;
    const other = await client.application();
    await fill('open', 300);
    await sql`
      update vm_findings set application_id = ${other}
      where id = (select min(id) from vm_findings where title = 'open')`;
    await round(99.1);
    await round(99.2); // what the one before has changed itself
    const quiet = await round(99.3);
    t.ok(quiet.read <= readMax, `${quiet.read} rows were read while nothing changed`);
    await sql`update vm_findings set title = 'long' where application_id = ${other}`;
    const one = await round(99.4);
    t.equal(one.changed, 1);
    t.ok(one.read <= readMax, `${one.read} rows were read for one that changed`);
  });
  await t.test('14.M1: after any changes a round leaves nothing for a round over everything', async (t) => {
    await mute('severity', 'critical', 300);
    await mute('tag', 'noise', 300, 'contains');
    await mute('fix_state', 'wont_fix', 300);
    await mute('assignee', 'nobody', 300);
    const changes = [
      `title = case when title = 'long' then 'open' else 'long' end`,
      'severity = (severity + 1) % 5',
      `tags = case when tags @> '["noise"]' then '[]'::jsonb else '["noise"]' end`,
      `fix_state = case when fix_state = 'wont_fix' then 'unknown' else 'wont_fix' end`,
      `assignee_id = case when assignee_id is null then 'nobody' end`,
      `status = case when status = 'new' then 'resolved' when status = 'resolved' then 'reopened' else status end`,
    ];
    const rows = await sql<{ id: number }[]>`select id from vm_findings order by id limit 12`;
    const one = fc.tuple(fc.constantFrom(...rows.map(({ id }) => id)), fc.constantFrom(...changes));
    const everything = (): Promise<number> =>
      sql.begin((tx) => applyMutes(tx, systemActor, new Date(start + 100 * hourMs), { muted: 'all' }));
    await everything();
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 5 }), async (all) => {
        for (const [id, change] of all) await sql.unsafe(`update vm_findings set ${change} where id = ${id}`);
        await round(100);
        return (await everything()) === 0;
      }),
      { seed: Number(process.env['SEED'] ?? 14), numRuns: 25 },
    );
    t.pass('25 rounds');
  });
}

/** In this transaction. */
async function readSoFar(tx: Tx): Promise<number> {
  const [row] = await tx<{ n: number }[]>`
    select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_xact_user_tables
    where relname = 'vm_findings'`;
  return row?.n ?? 0;
}

void onOneDatabase(t, 'mutes over time', suite);
