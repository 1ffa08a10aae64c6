// R1: PostgreSQL goes away under load, again and again; no process ends, and work goes on as soon as it is back.
import t, { type Test } from 'tap';
import { setTimeout as pause } from 'node:timers/promises';
import { startCluster, withoutPostgres } from '../../testing/databases.js';
import { until } from '../../testing/waiting.js';
import { openPostgres, type Database } from '../client.js';
import { findOutage } from '../outage.js';
import { waitForDatabase } from './wait.js';

const kills = 7;
/** The library's own pauses grow to 20 s; a second and the way there on a busy machine is what is allowed. */
const backMsMax = 2000;

interface Load {
  done: number;
  failed: number;
  readonly strange: unknown[];
  end(): Promise<void>;
}

/** What the control plane does, all at once: transactions, single statements, savepoints, locks. */
function startLoad({ sql, withLock, tryHold }: Database): Load {
  let isOver = false;
  const load: Load = { done: 0, failed: 0, strange: [], end: async () => undefined };
  const repeat = async (work: () => Promise<unknown>): Promise<void> => {
    while (!isOver) {
      try {
        await work();
        load.done++;
      } catch (error) {
        load.failed++;
        if (findOutage(error) === null) load.strange.push(error);
        await pause(5);
      }
    }
  };
  const wide = 'x'.repeat(5000);
  const kinds: (() => Promise<unknown>)[] = [
    () => sql`select 1`,
    () => sql`insert into work (at, text) values (now(), ${wide})`,
    () =>
      sql.begin(async (tx) => {
        await tx`insert into work (at, text) values (now(), 'a')`;
        await tx`select pg_sleep(0.002)`;
        await tx.savepoint((inner) => inner`insert into work (at, text) values (now(), ${wide})`);
        await pause(1);
        await tx`insert into work (at, text) values (now(), 'b')`;
      }),
    // a transaction that goes on although a statement of it has failed
    () => sql.begin(async (tx) => Promise.all([tx`select pg_sleep(0.001)`, tx`select 2`, tx`select 3`])),
    () =>
      withLock('apply', async () => {
        await sql`select 1`;
      }),
    async () => (await tryHold('leader'))?.release(),
  ];
  const loops = kinds.flatMap((work) => [work, work, work]).map(repeat);
  load.end = async () => {
    isOver = true;
    await Promise.all(loops);
  };
  return load;
}

async function openCluster(t: Test) {
  const cluster = await startCluster(t);
  const url = await cluster.create();
  const database = openPostgres(url);
  await database.sql`create table work (at timestamptz, text text)`;
  return { cluster, database };
}

t.test('R1: PostgreSQL is killed seven times under load', { skip: withoutPostgres }, async (t) => {
  const { cluster, database } = await openCluster(t);
  const load = startLoad(database);
  for (let kill = 1; kill <= kills; kill++) {
    const { done } = load;
    await until('work is done', () => load.done > done + 50);
    await cluster.crash();
    const { failed } = load;
    await until('statements fail', () => load.failed > failed + 10);
    await cluster.start();
    const startedMs = performance.now();
    const before = load.done;
    await until('work goes on', () => load.done > before);
    t.ok(performance.now() - startedMs < backMsMax, `kill ${kill}: ${Math.round(performance.now() - startedMs)} ms`);
  }
  await load.end();
  t.same(load.strange, [], 'whoever waited was told of an outage and of nothing else');
  const all = await Promise.all(Array.from({ length: 40 }, () => database.sql`select 1 as one`));
  t.ok(
    all.every(([row]) => row?.['one'] === 1),
    'no place of the pool is lost',
  );
  await database.close();
});

t.test('R1: single connections are ended under load, each while it is used', { skip: withoutPostgres }, async (t) => {
  const { cluster, database } = await openCluster(t);
  const killer = openPostgres(cluster.url, { poolSize: 1 });
  const load = startLoad(database);
  for (let round = 0; round < 20; round++) {
    const { done } = load;
    await killer.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend' and random() < 0.5`;
    await until('work goes on', () => load.done > done + 20);
  }
  await load.end();
  t.same(load.strange, []);
  await killer.close();
  await database.close();
});

t.test('R1: a rollback never reaches the transaction of somebody else', { skip: withoutPostgres }, async (t) => {
  const { cluster, database } = await openCluster(t);
  const killer = openPostgres(cluster.url, { poolSize: 1 });
  const one = openPostgres((await cluster.create()).replace(/[^/]*$/, 'postgres'), { poolSize: 1 });
  let goOn: () => void = () => undefined;
  const waits = new Promise<void>((resolve) => (goOn = resolve));
  let begun: (pid: number) => void = () => undefined;
  const pidOf = new Promise<number>((resolve) => (begun = resolve));
  const first = one.sql.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    begun(row?.pid ?? 0);
    await waits;
    await tx`select 1`;
  });
  const refused = t.rejects(first, { code: /^(?:57P01|CONNECTION_CLOSED)$/ });
  await killer.sql`select pg_terminate_backend(${await pidOf})`;
  // asks for the only place in the pool, which the transaction above still holds
  const second = one.sql.begin(async (tx) => {
    await tx`create table kept (id integer)`;
    await tx`insert into kept values (1)`;
  });
  goOn();
  await refused;
  await second;
  t.same(await one.sql`select id from kept`, [{ id: 1 }]);
  for (const each of [one, killer, database]) await each.close();
});

t.test('R1: a connection to what became a standby is given up for another', { skip: withoutPostgres }, async (t) => {
  const { cluster, database } = await openCluster(t);
  const one = openPostgres(cluster.url, { poolSize: 1 });
  await one.sql`create table kept (id integer)`;
  const ways: (() => Promise<unknown>)[] = [
    () => one.sql`insert into kept values (1)`,
    () => one.sql.begin((tx) => tx`insert into kept values (2)`),
    () => Promise.all([one.sql`select 1`, one.sql`insert into kept values (3)`]),
  ];
  for (const write of ways) {
    await one.sql`set default_transaction_read_only = on`;
    const error = await write().catch((thrown: unknown) => thrown);
    t.equal(findOutage(error), 'read-only', 'told as what it is');
    // what is asked before the old connection has closed fails with it
    await until('another connection writes', () =>
      write().then(
        () => true,
        (thrown: unknown) => (findOutage(thrown) === 'unreachable' ? false : Promise.reject(thrown as Error)),
      ),
    );
  }
  t.same(await one.sql`select id from kept order by id`, [{ id: 1 }, { id: 2 }, { id: 3 }]);
  for (const each of [one, database]) await each.close();
});

t.test('R1: a start while the database is away waits for it', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const url = await cluster.create();
  await cluster.crash();
  const database = openPostgres(url);
  const said: string[] = [];
  let isThere = false;
  const waiting = waitForDatabase(database, (text) => said.push(text)).then(() => (isThere = true));
  await until('it says so', () => said.length > 0);
  t.match(said[0], /^waiting for the database: .*ECONNREFUSED/);
  t.equal(isThere, false);
  await cluster.start();
  await waiting;
  t.match(said, [/^waiting/, 'the database answers; going on']);
  await database.close();
  const wrong = openPostgres(url.replace(/[^/]*$/, 'nowhere'));
  await t.rejects(
    waitForDatabase(wrong, () => undefined),
    { code: '3D000' },
    'what waiting cannot fix is told',
  );
  await wrong.close();
});

t.test('R1: a network that is down is told as an outage, and ends no process', async (t) => {
  // the system refuses this address before anything is sent, as it does where there is no route
  {
    const [host, error] = ['255.255.255.255', /EACCES|ENETUNREACH/] as const;
    const database = openPostgres(`postgres://nobody@${host}:5432/x`, { poolSize: 2 });
    for (let turn = 0; turn < 3; turn += 1) {
      const told = await database.sql`select 1`.catch((thrown: unknown) => thrown);
      t.equal(findOutage(told), 'unreachable');
      t.match(String(told), error);
    }
    await t.rejects(database.tryHold('leader'), error);
    await t.rejects(
      database.withLock('apply', async () => undefined),
      error,
    );
    await database.close();
  }
});
