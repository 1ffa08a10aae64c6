import t, { type Test } from 'tap';
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyEmbeddedTemplate, onBothDatabases, startCluster } from '../testing/databases.js';
import { openEmbedded, openPostgres, type Database } from './client.js';
import { loadMigrations, migrate } from './migrate.js';

/** What every store relies on, whichever database is below. */
async function runDatabaseContract(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  await t.test('types arrive as the stores expect them', async (t) => {
    const at = new Date('2026-02-03T04:05:06.789Z');
    const [row] = await sql`select ${9007199254740991}::bigint as big, ${at}::timestamptz as at, ${sql.json({ a: [1, 'ä', null] })}::jsonb as doc, ${null}::text as nothing, ${'x\u0001\n"'}::text as odd, true as yes`;
    t.same(row, { big: 9007199254740991, at, doc: { a: [1, 'ä', null] }, nothing: null, odd: 'x\u0001\n"', yes: true });
    const [zone] = await sql`select current_setting('TimeZone') as zone`;
    t.match(zone?.zone, /UTC|GMT/);
  });
  await t.test('a failing transaction leaves nothing behind', async (t) => {
    await sql`create table if not exists probe (id integer primary key, v text)`;
    await t.rejects(sql.begin(async (tx) => {
      await tx`insert into probe values (1, 'a')`;
      await tx`insert into probe values (1, 'b')`;
    }));
    t.equal((await sql`select * from probe`).length, 0);
  });
  await t.test('many rows go in with one statement, and queries run concurrently', async (t) => {
    await sql`insert into probe ${sql(Array.from({ length: 2000 }, (_, i) => ({ id: i + 10, v: `v${i}` })))}`;
    const counts = await Promise.all(Array.from({ length: 20 }, (_, i) => sql`select count(*) as n from probe where id >= ${i - 20}`));
    t.ok(counts.every((rows) => rows[0]?.n === 2000));
  });
  await t.test('withLock lets one in at a time, and the work may use the database', async (t) => {
    let inside = 0;
    let most = 0;
    await Promise.all(Array.from({ length: 4 }, () => database.withLock('apply', async () => {
      most = Math.max(most, ++inside);
      await sql`select 1`;
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    })));
    t.equal(most, 1);
    await t.rejects(database.withLock('apply', async () => { throw new Error('work failed'); }), /work failed/);
    t.equal(await database.withLock('apply', async () => 7), 7);
  });
  await t.test('what can wait lets an apply go first, and not for ever', async (t) => {
    const isEmbedded = database.kind === 'embedded';
    t.equal(await database.untilQuiet(1), false, 'nobody is at work');
    let isDone = false;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const apply = database.withLock('apply', () => ended).then(() => (isDone = true));
    const other = database.withLock('leader', async () => database.untilQuiet(1));
    t.equal(await other, isEmbedded, 'patience has an end');
    t.equal(isDone, false);
    const waiting = database.untilQuiet(60_000);
    setImmediate(end);
    t.equal(await waiting, isEmbedded);
    await apply;
    await t.rejects(database.withLock('apply', async () => { throw new Error('work failed'); }), /work failed/);
    t.equal(await database.untilQuiet(1), false, 'a failed one is over, too');
  });
  await t.test('a held lock excludes others until it is released', async (t) => {
    const first = await database.tryHold('leader');
    t.ok(first);
    t.equal(await database.tryHold('leader'), null);
    t.equal(await first?.isHeld(), true);
    await first?.release();
    const second = await database.tryHold('leader');
    t.ok(second);
    await second?.release();
  });
  await t.test('migrations: repeat does nothing, drift and a newer database are refused, a failing one changes nothing', async (t) => {
    const known = await loadMigrations();
    t.equal(await migrate(database, known), 0);
    await t.rejects(migrate(database, known.map((m, i) => (i === 0 ? { ...m, text: `${m.text} ` } : m))), /was changed after it had run/);
    await t.rejects(migrate(database, known.slice(0, -1)), /start the newer program/);
    const next = { version: known.length + 1, name: 'half', text: 'create table half_done (id integer); select nonsense from nowhere;' };
    await t.rejects(migrate(database, [...known, next]));
    t.same(await sql`select to_regclass('half_done')::text as name`, [{ name: null }]);
  });
}

t.test('contract', (t) => onBothDatabases(t, 'the database contract', runDatabaseContract));

t.test('two servers that start at once migrate once', async (t) => {
  const cluster = await startCluster();
  if (cluster === null) return void t.fail('no PostgreSQL');
  const url = await cluster.create();
  const migrations = await loadMigrations();
  const servers = Array.from({ length: 4 }, () => openPostgres(url, { poolSize: 2 }));
  const ran = await Promise.all(servers.map((server) => migrate(server, migrations)));
  t.same(ran.sort(), [0, 0, 0, migrations.length]);
  await t.test('a crash of the database between two writes loses nothing that was acknowledged', async (t) => {
    const [server] = servers;
    if (server === undefined) return;
    await server.sql`create table kept (id integer)`;
    await server.sql`insert into kept values (1)`;
    await cluster.crash();
    await t.rejects(server.sql`insert into kept values (2)`);
    await cluster.start();
    t.same(await server.sql`select id from kept`, [{ id: 1 }]);
  });
  await Promise.all(servers.map((server) => server.close()));
  await cluster.stop();
});

t.test('kill -9 while the embedded database is written: everything acknowledged is there again', async (t) => {
  const directory = await copyEmbeddedTemplate();
  const child = fork(fileURLToPath(new URL('../testing/embedded-writer.js', import.meta.url)), [directory]);
  const last = await new Promise<number>((resolve) => {
    child.on('message', (n: number) => {
      if (n === 200) child.kill('SIGKILL');
      if (n >= 200) resolve(n);
    });
  });
  await new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once('exit', resolve) : resolve(null)));
  const database = await openEmbedded(directory);
  const [row] = await database.sql`select count(*) as n, max(id) as last from kept`;
  t.ok(Number(row?.n) >= last, `${row?.n} rows for ${last} acknowledged`);
  t.equal(row?.n, row?.last);
  await t.rejects(openEmbedded(directory), /already open/);
  await database.close();
  const again = await openEmbedded(directory);
  await again.close();
  await rm(join(directory, '..'), { recursive: true, force: true });
});

t.test('a new embedded database', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'gatehouse-create-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const [plain, occupied] = [join(home, 'db'), join(home, 'occupied')];
  await t.test('what a crash left half-made is cleared away, not opened', async (t) => {
    await mkdir(join(home, 'db.new-crash', 'base'), { recursive: true });
    await writeFile(join(home, 'db.new-crash', 'PG_VERSION'), '17\n');
    await mkdir(plain);
    const database = await openEmbedded(plain);
    t.match(await database.sql`select 1 as one`, [{ one: 1 }]);
    await database.sql`create table kept (id integer)`;
    await database.close();
    t.same(await readdir(home), ['db']);
    const again = await openEmbedded(plain);
    t.same(await again.sql`select * from kept`, [], 'an existing one is not made again');
    await again.close();
  });
  await t.test('a directory that cannot be replaced becomes one itself', async (t) => {
    await mkdir(join(occupied, 'lost+found'), { recursive: true });
    const database = await openEmbedded(occupied);
    t.match(await database.sql`select 1 as one`, [{ one: 1 }]);
    await database.close();
    t.ok(existsSync(join(occupied, 'PG_VERSION')));
    t.same((await readdir(home)).sort(), ['db', 'occupied']);
  });
});
