// Makes a backup: one consistent reading of the database, the files that the data directory needs, and the environment
// file, sealed. The installation goes on serving meanwhile.
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Database, Tx } from '../db/client.js';
import { describeFile, writeArchive } from './archive.js';
import { TableDigest } from './digest.js';
import { copyInto, hasPrivateKey, listFiles } from './files.js';
import { backupFormat, BackupError, sealedEnding, type Manifest } from './manifest.js';
import { readRows, writeValuesAlike } from './rows.js';
import { readPartitions, readSequences, readTables, type TableShape } from './schema.js';
import { checkLock, sealText, type Lock } from './seal.js';

export interface BackupOptions {
  /** Read in one transaction, for as long as it takes: PostgreSQL, or a copy of the embedded database. */
  readonly database: Database;
  /** What the installation uses; `database` may be a copy of another kind. */
  readonly kind: Database['kind'];
  readonly dataDirectory: string;
  /** null: secrets come from the process and not from a file. */
  readonly environmentFile: string | null;
  /** Its text with what is in force in place of what is not in it; absent: the file as it is. */
  readonly environmentText?: string;
  readonly release: string;
  readonly now: Date;
  /** The archive; its directory exists. */
  readonly to: string;
  /**
   * Seals the environment file and private keys, and with `isSealedWhole` the whole archive. null: these are left out.
   */
  readonly lock: Lock | null;
  readonly isSealedWhole: boolean;
}

export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly manifest: Manifest;
}

/** Throws BackupError for what the caller can change; leaves no partial file behind. */
export async function createBackup(options: BackupOptions): Promise<BackupResult> {
  if (options.lock !== null) checkLock(options.lock);
  if (options.isSealedWhole && options.lock === null)
    throw new BackupError('An encrypted backup needs a recipient or a passphrase.');
  const staging = `${options.to}.staging-${process.pid}.partial`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(join(staging, 'tables'), { recursive: true, mode: 0o700 });
  try {
    const database = await options.database.sql.begin('isolation level repeatable read read only', async (tx) =>
      stageDatabase(tx, staging),
    );
    const environment = await stageEnvironment(options, staging);
    const files = await stageFiles(options, database.artifacts, staging);
    const paths = [
      ...database.tables.map(({ name }) => `tables/${name}.jsonl.gz`),
      ...(environment === null ? [] : [environment]),
      ...files.staged,
    ];
    const entries: Manifest['entries'] = [];
    for (const path of paths) entries.push({ path, ...(await describeFile(join(staging, path))) });
    const manifest: Manifest = {
      format: backupFormat,
      release: options.release,
      created_at: options.now.toISOString(),
      database: options.kind,
      migrations: database.migrations,
      tables: database.tables,
      partitions: database.partitions,
      sequences: database.sequences,
      environment: environment === null ? 'absent' : 'sealed',
      sealed: files.sealed,
      entries,
    };
    const bytes = await writeArchive(staging, manifest, options.to, options.isSealedWhole ? options.lock : null);
    return { file: options.to, bytes, manifest };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

type StagedDatabase = Pick<Manifest, 'migrations' | 'tables' | 'partitions' | 'sequences'> & {
  readonly artifacts: ReadonlySet<string>;
};

async function stageDatabase(tx: Tx, staging: string): Promise<StagedDatabase> {
  await writeValuesAlike(tx);
  const shapes = await readTables(tx);
  const partitions = await readPartitions(tx);
  const sequences = await readSequences(tx);
  const migrations = await tx<{ module: string; number: number }[]>`
    select module, max(number)::int as number from schema_migrations group by module order by module collate "C"`;
  const needed = await tx<{ sha256: string }[]>`
    select v.artifact_sha256 as sha256
    from settings_state s join settings_versions v on v.id in (s.active_id, s.pending_id)
    where v.artifact_sha256 is not null
    union select pending_artifact_sha256 from settings_state where pending_artifact_sha256 is not null`;
  const tables: Manifest['tables'] = [];
  for (const shape of shapes) tables.push(await stageTable(tx, shape, staging));
  return {
    tables,
    partitions: [...partitions],
    sequences: [...sequences],
    migrations: [...migrations],
    artifacts: new Set(needed.map(({ sha256 }) => sha256)),
  };
}

async function stageTable(tx: Tx, shape: TableShape, staging: string): Promise<Manifest['tables'][number]> {
  const digest = new TableDigest();
  const lines = async function* (): AsyncGenerator<string> {
    for await (const rows of readRows(tx, shape.name)) {
      for (const row of rows) digest.add(row);
      yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    }
  };
  const file = join(staging, 'tables', `${shape.name}.jsonl.gz`);
  await pipeline(Readable.from(lines()), createGzip({ level: 4 }), createWriteStream(file, { mode: 0o600 }));
  return {
    name: shape.name,
    columns: shape.columns.map(({ name }) => name),
    rows: digest.rows,
    sha256_sum: digest.sha256Sum,
  };
}

/** The name of the entry; null where there is no file, or nothing to seal it with. */
async function stageEnvironment(options: BackupOptions, staging: string): Promise<string | null> {
  const text = await environmentOf(options);
  if (text === null || options.lock === null) return null;
  await writeFile(join(staging, 'environment.age'), await sealText(text, options.lock), { mode: 0o600 });
  return 'environment.age';
}

async function environmentOf({ environmentFile, environmentText }: BackupOptions): Promise<string | null> {
  if (environmentText !== undefined) return environmentText;
  if (environmentFile === null) return null;
  const isThere = await stat(environmentFile).then(
    (found) => found.isFile(),
    () => false,
  );
  return isThere ? readFile(environmentFile, 'utf8') : null;
}

async function stageFiles(
  { dataDirectory: directory, environmentFile, lock }: BackupOptions,
  artifacts: ReadonlySet<string>,
  staging: string,
): Promise<{ readonly staged: string[]; readonly sealed: string[] }> {
  const [staged, sealed]: [string[], string[]] = [[], []];
  for (const path of await listFiles(directory, artifacts)) {
    const [from, to] = [join(directory, path), join(staging, 'files', path)];
    if (from === environmentFile || !(await copyInto(from, to))) continue;
    if (!(await hasPrivateKey(to))) {
      staged.push(`files/${path}`);
      continue;
    }
    // private keys travel sealed only, as the environment does
    if (lock !== null) {
      await writeFile(`${to}${sealedEnding}`, await sealText(await readFile(to, 'utf8'), lock), { mode: 0o600 });
      sealed.push(`files/${path}${sealedEnding}`);
    }
    await rm(to);
  }
  return { staged: [...staged, ...sealed], sealed };
}
