// Who may read from a replica, by what the primary knows: runs count by when they ended, whenever they began.
import t, { type Test } from 'tap';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import type { Sql } from '../../database.js';
import { noteWrite, replicaFor } from './replica.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

t.setTimeout(testMsMax);

async function suite(t: Test, database: Database): Promise<void> {
  const sql = database.sql as unknown as Sql;
  const freshAt = new Date();
  const of = { sql, replica: { sql, freshAt: () => freshAt } };
  const may = async (user: string): Promise<boolean> => (await replicaFor(of, user)) !== null;
  const before = (ms: number): Date => new Date(freshAt.getTime() - ms);
  const run = async (agoMs: number | null) =>
    await sql`
      insert into vm_runs (kind, status, created_by, created_at, started_at, finished_at)
      values ('import', 'succeeded', 'x', ${before(7_200_000)}, ${before(3_600_000)},
        ${agoMs === null ? null : before(agoMs)})`;
  t.ok(await may('one'));
  await noteWrite(of, 'one');
  t.notOk(await may('one'), 'who wrote after that moment');
  t.ok(await may('two'));

  await run(null);
  await run(60_000);
  t.ok(await may('two'), 'what has ended long ago, and what goes on');
  const [kept] = await sql<{ id: string }[]>`select id from vm_runs order by id limit 1`;
  for (let more = 0; more < 120; more += 1) await run(60_000);
  await sql`update vm_runs set finished_at = ${new Date()} where id = ${kept?.id ?? ''}`;
  t.notOk(await may('two'), 'an old run that has just ended, before which many younger ones did');

  const away = { ...of, sql: (async () => Promise.reject(new Error('away'))) as unknown as Sql };
  await t.resolves(noteWrite(away, 'one'), 'the write itself is done');
}

t.test('replicas', (t) => onBothDatabases(t, 'who may read from a replica', suite));
