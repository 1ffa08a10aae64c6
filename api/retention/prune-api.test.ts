// B4: what discovery and abuse findings have stored goes by age and by number, and not where the clock has jumped.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { createRetentionJob } from './job.js';
import { pruneApi } from './prune-api.js';

const dayMs = 86_400_000;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { sql } = database;
  const start = at.clock.nowMs;
  const fill = async (count: number, seenMs: number): Promise<void> => {
    const seen = new Date(seenMs);
    await sql`insert into api_sites (site, observed, folded) values ('shop', 1, 1) on conflict do nothing`;
    for (let index = 0; index < count; index += 1) {
      const name = `${seenMs}-${index}`;
      await sql`
        insert into api_cells (site, method, path, stats, hits, first_seen, last_seen)
        values ('shop', 'GET', ${`/${name}`}, '{}', 1, ${seen}, ${seen})`;
      await sql`
        insert into api_hops (caller, callee, requests, unidentified, failed, first_seen, last_seen)
        values (${name}, 'b', 1, 0, 0, ${seen}, ${seen})`;
      await sql`
        insert into api_ties (site, noun, label, object, principal, how, request_id, credential, client_ip, at)
        values ('shop', 'order', 'order', ${name}, 'p', 'shown', 'r', 'jwt', '', ${seen})`;
    }
  };
  const counts = async (): Promise<unknown> =>
    (
      await sql`
        select (select count(*) from api_cells)::int as cells, (select count(*) from api_hops)::int as hops,
          (select count(*) from api_ties)::int as ties`
    )[0];
  await fill(3, start - 31 * dayMs);
  await fill(4, start);
  const job = createRetentionJob(at.parts);
  const run = (nowMs: number): Promise<string> => job.run({ nowMs, signal: new AbortController().signal });
  t.match(await run(start), /9 rows of discovery removed$/);
  t.match(await counts(), { cells: 4, hops: 4, ties: 4 });
  t.match(await sql`select observed > folded as due from api_sites`, [{ due: true }], 'the inventory is made anew');
  t.match(await run(start + 400 * dayMs), /^refused to prune/);
  t.match(await counts(), { cells: 4, hops: 4, ties: 4 }, 'a clock that jumped takes nothing');
  await pruneApi(database, new Date(start - dayMs), { cellsMax: 2, hopsMax: 1 });
  t.match(await counts(), { cells: 2, hops: 1, ties: 4 }, 'by number');
}

t.test('B4: retention of discovery and abuse', (t) => onBothDatabases(t, 'prune-api', suite));
