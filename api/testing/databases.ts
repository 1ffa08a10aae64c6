// Databases for tests: a real PostgreSQL cluster and PGlite, each started once per test process and emptied between
// suites.
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import root, { type Test } from 'tap';
import { features } from '../app.js';
import { openEmbedded, openPostgres, type Database } from '../db/client.js';
import { loadModules, migrate } from '../db/migrate.js';
import { startCluster, withoutPostgres, type Cluster } from './servers/postgres.js';
import { makeDirectory } from './temporary.js';
import { testMsMax } from './waiting.js';

export { startCluster, withoutPostgres } from './servers/postgres.js';

/**
 * A copy of an initialised, empty embedded database that goes with the test: creating one costs 4 s, copying it 0.1 s.
 */
export async function copyEmbeddedTemplate(t: Pick<Test, 'teardown'>): Promise<string> {
  const cache = join(fileURLToPath(new URL('../../../.cache/', import.meta.url)), 'embedded-template');
  if (!existsSync(cache)) {
    const fresh = join(await makeDirectory(t, 'template'), 'd');
    await (await openEmbedded(fresh)).close();
    await mkdir(join(cache, '..'), { recursive: true });
    const staged = `${cache}.${process.pid}`;
    await cp(fresh, staged, { recursive: true });
    // another test process may have been faster; its copy is as good
    await rename(staged, cache).catch(() => rm(staged, { recursive: true, force: true }));
  }
  const directory = join(await makeDirectory(t, 'embedded'), 'd');
  await cp(cache, directory, { recursive: true });
  await chmod(directory, 0o700);
  return directory;
}

root.setTimeout(testMsMax);

// Starting a database costs more than most suites: one of each per test process, emptied between suites.
const shared: { cluster: Promise<Cluster> | null; embedded: Promise<Database> | null } = {
  cluster: null,
  embedded: null,
};

async function openShared(): Promise<Database> {
  const database = await openEmbedded(await copyEmbeddedTemplate(root));
  root.teardown(() => database.close());
  return database;
}

async function emptyEmbedded(): Promise<Database> {
  const database = await (shared.embedded ??= openShared());
  await database.sql.unsafe('drop schema public cascade; create schema public');
  return database;
}

/** Runs `suite` on the embedded database, migrated and empty, as a subtest. */
export async function onEmbeddedDatabase(
  t: Test,
  name: string,
  suite: (t: Test, database: Database) => Promise<void>,
): Promise<void> {
  await t.test(`${name} on the embedded database`, async (t) => {
    const database = await emptyEmbedded();
    await migrate(database, await loadModules(features));
    await suite(t, database);
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
    const cluster = await (shared.cluster ??= startCluster(root));
    const database = openPostgres(await cluster.create());
    t.teardown(() => database.close()); // first in, last out: what the suite tears down may still be using it
    await migrate(database, await loadModules(features));
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
