// Databases for tests: a real PostgreSQL cluster and PGlite, each started once per test process and emptied between
// suites.
import root, { type Test } from 'tap';
import { openPostgres, openEmbedded, openReader, type Database } from '../db/client.js';
import { watchReplica, type ReadReplica, type ReplicaTimes } from '../db/replica.js';
import { migrate } from '../db/migrate.js';
import { allModules, copyMigratedTemplate, migratedName, startMigratedCluster } from './database-templates.js';
import { emptyAgain, readUntouched, type Untouched } from './servers/emptied.js';
import { withoutPostgres, type Cluster } from './servers/postgres.js';
import { testMsMax } from './waiting.js';

export { copyEmbeddedTemplate, startMigratedCluster } from './database-templates.js';
export { startCluster, startReplica, withoutPostgres } from './servers/postgres.js';

root.setTimeout(testMsMax);

// Starting a database costs more than most suites: one of each per test process, emptied between suites.
const shared: {
  cluster: Promise<Cluster> | null;
  embedded: Promise<Database> | null;
  /** Of the embedded one, read before the first suite. */
  untouched: Untouched | null;
} = { cluster: null, embedded: null, untouched: null };

async function openShared(): Promise<Database> {
  const database = await openEmbedded(await copyMigratedTemplate(root), { ownWaitMs: 0 });
  root.teardown(() => database.close());
  shared.untouched = await readUntouched(database);
  return database;
}

/** The same database as another object: what is remembered of it (chains, inventory, evaluations) goes by object. */
const asAnother = (database: Database): Database => ({ ...database, sql: new Proxy(database.sql, {}) });

/** Migrated and empty. */
async function emptyEmbedded(): Promise<Database> {
  if (shared.embedded === null) return (shared.embedded = openShared());
  const database = asAnother(await shared.embedded);
  if (shared.untouched !== null && (await emptyAgain(database, shared.untouched))) return database;
  await database.sql.unsafe('drop schema public cascade; create schema public');
  await migrate(database, await allModules());
  shared.untouched = await readUntouched(database);
  return database;
}

/** Runs `suite` on the embedded database, migrated and empty, as a subtest. */
export async function onEmbeddedDatabase(
  t: Test,
  name: string,
  suite: (t: Test, database: Database) => Promise<void>,
): Promise<void> {
  await t.test(`${name} on the embedded database`, async (t) => {
    await suite(t, await emptyEmbedded());
  });
}

/**
 * Runs `suite` on one database, migrated and empty, as a subtest: on PostgreSQL where there is one, which a process
 * starts and migrates several times faster than the embedded one. For suites that are large, beside a smaller one of
 * the same statements on both.
 */
export async function onOneDatabase(
  t: Test,
  name: string,
  suite: (t: Test, database: Database) => Promise<void>,
): Promise<void> {
  if (withoutPostgres === false) await onPostgres(t, name, suite);
  else await onEmbeddedDatabase(t, name, suite);
}

async function onPostgres(t: Test, name: string, suite: (t: Test, database: Database) => Promise<void>): Promise<void> {
  await t.test(`${name} on PostgreSQL`, { skip: withoutPostgres }, async (t) => {
    const cluster = await (shared.cluster ??= startMigratedCluster());
    const database = openPostgres(await cluster.create({ template: migratedName }));
    t.teardown(() => database.close()); // first in, last out: what the suite tears down may still be using it
    await suite(t, database);
  });
}

/**
 * Runs `suite` on both databases, migrated and empty, as two subtests; on PostgreSQL where there is one.
 */
export async function onBothDatabases(
  t: Test,
  name: string,
  suite: (t: Test, database: Database) => Promise<void>,
): Promise<void> {
  await onEmbeddedDatabase(t, name, suite);
  await onPostgres(t, name, suite);
}

/** A migrated database of the cluster. */
export async function databaseOf(
  t: Pick<Test, 'teardown'>,
  cluster: Cluster,
): Promise<{ readonly database: Database; readonly name: string; readonly url: string }> {
  const url = await cluster.create({ template: migratedName });
  const database = openPostgres(url);
  t.teardown(() => database.close());
  return { database, url, name: new URL(url).pathname.slice(1) };
}

/** As the server does with DATABASE_READ_URL. */
export const openReplica = (url: string, { sql }: Database, times: ReplicaTimes): ReadReplica =>
  watchReplica(openReader(url), sql, times);
