// A database URL of several servers: the one that takes writes is found and used, by everything that a control plane
// does, also for locks on connections of their own, and after another one has taken over.
import t from 'tap';
import { startCluster, startReplica, withoutPostgres } from '../../testing/databases.js';
import { testMsMax, until } from '../../testing/waiting.js';
import { readEnv } from '../../env.js';
import { openPostgres } from '../client.js';
import { findOutage } from '../outage.js';

t.setTimeout(testMsMax);

t.test('what a URL of several servers may look like', async (t) => {
  const secrets = {
    AUTH_SESSION_SECRET: 'a'.repeat(40),
    SETTINGS_ENCRYPTION_SECRET: 'b'.repeat(40),
    DATA_ADMIN_TOKEN: 'c'.repeat(40),
  };
  for (const DATABASE_URL of [
    'postgres://gatehouse:p@db1.example.org:5432,db2.example.org:5433/gatehouse?sslmode=require',
    'postgres://gatehouse@[2001:db8::1]:5432,[2001:db8::2]/gatehouse',
    'postgresql://10.0.0.1,10.0.0.2/gatehouse',
  ])
    t.equal(readEnv({ ...secrets, DATABASE_URL }).databaseUrl, DATABASE_URL);
  for (const DATABASE_URL of ['postgres://a:5432,b:x/gatehouse', 'mysql://a:1,b:2/x', 'a,b'])
    t.throws(() => readEnv({ ...secrets, DATABASE_URL }), /DATABASE_URL must be a URL beginning with postgres/);
  const DATABASE_READ_URL = 'postgres://10.0.0.1,10.0.0.2/gatehouse';
  t.throws(() => readEnv({ ...secrets, DATABASE_READ_URL }), /DATABASE_READ_URL must be a URL of one server/);
});

t.test('the server that takes writes is found, and found again', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const name = new URL(await cluster.create()).pathname.slice(1);
  const replica = await startReplica(t, cluster, name);
  const [first, second] = [new URL(replica.url), new URL(cluster.url)];
  // the one that follows stands first
  const database = openPostgres(`postgres://gatehouse@${first.host},${second.host}/${name}`);
  t.teardown(() => database.close());
  const { sql } = database;
  const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;)
      try {
        return await work();
      } catch (error) {
        if (findOutage(error) === null) throw error;
      }
  };
  await patiently(() => sql`create table kept (id integer)`);
  const all = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => sql`insert into kept values (${index})`),
  );
  t.same(
    all.filter(({ status }) => status === 'rejected'),
    [],
    'from then on no connection goes astray',
  );
  for (let turn = 0; turn < 3; turn += 1) {
    const held = await patiently(() => database.tryHold('leader'));
    t.ok(held !== null && (await held.isHeld()), 'the lock of the leader');
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from pg_locks where locktype = 'advisory'`;
    t.equal(row?.n, 1, 'it is held where all look for it');
    await held?.release();
    t.equal(await database.withLock('apply', async () => 'done'), 'done');
  }

  const promote = openPostgres(replica.url, { poolSize: 1 });
  await until('the replica has all', async () => {
    const [row] = await promote.sql<{ n: number }[]>`select count(*)::int as n from kept`;
    return row?.n === 50;
  });
  await cluster.crash();
  await t.rejects(sql`insert into kept values (51)`, 'nobody takes writes');
  const whenNobody = await sql`insert into kept values (51)`.catch((error: unknown) => error);
  t.not(findOutage(whenNobody), null, 'and that is told as an outage');
  await promote.sql`select pg_promote()`;
  await promote.close();
  await patiently(() => sql`insert into kept values (52)`);
  const held = await patiently(() => database.tryHold('leader'));
  t.ok(held !== null && (await held.isHeld()), 'the lock on the new primary');
  await held?.release();
  t.equal((await sql`select id from kept`).length, 51);
});
