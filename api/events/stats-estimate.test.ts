// R8: beyond what is counted, the number of stored records is an estimate that is told as one, and a good one, on both
// databases: it stood at 100,001 on the embedded one.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { event, request } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';

const day = 86_400_000;
/** On two days, in one partition each. */
const copies = [150_000, 20_000] as const;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('viewer');
  const { sql } = database;
  const stats = async (): Promise<Record<string, unknown>> => {
    at.clock.nowMs += 10_000; // an answer stands for five seconds
    return (await at.call('GET', '/api/policy/stats', { token })).body;
  };
  for (const [index, n] of copies.entries()) {
    const moment = { at_ms: at.clock.nowMs - index * day };
    await at.call('POST', '/api/dataplane/records', {
      token: 'c'.repeat(40),
      body: { node: 'n', batch_id: `b${index}`, requests: [request(index, moment)], events: [event(index, moment)] },
    });
    // as many copies of it, of different lengths as texts of clients are
    await sql`
      insert into request_records (at, request_id, site, client_ip, method, uri, status, verdict, user_agent)
      select at, request_id || n, site, client_ip, method, uri || repeat('x', n % 200), status, verdict, user_agent
      from request_records, generate_series(1, ${n - 1}::int) n where request_id = ${`r${index}`}`;
  }
  const [row] = await sql<{ n: number }[]>`select count(*) as n from request_records`;
  const all = copies[0] + copies[1];
  t.equal(row?.n, all);
  const found = await stats();
  const requests = Number(found['requests_stored']);
  t.ok(Math.abs(requests / all - 1) < 0.1, `${requests} of ${all}`);
  t.same(found['are_estimates'], ['requests_stored'], 'and is told as an estimate');
  t.equal(found['events_stored'], 2, 'what is few is counted');
  await sql`delete from request_records where request_id like 'r0%'`;
  const after = await stats();
  t.equal(after['requests_stored'], copies[1], 'counted again when there are fewer');
  t.same(after['are_estimates'], []);
  await at.close();
}

t.test('R8: how much is stored, beyond 100,000 rows', (t) => onBothDatabases(t, 'stats-estimate', suite));
