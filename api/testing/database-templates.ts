// Databases that tests copy instead of making them: initialised once for a checkout, migrated once for each state of
// its migrations.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import root, { type Test } from 'tap';
import { openEmbedded, openPostgres } from '../db/client.js';
import { migrate, type MigrationModule } from '../db/migrate.js';
import { release } from '../release.js';
import { startCluster, versionOfPostgres, type Cluster } from './servers/postgres.js';
import { makeDirectory } from './temporary.js';

const project = fileURLToPath(new URL('../../../', import.meta.url));
/** Where templates of databases lie: what they were made of is in their names, so that none is ever out of date. */
const cache = join(project, '.cache');
const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const pgliteVersion = dependencies['@electric-sql/pglite'] ?? '';

/**
 * The directory of the cache for what `kind` and `key` name, made by `make` on first use, whichever test process is the
 * first. Those of the same kind with another key are gone then.
 */
async function fromCache(kind: string, key: string, make: (staged: string) => Promise<void>): Promise<string> {
  const place = join(cache, `${kind}-${key}`);
  if (existsSync(place)) return place;
  const staged = join(cache, `new-${kind}-${process.pid}`);
  await mkdir(cache, { recursive: true });
  const outdated = (await readdir(cache)).filter((name) => name.startsWith(`${kind}-`));
  for (const name of outdated) await rm(join(cache, name), { recursive: true, force: true });
  await make(staged);
  // another test process may have been faster; its copy is as good
  await rename(staged, place).catch(() => rm(staged, { recursive: true, force: true }));
  return place;
}

const copyAll = (from: string, to: string): Promise<unknown> => promisify(execFile)('cp', ['-a', from, to]);

/**
 * A copy of an initialised, empty embedded database that goes with the test: creating one costs 4 s, copying it 0.1 s.
 */
export function copyEmbeddedTemplate(t: Pick<Test, 'teardown'>): Promise<string> {
  return copyEmbedded(t, ['embedded', pgliteVersion], async () => undefined);
}

/** The same with every migration of today done, which costs another second. */
export async function copyMigratedTemplate(t: Pick<Test, 'teardown'>): Promise<string> {
  return copyEmbedded(t, ['migrated', `${pgliteVersion}-${await migrationsDigest()}`], async (directory) => {
    const database = await openEmbedded(directory);
    await migrate(database, await allModules());
    await database.close();
  });
}

async function copyEmbedded(
  t: Pick<Test, 'teardown'>,
  [kind, key]: readonly [string, string],
  fill: (directory: string) => Promise<void>,
): Promise<string> {
  const template = await fromCache(kind, key, async (staged) => {
    const fresh = join(await makeDirectory(t, 'template'), 'd');
    await (await openEmbedded(fresh)).close();
    await fill(fresh);
    await copyAll(fresh, staged);
  });
  const directory = join(await makeDirectory(t, 'embedded'), 'd');
  await copyAll(template, directory);
  await chmod(directory, 0o700);
  return directory;
}

/** Loads the whole application, which takes a second or two: for making a template, not for finding one. */
export const allModules = async (): Promise<MigrationModule[]> => (await import('../app.js')).allModules();

const built = join(project, 'build');

/** What says which migrations there are, in which order, and what they leave behind. */
const ofMigrations = /(?:\/migrations\/[^/]+\.sql|^api\/(?:app|release|db\/[\w-]+)\.js)$/;

/** Of the state of all migrations, read from the files that they are made of. */
async function migrationsDigest(): Promise<string> {
  const hash = createHash('sha256').update(release());
  for (const room of ['api', 'vm-manager']) {
    const paths = (await readdir(join(built, room), { recursive: true })).map((path) => `${room}/${path}`).sort();
    for (const path of paths.filter((path) => ofMigrations.test(path)))
      hash.update(`${path}\n`).update(await readFile(join(built, path)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** The name of the database of a template cluster from which others are created. */
export const migratedName = 'migrated';

/** A cluster whose database `migrated` has every migration of today done, made once and copied from then on. */
export async function startMigratedCluster(): Promise<Cluster> {
  const key = `${await versionOfPostgres()}-${await migrationsDigest()}`;
  const template = await fromCache('cluster', key, async (staged) => {
    const cluster = await startCluster(root);
    const database = openPostgres(await cluster.create({ name: migratedName }));
    await migrate(database, await allModules());
    await database.close();
    await cluster.stop();
    await copyAll(cluster.data, staged);
  });
  return startCluster(root, template);
}
