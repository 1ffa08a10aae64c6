// Restores a backup into an installation that is stopped: a fresh machine, or one that has something. Run again it ends
// in the same state. Order: prove the archive, load the database beside what serves, then files and secrets, and the
// database's change of place (or its commit) last.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openEmbedded, openPostgres, type Database } from '../db/client.js';
import { lockDirectory } from '../db/directory-lock.js';
import type { MigrationModule } from '../db/migrate.js';
import { readArchive } from './archive.js';
import { copyInto } from './files.js';
import { loadDatabase, modulesOf, proveStagedTables } from './load.js';
import { BackupError, sealedEnding, type Manifest } from './manifest.js';
import { openSealed, type Key } from './seal.js';

export interface RestoreOptions {
  readonly file: string;
  readonly key: Key | null;
  readonly dataDirectory: string;
  /** null: the embedded database below `dataDirectory`. */
  readonly databaseUrl: string | null;
  readonly modules: readonly MigrationModule[];
  readonly now: Date;
  /**
   * What takes the environment of the backup over, before the database changes. Throws BackupError for one that cannot
   * be taken over: then nothing has changed. Not called where the backup has none.
   */
  readonly prepareEnvironment: (text: string) => () => void;
}

export interface RestoreResult {
  readonly manifest: Manifest;
  /** Where the embedded database lies that was there before; null: there was none, or it is PostgreSQL. */
  readonly previous: string | null;
}

/** Throws BackupError for what the caller can change; until the last step nothing of the installation has changed. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { dataDirectory, databaseUrl } = options;
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await removeLeft(dataDirectory);
  const staging = join(dataDirectory, `.restoring-${process.pid}-${randomUUID()}.partial`);
  await mkdir(staging, { mode: 0o700 });
  try {
    const manifest = await readArchive(options.file, staging, options.key);
    modulesOf(manifest, options.modules); // a newer release shows before anything is touched
    await proveStagedTables(staging, manifest);
    const environment = await readEnvironmentOf(manifest, staging, options.key);
    const adopt = environment === null ? () => undefined : options.prepareEnvironment(environment);
    const files = await openFiles(manifest, staging, options.key);
    const finish = async (): Promise<void> => {
      for (const path of files) await copyInto(join(staging, path), join(dataDirectory, path.slice('files/'.length)));
      adopt();
    };
    const previous =
      databaseUrl === null
        ? await intoEmbedded(options, manifest, staging, finish)
        : await intoPostgres(databaseUrl, options, manifest, staging, finish);
    return { manifest, previous };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Given the environment of a backup that was opened. */
export type OnEnvironment = (text: string) => void;

async function openSecrets(manifest: Manifest, staging: string, key: Key, onEnvironment?: OnEnvironment) {
  const environment = await readEnvironmentOf(manifest, staging, key);
  if (environment !== null) onEnvironment?.(environment);
  await openFiles(manifest, staging, key);
}

/** What a backup holds, after all of it was read and compared with its manifest. Throws BackupError. */
export async function readBackup(
  file: string,
  key: Key | null,
  scratch: string,
  onEnvironment?: OnEnvironment,
): Promise<Manifest> {
  const staging = join(scratch, `.verifying-${randomUUID()}.partial`);
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    const manifest = await readArchive(file, staging, key);
    await proveStagedTables(staging, manifest);
    if (key !== null) await openSecrets(manifest, staging, key, onEnvironment);
    return manifest;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * The same, and all of it loaded into a database of its own below `scratch`, which is thrown away: that it can be
 * restored is seen, not concluded. Throws BackupError.
 */
export async function rehearseRestore(
  file: string,
  key: Key | null,
  scratch: string,
  modules: readonly MigrationModule[],
  onEnvironment?: OnEnvironment,
): Promise<Manifest> {
  const staging = join(scratch, `.rehearsing-${randomUUID()}.partial`);
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    const manifest = await readArchive(file, staging, key);
    modulesOf(manifest, modules);
    await proveStagedTables(staging, manifest);
    if (key !== null) await openSecrets(manifest, staging, key, onEnvironment);
    const database = await openEmbedded(join(staging, 'db'));
    try {
      await database.sql.begin((tx) => loadDatabase(tx, staging, manifest, modules));
    } finally {
      await database.close();
    }
    return manifest;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** What a restore that was killed has left: whole copies of a backup, with keys. */
async function removeLeft(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = /^\.restoring-(?:(\d+)-)?[0-9a-f-]{36}\.partial$/.exec(name)?.[1];
    // in a container each command may have the number that the one before it had
    const isAtWork = pid !== undefined && Number(pid) !== process.pid && isAlive(Number(pid));
    if (!name.startsWith('.restoring-') || isAtWork) continue;
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The first backups of format 2 have no list: there the name says it. */
const isSealed = ({ format, sealed }: Manifest, path: string): boolean =>
  sealed === undefined ? format >= 2 && path.endsWith(sealedEnding) : sealed.includes(path);

/** The files of the backup as they are to lie in the data directory; those that are sealed are opened in `staging`. */
async function openFiles(manifest: Manifest, staging: string, key: Key | null): Promise<string[]> {
  const files: string[] = [];
  for (const { path } of manifest.entries) {
    if (!path.startsWith('files/')) continue;
    if (!isSealed(manifest, path)) {
      files.push(path);
      continue;
    }
    if (key === null) throw noKey();
    const plain = path.slice(0, -sealedEnding.length);
    await writeFile(join(staging, plain), await openSealed(await readFile(join(staging, path)), key), { mode: 0o600 });
    files.push(plain);
  }
  return files;
}

const noKey = (): BackupError =>
  new BackupError(
    'The secrets in the backup are sealed. Give the key with --key-file or --passphrase-file; without them stored ' +
      'passwords of connectors, sites and tokens cannot be read.',
  );

async function readEnvironmentOf(manifest: Manifest, staging: string, key: Key | null): Promise<string | null> {
  if (manifest.environment === 'absent') return null;
  if (key === null) throw noKey();
  return openSealed(await readFile(join(staging, 'environment.age')), key);
}

type Finish = () => Promise<void>;

/** The new database is filled beside the old one and takes its place by two renames; the old one is kept. */
async function intoEmbedded(
  { dataDirectory, modules, now }: RestoreOptions,
  manifest: Manifest,
  staging: string,
  finish: Finish,
): Promise<string | null> {
  const place = join(dataDirectory, 'db');
  const fresh = join(dataDirectory, 'db.restoring');
  const unlock = await lockDirectory(place).catch((error: Error) => {
    throw new BackupError(`${error.message} A restore needs the control plane stopped.`);
  });
  let isFilled = false;
  try {
    await rm(fresh, { recursive: true, force: true });
    const database = await openEmbedded(fresh);
    try {
      await fill(database, staging, manifest, modules, now);
    } finally {
      await database.close();
    }
    await finish();
    isFilled = true;
    const previous = existsSync(join(place, 'PG_VERSION'))
      ? `${place}.before-restore-${now.toISOString().replace(/[:.]/g, '-')}`
      : null;
    if (previous === null) await rm(place, { recursive: true, force: true });
    else await rename(place, previous);
    await rename(fresh, place);
    return previous;
  } finally {
    if (!isFilled) await rm(fresh, { recursive: true, force: true }); // every row of the backup, for no use
    await unlock();
  }
}

async function intoPostgres(
  url: string,
  { modules, now }: RestoreOptions,
  manifest: Manifest,
  staging: string,
  finish: Finish,
): Promise<null> {
  await restoreInto(url, (database) => fill(database, staging, manifest, modules, now, finish));
  return null;
}

/** Throws BackupError where PostgreSQL does not answer, or takes neither name nor password. */
export async function requireDatabase({ sql }: Pick<Database, 'sql'>): Promise<void> {
  await sql`select 1`.catch((error: Error & { readonly code?: string }) => {
    throw new BackupError(
      `The PostgreSQL database cannot be reached: ${error.message || String(error.code)}. Nothing was changed. ` +
        'Look at DATABASE_URL, or POSTGRES_HOST and its kind, and whether the server runs.',
    );
  });
}

/** Throws BackupError where nothing answers at `url`, or a control plane is at work there; nothing has changed then. */
export async function restoreInto(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openPostgres(url, { poolSize: 2 });
  try {
    await requireDatabase(database);
    const leadership = await database.tryHold('leader');
    try {
      if (leadership === null || (await othersStay(database)))
        throw new BackupError('A control plane is running on this database. Stop it (all of them), then restore.');
      await work(database);
    } finally {
      await leadership?.release();
    }
  } finally {
    await database.close();
  }
}

const goodbyePauseMs = 500;
const goodbyePauses = 10;

/** Connections of one that was stopped just now may still be on their way out. */
async function othersStay(database: Database): Promise<boolean> {
  for (let pauses = 0; await database.othersAtWork(); pauses++) {
    if (pauses === goodbyePauses) return true;
    await setTimeout(goodbyePauseMs);
  }
  return false;
}

async function fill(
  database: Database,
  staging: string,
  manifest: Manifest,
  modules: readonly MigrationModule[],
  now: Date,
  beforeCommit: Finish = async () => undefined,
): Promise<void> {
  await database.sql.begin(async (tx) => {
    await loadDatabase(tx, staging, manifest, modules);
    // whoever was logged in when the backup was made logs in again
    await tx`update sessions set revoked_at = ${now} where revoked_at is null`;
    await beforeCommit();
  });
}
