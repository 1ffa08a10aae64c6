import t, { type Test } from 'tap';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onBothDatabases, startCluster, withoutPostgres } from '../testing/databases.js';
import { makeDirectory } from '../testing/temporary.js';
import { release } from '../release.js';
import { openPostgres, type Database } from './client.js';
import { loadModules, migrate, type MigrationModule } from './migrate.js';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A module of a feature to come. */
const scans: MigrationModule = {
  name: 'scans',
  migrations: [
    { number: 1, name: 'targets', text: 'create table scan_targets (id integer primary key)' },
    { number: 2, name: 'results', text: 'create table scan_results (id integer references scan_targets (id))' },
  ],
};

/** How programs before modules brought a database up to date, to the letter of what it does with the database. */
async function migrateAsBefore(database: Database, [core]: readonly MigrationModule[]): Promise<number> {
  const migrations = core?.migrations ?? [];
  return database.sql.begin(async (tx) => {
    await tx`
      create table if not exists schema_migrations (
        version integer primary key, name text not null, sha256 text not null,
        applied_at timestamptz not null default now())`;
    const applied = await tx<{ version: number; name: string; sha256: string }[]>`
      select version, name, sha256 from schema_migrations order by version`;
    const newest = migrations.at(-1)?.number ?? 0;
    for (const row of applied) {
      const mine = migrations.find(({ number }) => number === row.version);
      if (mine === undefined)
        throw new Error(
          `The database has migration ${row.version} (${row.name}), this program knows ${newest} only: ` +
            'start the newer program.',
        );
      if (digest(mine.text) !== row.sha256)
        throw new Error(
          `Migration ${row.version} (${row.name}) was changed after it had run: write a new one instead.`,
        );
    }
    const pending = migrations.filter(({ number }) => number > applied.length);
    for (const { number, name, text } of pending) {
      await tx.unsafe(text);
      await tx`insert into schema_migrations (version, name, sha256) values (${number}, ${name}, ${digest(text)})`;
    }
    return pending.length;
  });
}

const emptied = async ({ sql }: Database): Promise<void> => {
  await sql.unsafe('drop schema public cascade; create schema public');
};
const exists = async ({ sql }: Database, table: string): Promise<boolean> =>
  (await sql`select to_regclass(${table})::text as name`)[0]?.['name'] === table;
const bookkeeping = ({ sql }: Database) =>
  sql`select version, module, number, name from schema_migrations order by version`;

async function suite(t: Test, database: Database): Promise<void> {
  const [core] = (await loadModules()) as [MigrationModule];
  const modules = [core];
  const last = core.migrations.length;
  const lastName = core.migrations.at(-1)?.name ?? '';
  await emptied(database);
  t.equal(await migrate(database, modules), last);
  await t.test(
    'repeat does nothing; drift and a newer database are refused; a failing one changes nothing',
    async (t) => {
      t.equal(await migrate(database, modules), 0);
      const drifted = core.migrations.map((one, i) => (i === 0 ? { ...one, text: `${one.text} ` } : one));
      await t.rejects(
        migrate(database, [{ ...core, migrations: drifted }]),
        /^Migration 1 \(foundation\) was changed after it had run: write a new one instead\.$/,
      );
      await t.rejects(migrate(database, [{ ...core, migrations: core.migrations.slice(0, -1) }]), {
        message:
          `The database has migration ${last} (${lastName}) of release ${release()}, this program ` +
          `(release ${release()}) knows ${last - 1} only: start the newer program. To stay with this one, ` +
          'restore the backup that was made before the update (gatehouse restore FILE).',
      });
      const text = 'create table half_done (id integer); select nonsense from nowhere;';
      const next = { number: core.migrations.length + 1, name: 'half', text };
      await t.rejects(migrate(database, [{ ...core, migrations: [...core.migrations, next] }]));
      t.equal(await exists(database, 'half_done'), false);
    },
  );
  await t.test('a module has numbers of its own, and comes behind the core', async (t) => {
    t.equal(await migrate(database, [core, { ...scans, migrations: scans.migrations.slice(0, 1) }]), 1);
    t.equal(await migrate(database, [core, scans]), 1);
    t.equal(await migrate(database, [core, scans]), 0);
    t.match((await bookkeeping(database)).slice(-3), [
      { version: last, module: 'core', number: last, name: lastName },
      { version: last + 1, module: 'scans', number: 1, name: 'targets' },
      { version: last + 2, module: 'scans', number: 2, name: 'results' },
    ]);
    t.ok(await exists(database, 'scan_results'));
    const drifted = scans.migrations.map((one) => ({ ...one, text: `${one.text} ` }));
    await t.rejects(
      migrate(database, [core, { ...scans, migrations: drifted }]),
      /Migration scans 1 \(targets\) was changed/,
    );
  });
  await t.test('an older program says that the database is newer, whichever it is', async (t) => {
    await t.rejects(migrate(database, [core, { ...scans, migrations: scans.migrations.slice(0, 1) }]), {
      message:
        /^The database has migration scans 2 \(results\) of release .+ knows 1 only: start the newer program\. To stay/,
    });
    await t.rejects(migrate(database, [core]), {
      message:
        /^The database has migration scans 1 \(targets\) of release .+ has no scans: start the newer program\. To/,
    });
    await t.rejects(migrateAsBefore(database, modules), {
      message:
        `The database has migration ${last + 1} (targets), this program knows ${last} only: ` +
        'start the newer program.',
    });
  });
  await t.test('25.6: a release goes back over what only expanded, and no further', async (t) => {
    const made = (...texts: string[]): MigrationModule => ({
      name: 'steps',
      migrations: texts.map((text, at) => ({ number: at + 1, name: `step-${at + 1}`, text })),
    });
    const first = 'create table steps (id integer primary key)';
    const expand = '-- works with release 1.1.0\nalter table steps add column note text;';
    const contract = 'alter table steps drop column note;';
    t.equal(await migrate(database, [core, scans, made(first)], '1.1.0'), 1);
    t.equal(await migrate(database, [core, scans, made(first, expand)], '1.2.0'), 1);
    t.equal(await migrate(database, [core, scans, made(first)], '1.1.0'), 0, 'back by one release');
    await database.sql`insert into steps (id) values (1)`;
    t.equal(await migrate(database, [core, scans, made(first)], '1.1.7-rc.1'), 0);
    await t.rejects(migrate(database, [core, scans, made(first)], '1.0.9'), {
      message:
        'The database has migration steps 2 (step-2) of release 1.2.0, this program (release 1.0.9) knows 1 only: ' +
        'start the newer program, 1.1.0 or newer. To stay with this one, restore the backup that was made before ' +
        'the update (gatehouse restore FILE).',
    });
    t.equal(await migrate(database, [core, scans, made(first, expand)], '1.2.0'), 0, 'and forward again');
    t.equal(await migrate(database, [core, scans, made(first, expand, contract)], '1.3.0'), 1);
    for (const [own, known] of [
      ['1.2.0', made(first, expand)],
      ['1.1.0', made(first)],
      ['1.3.0', made(first, expand)],
    ] as const)
      await t.rejects(migrate(database, [core, scans, known], own), /start the newer program/, `${own} is refused`);
    t.same(await database.sql`select id from steps`, [{ id: 1 }], 'nothing is lost');
    const wrong = '-- works with release 1.3.0\nalter table steps drop column id;';
    await t.rejects(migrate(database, [core, scans, made(first, expand, contract, wrong)], '1.4.0'), /drops something/);
    await database.sql.unsafe("drop table steps; delete from schema_migrations where module = 'steps'");
  });
  await t.test('a core migration may come after one of a module', async (t) => {
    const later = { number: last + 1, name: 'later', text: 'create table came_later (id integer)' };
    t.equal(await migrate(database, [{ ...core, migrations: [...core.migrations, later] }, scans]), 1);
    t.match((await bookkeeping(database)).at(-1), {
      version: last + 3,
      module: 'core',
      number: last + 1,
      name: 'later',
    });
  });
  await t.test('a database of a program from before modules is taken over as it is', async (t) => {
    await emptied(database);
    t.equal(await migrateAsBefore(database, modules), last);
    const before = await database.sql`select version, name, sha256, applied_at from schema_migrations order by version`;
    await database.sql`insert into job_state (name) values ('kept')`;
    const drifted = core.migrations.map((one) => ({ ...one, text: `${one.text} ` }));
    await t.rejects(migrate(database, [{ ...core, migrations: drifted }]), /was changed/);
    t.equal(await migrateAsBefore(database, modules), 0, 'what was refused changed nothing');
    t.equal(await migrate(database, modules), 0);
    t.same(
      await database.sql`select version, name, sha256, applied_at from schema_migrations order by version`,
      before,
    );
    t.same(await database.sql`select distinct module, number = version as same from schema_migrations`, [
      { module: 'core', same: true },
    ]);
    t.same(await database.sql`select name from job_state`, [{ name: 'kept' }]);
    t.equal(
      await migrateAsBefore(database, modules),
      0,
      'as long as no module came, the older program goes on working',
    );
    t.equal(await migrate(database, [core, scans]), 2);
    await t.rejects(migrateAsBefore(database, modules), /start the newer program/);
  });
  await t.test('a database that an older program had half-way is brought on', async (t) => {
    await emptied(database);
    t.equal(await migrateAsBefore(database, [{ ...core, migrations: core.migrations.slice(0, 5) }]), 5);
    t.equal(await migrate(database, [core, scans]), last - 5 + 2);
    t.same(
      (await bookkeeping(database)).map(({ version }) => version),
      Array.from({ length: last + 2 }, (_, i) => i + 1),
    );
  });
}

t.test('migrations', (t) => onBothDatabases(t, 'migrations', suite));

t.test('servers that start at once migrate once, whatever they find', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const modules = [...(await loadModules()), scans];
  const all = modules.reduce((sum, { migrations }) => sum + migrations.length, 0);
  const ofCore = modules[0]?.migrations.length ?? 0;
  const atOnce = async (url: string): Promise<number[]> => {
    const servers = Array.from({ length: 4 }, () => openPostgres(url, { poolSize: 2 }));
    const ran = await Promise.all(servers.map((server) => migrate(server, modules)));
    await Promise.all(servers.map((server) => server.close()));
    return ran.sort((a, b) => a - b);
  };
  t.same(await atOnce(await cluster.create()), [0, 0, 0, all], 'nothing');
  const url = await cluster.create();
  const older = openPostgres(url);
  await migrateAsBefore(older, modules);
  await older.close();
  t.same(await atOnce(url), [0, 0, 0, all - ofCore], 'the database of an older program');
});

t.test('migrations of a feature are files of its own', async (t) => {
  const directory = await makeDirectory(t, 'migrations');
  const migrations = pathToFileURL(`${directory}/`);
  await writeFile(join(directory, '001-first.sql'), 'select 1;');
  const [core, own] = await loadModules([{ name: 'quiet' }, { name: 'scans', migrations }]);
  t.equal(core?.name, 'core');
  t.ok((core?.migrations.length ?? 0) >= 12);
  t.same(own, { name: 'scans', migrations: [{ number: 1, name: 'first', text: 'select 1;' }] });
  await t.rejects(
    loadModules([
      { name: 'scans', migrations },
      { name: 'scans', migrations },
    ]),
    /^Two modules of migrations are called scans\.$/,
  );
  await t.rejects(loadModules([{ name: 'core', migrations }]), /are called core/);
  await writeFile(join(directory, '003-third.sql'), 'select 3;');
  await t.rejects(loadModules([{ name: 'scans', migrations }]), /003-third.sql must be called 002-name.sql/);
});
