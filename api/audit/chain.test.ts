import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createSealing } from '../auth/sealing.js';
import { onBothDatabases } from '../testing/databases.js';
import { systemActor } from '../http-kit/index.js';
import { toCanonicalJson } from './canonical-json.js';
import { createAuditLog } from './chain.js';

t.test('canonical JSON', async (t) => {
  t.equal(toCanonicalJson({ b: 1, a: [{ d: undefined, c: 'ä"' }, null] }), '{"a":[{"c":"ä\\""},null],"b":1}');
});

/** Tampers inside a transaction that is rolled back afterwards. */
async function tampered(
  database: Database,
  change: (sql: Database['sql']) => Promise<unknown>,
  look: (sql: Database['sql']) => Promise<void>,
): Promise<void> {
  const undo = new Error('undo');
  await database.sql
    .begin(async (tx) => {
      await change(tx as unknown as Database['sql']);
      await look(tx as unknown as Database['sql']);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}

async function suite(t: Test, database: Database): Promise<void> {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const sealing = createSealing('k'.repeat(32));
  const log = createAuditLog(sealing, () => (now += 1000));
  const add = (n: number) =>
    database.sql.begin((tx) =>
      log.record(tx, {
        actor: { ...systemActor, name: 'ann', sourceIp: '192.0.2.1' },
        action: 'audit.export',
        summary: `did ${n}`,
        details: { n },
      }),
    );
  t.same(await log.verify(database.sql), { ok: true, checked: 0, first_broken: null });
  await Promise.all(Array.from({ length: 40 }, (_, i) => add(i)));
  t.same(
    await log.verify(database.sql),
    { ok: true, checked: 40, first_broken: null },
    'forty writers at once make one chain',
  );

  const cases: [string, (sql: Database['sql']) => Promise<unknown>, number][] = [
    ['a changed summary', (sql) => sql`update audit_entries set summary = 'did nothing' where id = 7`, 7],
    ['a changed actor', (sql) => sql`update audit_entries set actor = 'bob' where id = 1`, 1],
    ['a changed time', (sql) => sql`update audit_entries set at = at + interval '1 second' where id = 40`, 40],
    ['a changed detail', (sql) => sql`update audit_entries set details = '{"n":99}' where id = 12`, 12],
    ['a removed entry', (sql) => sql`delete from audit_entries where id = 20`, 20],
    ['a removed first entry', (sql) => sql`delete from audit_entries where id = 1`, 1],
    ['a cut end', (sql) => sql`delete from audit_entries where id > 38`, 39],
    [
      'two swapped entries',
      (sql) => sql`update audit_entries set id = case id when 5 then 1006 else 1005 end where id in (5, 6)`,
      5,
    ],
    [
      'a recomputed hash',
      (sql) => sql`update audit_entries set summary = 'x', hash = ${'ab'.repeat(32)} where id = 9`,
      9,
    ],
    ['a removed end row', (sql) => sql`delete from audit_chain`, 1],
    [
      'an end row that hides the removal',
      (sql) =>
        sql`
          with gone as (delete from audit_entries where id = 40)
          update audit_chain set last_id = 39, last_hash = (select hash from audit_entries where id = 39)`,
      39,
    ],
  ];
  for (const [name, change, id] of cases) {
    await tampered(database, change, async (sql) => {
      const result = await log.verify(sql);
      t.equal(result.ok, false, name);
      t.equal(result.first_broken?.id, id, `${name}: ${JSON.stringify(result)}`);
    });
  }
  t.equal(
    (await createAuditLog(createSealing('l'.repeat(32)), () => now).verify(database.sql)).ok,
    false,
    'a chain sealed with another key is not accepted',
  );

  t.equal(await database.sql.begin((tx) => log.prune(tx, new Date('2026-01-01T00:00:11Z'))), 10);
  t.same(
    await log.verify(database.sql),
    { ok: true, checked: 30, first_broken: null },
    'a pruned chain holds from its anchor',
  );
  t.equal(await database.sql.begin((tx) => log.prune(tx, new Date('2027-01-01T00:00:00Z'))), 29, 'the newest stays');
  await add(41);
  t.same(await log.verify(database.sql), { ok: true, checked: 2, first_broken: null });
  await t.rejects(
    database.sql.begin(async (tx) => {
      await log.record(tx, { actor: systemActor, action: 'logout', summary: 's' });
      throw new Error('the action failed');
    }),
    /the action failed/,
  );
  t.equal((await log.verify(database.sql)).checked, 2, 'no entry without its action');
}

t.test('audit chain', (t) => onBothDatabases(t, 'the audit chain', suite));
