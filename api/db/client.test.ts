import t, { type Test } from 'tap';
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, utimesSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyEmbeddedTemplate, onBothDatabases, startCluster, withoutPostgres } from '../testing/databases.js';
import { makeDirectory } from '../testing/temporary.js';
import { openEmbedded, openPostgres, type Database } from './client.js';
import { lockDirectory } from './directory-lock.js';

/** What every store relies on, whichever database is below. */
async function runDatabaseContract(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  await t.test('types arrive as the stores expect them', async (t) => {
    const at = new Date('2026-02-03T04:05:06.789Z');
    const [row] = await sql`
      select ${9007199254740991}::bigint as big, ${at}::timestamptz as at,
        ${sql.json({ a: [1, 'ä', null] })}::jsonb as doc, ${null}::text as nothing,
        ${'x\u0001\n"'}::text as odd, true as yes`;
    t.same(row, { big: 9007199254740991, at, doc: { a: [1, 'ä', null] }, nothing: null, odd: 'x\u0001\n"', yes: true });
    const [zone] = await sql`select current_setting('TimeZone') as zone`;
    t.match(zone?.zone, /UTC|GMT/);
  });
  await t.test('a failing transaction leaves nothing behind', async (t) => {
    await sql`create table if not exists probe (id integer primary key, v text)`;
    await t.rejects(
      sql.begin(async (tx) => {
        await tx`insert into probe values (1, 'a')`;
        await tx`insert into probe values (1, 'b')`;
      }),
    );
    t.equal((await sql`select * from probe`).length, 0);
  });
  await t.test('many rows go in with one statement, and queries run concurrently', async (t) => {
    await sql`insert into probe ${sql(Array.from({ length: 2000 }, (_, i) => ({ id: i + 10, v: `v${i}` })))}`;
    const counts = await Promise.all(
      Array.from({ length: 20 }, (_, i) => sql`select count(*) as n from probe where id >= ${i - 20}`),
    );
    t.ok(counts.every((rows) => rows[0]?.n === 2000));
  });
  await t.test('withLock lets one in at a time, and the work may use the database', async (t) => {
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 4 }, () =>
        database.withLock('apply', async () => {
          most = Math.max(most, ++inside);
          await sql`select 1`;
          await new Promise((resolve) => setTimeout(resolve, 5));
          inside--;
        }),
      ),
    );
    t.equal(most, 1);
    await t.rejects(
      database.withLock('apply', async () => {
        throw new Error('work failed');
      }),
      /work failed/,
    );
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
    await t.rejects(
      database.withLock('apply', async () => {
        throw new Error('work failed');
      }),
      /work failed/,
    );
    t.equal(await database.untilQuiet(1), false, 'a failed one is over, too');
  });
  await t.test('other processes at work are seen', async (t) => {
    t.equal(await database.othersAtWork(), false, 'connections of this process are its own');
    if (database.kind === 'embedded') return;
    await sql.begin(async (tx) => {
      await tx`set local application_name = 'gatehouse-api of another'`;
      t.equal(await database.othersAtWork(), true);
    });
    t.equal(await database.othersAtWork(), false);
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
}

t.test('contract', (t) => onBothDatabases(t, 'the database contract', runDatabaseContract));

t.test(
  'a crash of the database between two writes loses nothing that was acknowledged',
  { skip: withoutPostgres },
  async (t) => {
    const cluster = await startCluster(t);
    const server = openPostgres(await cluster.create(), { poolSize: 2 });
    await server.sql`create table kept (id integer)`;
    await server.sql`insert into kept values (1)`;
    await cluster.crash();
    await t.rejects(server.sql`insert into kept values (2)`);
    await cluster.start();
    t.same(await server.sql`select id from kept`, [{ id: 1 }]);
    await server.close();
  },
);

t.test('kill -9 while the embedded database is written: everything acknowledged is there again', async (t) => {
  const directory = await copyEmbeddedTemplate(t);
  const child = fork(fileURLToPath(new URL('../testing/processes/embedded-writer.js', import.meta.url)), [directory]);
  let last = 0;
  child.on('message', (n: number) => {
    last = n;
    if (n === 200) child.kill('SIGKILL');
  });
  await once(child, 'close'); // whatever it had reported by then is here
  t.ok(last >= 200, `it reported ${last} rows`);
  const sockets = async (): Promise<string[]> =>
    (await readdir(tmpdir())).filter((name) => name.startsWith(`gatehouse-db-${child.pid}-`));
  t.equal((await sockets()).length, 1, 'it had no time to tidy up');
  const database = await openEmbedded(directory);
  const [row] = await database.sql`select count(*) as n, max(id) as last from kept`;
  t.ok(Number(row?.n) >= last, `${row?.n} rows for ${last} acknowledged`);
  t.equal(row?.n, row?.last);
  await t.rejects(openEmbedded(directory), /already open/);
  await database.close();
  t.same(await sockets(), [], 'whoever opens one next does');
  const again = await openEmbedded(directory);
  await again.close();
  t.same(await readdir(dirname(directory)), ['d'], 'nor is there a lock');
});

t.test('a lock holds as long as its process, whatever became of the number', async (t) => {
  const directory = join(await makeDirectory(t, 'lock'), 'db');
  const file = `${directory}.lock`;
  const giveBack = await lockDirectory(directory);
  const mine = await readFile(file, 'utf8');
  await t.rejects(lockDirectory(directory), /already open in this process/);
  await giveBack();
  const [pid = '', birth = '', space = ''] = mine.split(' ');
  t.ok(space !== '', 'the system tells processes apart');
  const gone = spawnSync(process.execPath, ['--version']).pid;
  const cases: [string, string, boolean][] = [
    ['an older process of our number', `${pid} ${birth}0 ${space}`, false],
    ['an older one of a number that is taken again', `${process.ppid} ${birth}0 ${space}`, false],
    ['one that is gone', `${gone} ${birth} ${space}`, false],
    ['one of another container that is silent', `${pid} ${birth} other`, false],
    ['one that did not tell more than its number and is there', String(process.ppid), true],
    ['and one that is gone', String(gone), false],
  ];
  for (const [what, text, isHeld] of cases) {
    await writeFile(file, text);
    const got = await lockDirectory(directory, 10).catch((error: Error) => error.message);
    if (typeof got === 'string') t.match([isHeld, got], [true, /in use by process/], what);
    else await got().then(() => t.equal(isHeld, false, what));
    await rm(file, { force: true });
  }
  await writeFile(file, `${pid} ${birth} other`);
  const touching = setInterval(() => utimesSync(file, new Date(), new Date()), 5);
  await t.rejects(
    lockDirectory(directory, 1000),
    /in use by process/,
    'one of another container that touches its lock is there',
  );
  clearInterval(touching);
});

t.test('of many who want the directory that a crash left locked, one gets it', async (t) => {
  const directory = join(await makeDirectory(t, 'lock'), 'db');
  const gone = spawnSync(process.execPath, ['--version']).pid;
  const owners: number[] = [];
  for (let round = 0; round < 50; round++) {
    await writeFile(`${directory}.lock`, String(gone));
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)));
    const got = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    owners.push(got.length);
    for (const giveBack of got) await giveBack();
  }
  t.same(
    owners,
    owners.map(() => 1),
  );
  t.same(await readdir(dirname(directory)), ['db'], 'given back, without leftovers');
});

t.test('26.9: a lock that a full disk refuses leaves no empty file behind', async (t) => {
  const directory = join(await makeDirectory(t, 'lock'), 'db');
  const module = JSON.stringify(new URL('./directory-lock.js', import.meta.url).href);
  const code = `const { lockDirectory } = await import(${module});
    await lockDirectory(${JSON.stringify(directory)}).catch((error) => console.log(error.code));`;
  // no file may have content, as on a disk without a free block (setrlimit(2), RLIMIT_FSIZE)
  const run = spawnSync(
    'sh',
    ['-c', 'trap "" XFSZ; ulimit -f 0; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', code],
    { encoding: 'utf8' },
  );
  t.equal(run.stdout, 'EFBIG\n', run.stderr);
  t.same(await readdir(dirname(directory)), ['db'], 'only the directory');
  const giveBack = await lockDirectory(directory);
  await giveBack();
});

t.test('a new embedded database', async (t) => {
  const home = await makeDirectory(t, 'create');
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
