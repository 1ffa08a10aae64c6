// Databases for tests: a real PostgreSQL cluster and PGlite, each started once per test process and emptied between
// suites. PostgreSQL refuses to run as root, so as root the cluster belongs to the `postgres` account.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import root, { type Test } from 'tap';
import { openEmbedded, openPostgres, type Database } from '../db/client.js';
import { features } from '../app.js';
import { loadModules, migrate } from '../db/migrate.js';
import { freePort } from './free-port.js';
import { makeDirectory } from './temporary.js';
import { testMsMax, until } from './waiting.js';

const run = promisify(execFile);

export interface Cluster {
  readonly directory: string;
  readonly url: string;
  /** Creates an empty database and returns its URL. */
  create(): Promise<string>;
  /** Ends the server process at once, as a crash would (SIGQUIT: immediate shutdown, recovery at the next start). */
  crash(): Promise<void>;
  start(): Promise<void>;
}

async function findBinaries(): Promise<string | null> {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? (await readdir(root)).sort((a, b) => Number(b) - Number(a)) : [];
  for (const version of versions)
    if (existsSync(join(root, version, 'bin', 'postgres'))) return join(root, version, 'bin');
  return null;
}

async function identity(): Promise<{ uid: number; gid: number } | null> {
  if (userInfo().uid !== 0) return null;
  const { stdout } = await run('id', ['-u', 'postgres']);
  const group = await run('id', ['-g', 'postgres']);
  return { uid: Number(stdout), gid: Number(group.stdout) };
}

/** Starts a throw-away PostgreSQL that goes with the test. Throws when the machine has none; see `withoutPostgres`. */
export async function startCluster(t: Pick<Test, 'teardown'>): Promise<Cluster> {
  const binaries = await findBinaries();
  if (binaries === null)
    throw new Error(
      'no PostgreSQL below /usr/lib/postgresql: apt-get install postgresql, or GATEHOUSE_TEST_WITHOUT_POSTGRES=1 where it is not to be tested',
    );
  const who = await identity();
  const directory = await makeDirectory(t, 'pg');
  if (who !== null) await chown(directory, who.uid, who.gid);
  const as = who === null ? {} : { uid: who.uid, gid: who.gid };
  const data = join(directory, 'd');
  await run(
    join(binaries, 'initdb'),
    ['-D', data, '--no-sync', '-U', 'gatehouse', '-A', 'trust', '--no-locale', '-E', 'UTF8', '--wal-segsize=1'],
    { ...as, cwd: directory },
  );
  const port = await freePort();
  const url = (name: string): string => `postgres://gatehouse@127.0.0.1:${port}/${name}`;
  let server: ChildProcess | null = null;
  let made = 0;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  };
  const start = async (): Promise<void> => {
    const child = spawn(
      join(binaries, 'postgres'),
      [
        '-D',
        data,
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-k',
        '',
        '-c',
        'fsync=off',
        '-c',
        'max_connections=60',
        '-c',
        'shared_buffers=32MB',
      ],
      { ...as, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    server = child;
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2000)));
    await until('PostgreSQL accepts connections', () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the test PostgreSQL ended: ${said}`);
      return run(join(binaries, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port), '-q']).then(
        () => true,
        () => false,
      );
    });
  };
  t.teardown(() => end('SIGINT'));
  // a test that leaves without its tear-down
  process.once('exit', () => {
    if (server === null) return;
    server.kill('SIGQUIT');
    rmSync(directory, { recursive: true, force: true });
  });
  await start();
  return {
    directory,
    url: url('postgres'),
    async create() {
      const name = `t${process.pid}_${++made}`;
      await run(join(binaries, 'createdb'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'gatehouse', name]);
      return url(name);
    },
    crash: () => end('SIGQUIT'),
    start,
  };
}

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

/**
 * Why tests of PostgreSQL are skipped. Only when the machine is known to have none: one that lost it must not look
 * tested.
 */
export const withoutPostgres =
  process.env['GATEHOUSE_TEST_WITHOUT_POSTGRES'] === '1' ? 'this machine has no PostgreSQL' : false;

// Starting a database costs more than most suites: one of each per test process, emptied between suites.
let sharedCluster: Promise<Cluster> | null = null;
let sharedEmbedded: Promise<Database> | null = null;

async function openShared(): Promise<Database> {
  const database = await openEmbedded(await copyEmbeddedTemplate(root));
  root.teardown(() => database.close());
  return database;
}

async function emptyEmbedded(): Promise<Database> {
  const database = await (sharedEmbedded ??= openShared());
  await database.sql.unsafe('drop schema public cascade; create schema public');
  return database;
}

/**
 * Runs `suite` on both databases, migrated and empty, as two subtests. Fails when PostgreSQL is absent and nobody said
 * so.
 */
export async function onBothDatabases(
  t: Test,
  name: string,
  suite: (t: Test, database: Database) => Promise<void>,
): Promise<void> {
  const modules = await loadModules(features);
  await t.test(`${name} on the embedded database`, async (t) => {
    const database = await emptyEmbedded();
    await migrate(database, modules);
    await suite(t, database);
  });
  await t.test(`${name} on PostgreSQL`, { skip: withoutPostgres }, async (t) => {
    const cluster = await (sharedCluster ??= startCluster(root));
    const database = openPostgres(await cluster.create());
    t.teardown(() => database.close()); // first in, last out: what the suite tears down may still be using it
    await migrate(database, modules);
    await suite(t, database);
  });
}
