// `gatehouse backup`: one file that an installation can be restored from, made while everything serves. The work is
// done in this process, not in one that serves.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import {
  allModules,
  BackupError,
  createBackup,
  createKey,
  describeFile,
  localTokenOf,
  nameAt,
  openDatabase,
  openEmbedded,
  prune,
  readBackup,
  rehearseRestore,
  requireDatabase,
  type Env,
  type Lock,
  type Place,
  type VerifyReport,
} from '#api/main';
import { parseEnvironmentFile, type Values } from '#settings/environment';
import { parseOptions } from '../command-line.js';
import { readControlEnv } from '../commands/control-plane.js';
import { controlUrl } from '../environment/control-url.js';
import { inContainer } from '../environment/in-container.js';
import { root } from '../environment/directories.js';
import { envFilePath } from '../environment/env-file.js';
import { readFlags } from '../environment/flags.js';
import { adoptDirectories, controlPlaneEnvironment, readEnvironment } from '../environment/read-environment.js';
import { Refusal, withFiles, wrongUsage } from '../refusal.js';
import { hindranceOf } from './adopt-environment.js';
import { takenLines, textInForce } from './environment-text.js';
import { keyOf, lockOf } from './keys.js';
import { isBucket, openPlace, placeNamed, scratchOf, withLocal } from './places.js';
import { release } from '../environment/release.js';

const options = {
  to: { type: 'string' },
  encrypt: { type: 'boolean' },
  recipient: { type: 'string' },
  'key-file': { type: 'string' },
  'passphrase-file': { type: 'string' },
  'without-secrets': { type: 'boolean' },
  keep: { type: 'string' },
  check: { type: 'boolean' },
  json: { type: 'boolean' },
  restore: { type: 'boolean' },
} as const;

/** Lower than what serves. */
const niceness = 10;

/** Throws Refusal for what is wrong with the words, the keys, the database or the disk. */
export async function runBackup(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  const { values: asked, positionals } = parseOptions({ args: [...others], allowPositionals: true, options });
  const [action = 'create', ...rest] = positionals;
  const values = readEnvironment(flags);
  adoptDirectories(values);
  try {
    if (action === 'create' && rest.length === 0) return await create(values, asked);
    if (action === 'list' && rest.length === 0) return await list(values, asked);
    if (action === 'verify' && rest.length === 1) return await verify(rest[0] ?? '', asked, values);
    if (action === 'environment' && rest.length === 1) return await environmentIn(rest[0] ?? '', asked, values);
    if (action === 'key' && rest.length === 0) return await makeKey(values);
  } catch (error) {
    throw error instanceof BackupError ? new Refusal(error.message) : error;
  }
  throw wrongUsage(
    `backup does not know ${positionals.join(' ')}; it takes nothing, "list", "verify FILE", ` +
      '"environment FILE" or "key".',
  );
}

type Asked = {
  readonly [K in keyof typeof options]?: ((typeof options)[K]['type'] extends 'boolean' ? boolean : string) | undefined;
};

/** What --json prints, and what the control plane remembers of a scheduled backup. */
export interface Report {
  readonly place: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  readonly release: string;
  readonly secrets: 'sealed' | 'left out';
  /**
   * `complete`: read back and every hash compared; `bytes`: read back, and the file is the one that was written (its
   * content is sealed for a key that is not here); null: not asked for.
   */
  readonly checked: 'complete' | 'bytes' | null;
  readonly removed: readonly string[];
}

async function create(values: Values, asked: Asked): Promise<number> {
  const keep = keepOf(asked.keep);
  const lock = lockOf(asked, values.BACKUP_RECIPIENT);
  if (lock === null && asked['without-secrets'] !== true)
    throw new Refusal(
      'the secrets in the backup need a key to be sealed with: `gatehouse backup key` makes one for this ' +
        'installation, --passphrase-file FILE takes a passphrase, and --without-secrets leaves them out (then ' +
        'passwords of connectors and sites cannot be read after a restore elsewhere).',
    );
  const isSealedWhole = asked.encrypt === true;
  const now = new Date();
  const { place, name } = targetOf(values, asked.to, isSealedWhole, now);
  setPriority(niceness);
  const scratch = scratchOf(values);
  withFiles(() => mkdirSync(scratch, { recursive: true, mode: 0o700 }));
  const made = join(scratch, `.made-${process.pid}.partial`);
  try {
    const { bytes, manifest } = await write(values, {
      to: made,
      now,
      lock: asked['without-secrets'] === true && !isSealedWhole ? null : lock,
      isSealedWhole,
    });
    const { sha256 } = await describeFile(made);
    await place.put(made, name);
    const checked = asked.check === true ? await readBack(place, name, sha256, scratch, isSealedWhole) : null;
    const removed = keep === null ? [] : await prune(place, keep);
    const { entries, tables } = manifest;
    const report: Report = {
      place: place.label,
      name,
      bytes,
      sha256,
      tables: tables.length,
      rows: tables.reduce((sum, table) => sum + table.rows, 0),
      files: entries.filter(({ path }) => path.startsWith('files/')).length,
      release: manifest.release,
      secrets: manifest.environment === 'sealed' ? 'sealed' : 'left out',
      checked,
      removed,
    };
    console.log(asked.json === true ? JSON.stringify(report) : wordsOf(report));
    return 0;
  } finally {
    rmSync(made, { force: true });
  }
}

function wordsOf({ place, name, bytes, tables, rows, files, secrets, checked, removed }: Report): string {
  const lines = [
    `${place.replace(/\/$/, '')}/${name}   ${(bytes / 1e6).toFixed(1)} MB, ${tables} tables with ${rows} rows, ` +
      `${files} files, secrets ${secrets}`,
  ];
  if (checked === 'complete') lines.push('read back: every hash equal');
  if (checked === 'bytes') lines.push('read back: the file is as it was written; its content needs the secret key');
  if (removed.length > 0) lines.push(`removed ${removed.length} older: ${removed.join(', ')}`);
  return lines.join('\n');
}

async function write(
  values: Values,
  how: { readonly to: string; readonly now: Date; readonly lock: Lock | null; readonly isSealedWhole: boolean },
): ReturnType<typeof createBackup> {
  const env = readControlEnv(controlPlaneEnvironment(values));
  const source = await openSource(env, values);
  try {
    const environmentFile = envFilePath();
    const text = existsSync(environmentFile) ? withFiles(() => readFileSync(environmentFile, 'utf8')) : '';
    return await createBackup({
      ...source,
      ...how,
      dataDirectory: env.dataDirectory,
      environmentFile,
      environmentText: textInForce(text, values),
      release: release(),
    });
  } finally {
    await source.close();
  }
}

/** What lies at the place is fetched again and compared. Throws BackupError where it is not what was written. */
async function readBack(
  place: Place,
  name: string,
  sha256: string,
  scratch: string,
  isSealedWhole: boolean,
): Promise<'complete' | 'bytes'> {
  const copy = join(scratch, `.checked-${process.pid}.partial`);
  try {
    await place.get(name, copy);
    if ((await describeFile(copy)).sha256 !== sha256)
      throw new BackupError(`${place.label}: ${name} is not what was written there. Do not rely on it; back up again.`);
    if (isSealedWhole) return 'bytes';
    await readBackup(copy, null, scratch);
    return 'complete';
  } finally {
    rmSync(copy, { force: true });
  }
}

function keepOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw wrongUsage(`--keep takes a whole number from 1 to 9999; "${text}" is none.`);
  return Number(text);
}

/** A name of our own in a directory or a bucket, or the file that was named. */
function targetOf(
  values: Values,
  to: string | undefined,
  isSealedWhole: boolean,
  now: Date,
): { readonly place: Place; readonly name: string } {
  const named = placeNamed(values, to);
  const isFile = /\.tar(?:\.age)?$/.test(named);
  if (isFile && isBucket(named)) throw wrongUsage(`--to takes s3://bucket/folder; the name in it is made here.`);
  const place = openPlace(values, isFile ? dirname(resolve(root, named)) : named);
  return { place, name: isFile ? basename(named) : nameAt(now, isSealedWhole) };
}

async function list(values: Values, asked: Asked): Promise<number> {
  const place = openPlace(values, placeNamed(values, asked.to));
  const stored = await place.list().catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (asked.json === true) console.log(JSON.stringify({ place: place.label, items: stored }));
  else if (stored.length === 0) console.log(`${place.label}: no backups`);
  else for (const { name, bytes } of stored) console.log(`${name}   ${(bytes / 1e6).toFixed(1)} MB`);
  return 0;
}

interface Source {
  readonly database: Awaited<ReturnType<typeof openDatabase>>;
  readonly kind: 'postgres' | 'embedded';
  close(): Promise<void>;
}

/** PostgreSQL as it is; the embedded database itself where nobody has it open, else a copy that its server makes. */
async function openSource(env: Env, values: Values): Promise<Source> {
  if (env.databaseUrl !== null) {
    const database = await openDatabase(env);
    await requireDatabase(database).catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
    return { database, kind: 'postgres', close: () => database.close() };
  }
  const place = join(env.dataDirectory, 'db');
  if (statSync(join(place, 'PG_VERSION'), { throwIfNoEntry: false }) === undefined)
    throw new Refusal(`there is nothing to back up: ${place} holds no database.`);
  const own = await openDatabase(env).catch((error: Error) => {
    if (/in use by process/.test(error.message)) return null;
    throw error;
  });
  if (own !== null) return { database: own, kind: 'embedded', close: () => own.close() };
  const directory = await askForCopy(env, values);
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    const database = await openEmbedded(directory);
    return { database, kind: 'embedded', close: () => database.close().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

async function askForCopy(env: Env, values: Values): Promise<string> {
  const url = `${controlUrl(inContainer(values))}/api/backup/database-copy`;
  const hint = 'Stop the control plane and run this again, or start it with this .env.';
  let answer: Response;
  try {
    const headers = { authorization: `Bearer ${localTokenOf(env.authSessionSecret)}` };
    answer = await fetch(url, { method: 'POST', headers });
  } catch (error) {
    throw new Refusal(`the embedded database is in use, and nothing answers at ${url} (${String(error)}). ${hint}`);
  }
  const body = (await answer.json().catch(() => null)) as { directory?: string; detail?: string } | null;
  if (answer.ok && typeof body?.directory === 'string') return body.directory;
  throw new Refusal(`the control plane at ${url} answered ${answer.status}: ${body?.detail ?? 'no reason'}. ${hint}`);
}

async function verify(file: string, asked: Asked, values: Values): Promise<number> {
  const key = keyOf(asked);
  const isRestored = asked.restore === true;
  if (isRestored) setPriority(niceness);
  const modules = isRestored ? await allModules() : [];
  let hindrance: string | null = null;
  const onEnvironment = (text: string): void => void (hindrance = hindranceOf(text, values));
  const manifest = await withLocal(values, file, (local) =>
    isRestored
      ? rehearseRestore(local, key, scratchOf(values), modules, onEnvironment)
      : readBackup(local, key, scratchOf(values), onEnvironment),
  );
  const { tables, entries, created_at, release: by, database, environment } = manifest;
  const report: VerifyReport = {
    created_at,
    release: by,
    database,
    tables: tables.length,
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    entries: entries.length,
    restored: isRestored,
    secrets: environment === 'absent' ? 'absent' : key === null ? 'sealed' : 'opened',
    hindrance,
  };
  console.log(asked.json === true ? JSON.stringify(report) : verifiedWords(file, report));
  return 0;
}

/** The lines of `.env` that a restore takes over: for where it cannot, such as the environment of a container. */
async function environmentIn(file: string, asked: Asked, values: Values): Promise<number> {
  const key = keyOf(asked);
  if (key === null) throw wrongUsage('the secrets are sealed; give the key with --key-file or --passphrase-file.');
  let lines: string | null = null;
  await withLocal(values, file, (local) =>
    readBackup(local, key, scratchOf(values), (text) => void (lines = takenLines(parseEnvironmentFile(text).values))),
  );
  if (lines === null) throw new Refusal(`${file} has no secrets: it was made with --without-secrets.`);
  process.stdout.write(lines);
  return 0;
}

const secretsWords = {
  absent: 'no secrets in it',
  sealed: 'secrets sealed (not opened: no key was given)',
  opened: 'secrets opened with the key',
};

function verifiedWords(
  file: string,
  { created_at, release: by, database, restored, secrets, ...of }: VerifyReport,
): string {
  return (
    `${file}: complete. Made ${created_at} by release ${by} from ${database}; ` +
    `${of.tables} tables with ${of.rows} rows and ${of.entries} entries, every hash equal; ${secretsWords[secrets]}.` +
    (restored ? ' It was restored into a scratch database, and every table is equal there.' : '')
  );
}

async function makeKey(values: Values): Promise<number> {
  if (values.BACKUP_RECIPIENT !== '')
    throw new Refusal(
      'BACKUP_RECIPIENT is set already. Remove the line to make another pair; older backups still need the older key.',
    );
  const { identity, recipient } = await createKey();
  const file = envFilePath();
  // in a container there is a device in its place, which keeps nothing
  const isKept = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  if (isKept)
    withFiles(() => appendFileSync(file, `\n\n# Backups are sealed for this key.\nBACKUP_RECIPIENT=${recipient}\n`));
  console.log(
    `${identity}\n\nThis secret key opens your backups. It is shown once and stored nowhere: keep it away from this ` +
      `machine.\nThe public half, ${recipient}, ${
        isKept ? `is in ${file}.` : 'goes into BACKUP_RECIPIENT, which nothing has set yet.'
      }`,
  );
  return 0;
}
