// R7: the files that the embedded database writes beside its data have a bound.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { makeDirectory } from '../testing/temporary.js';
import { openEmbedded } from './client.js';
import { checkpointIfDue } from './write-ahead-log.js';

const mb = 1024 * 1024;
t.setTimeout(600_000);

async function logBytes(directory: string): Promise<number> {
  const folder = join(directory, 'pg_wal');
  const found = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name)).catch(() => null)));
  // one that is gone meanwhile is no part of it
  return found.reduce((sum, one) => sum + (one?.isFile() === true ? one.size : 0), 0);
}

t.test('R7: the log of the embedded database is bounded by checkpoints', async (t) => {
  const directory = await makeDirectory(t, 'wal');
  const database = await openEmbedded(directory, { lookEveryMs: 100 });
  t.teardown(() => database.close());
  const { sql } = database;
  await sql`create table filler (n int, text text)`;
  const written = async (): Promise<number> =>
    Number((await sql`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as n`)[0]?.['n']);
  const before = await written();
  let most = 0;
  while ((await written()) - before < 400 * mb) {
    await sql`insert into filler select n, repeat('x', 900) from generate_series(1, 5000) n`;
    most = Math.max(most, await logBytes(directory));
    await sql`truncate filler`;
    await new Promise((resolve) => setTimeout(resolve, 20)); // the looks come between
  }
  t.ok(most < 200 * mb, `${Math.round(most / mb)} MB at most, of 400 written`);
});

t.test('R7: a checkpoint is written when enough came together, and only then', async (t) => {
  const database = await openEmbedded(await makeDirectory(t, 'wal'), { lookEveryMs: 3_600_000 });
  t.teardown(() => database.close());
  const { sql } = database;
  await sql`create table filler (n int, text text)`;
  await sql`checkpoint`;
  t.equal(await checkpointIfDue(sql, 2 * mb), false, 'nothing was written');
  await sql`insert into filler select n, repeat('x', 900) from generate_series(1, 5000) n`;
  t.equal(await checkpointIfDue(sql, 2 * mb), true);
  t.equal(await checkpointIfDue(sql, 2 * mb), false, 'it counts from the last one');
  const [row] = await sql`select count(*) as n from filler`;
  t.equal(row?.['n'], 5000, 'and everything is there');
});
