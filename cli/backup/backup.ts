// `gatehouse backup`: one file that an installation can be restored from, made while everything serves. The work is
// done in this process, not in one that serves.
import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import {
  BackupError,
  createBackup,
  createKey,
  localTokenOf,
  openDatabase,
  openEmbedded,
  readBackup,
  type Env,
} from '#api/main';
import type { Values } from '#settings/environment';
import { parseOptions } from '../command-line.js';
import { readControlEnv } from '../commands/control-plane.js';
import { controlUrl } from '../environment/control-url.js';
import { root } from '../environment/directories.js';
import { envFilePath } from '../environment/env-file.js';
import { readFlags } from '../environment/flags.js';
import { adoptDirectories, controlPlaneEnvironment, readEnvironment } from '../environment/read-environment.js';
import { Refusal, withFiles, wrongUsage } from '../refusal.js';
import { keyOf, lockOf } from './keys.js';
import { release } from '../environment/release.js';

const options = {
  to: { type: 'string' },
  encrypt: { type: 'boolean' },
  recipient: { type: 'string' },
  'key-file': { type: 'string' },
  'passphrase-file': { type: 'string' },
  'without-secrets': { type: 'boolean' },
  keep: { type: 'string' },
} as const;

/** Lower than what serves. */
const niceness = 10;
const endings = { plain: '.tar', sealed: '.tar.age' } as const;
const backupName = /^gatehouse-\d{8}T\d{6}Z\.tar(?:\.age)?$/;

/** Throws Refusal for what is wrong with the words, the keys, the database or the disk. */
export async function runBackup(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  const { values: asked, positionals } = parseOptions({ args: [...others], allowPositionals: true, options });
  const [action = 'create', ...rest] = positionals;
  const values = readEnvironment(flags);
  adoptDirectories(values);
  try {
    if (action === 'create' && rest.length === 0) return await create(values, asked);
    if (action === 'verify' && rest.length === 1) return await verify(rest[0] ?? '', asked, values);
    if (action === 'key' && rest.length === 0) return await makeKey(values);
  } catch (error) {
    throw error instanceof BackupError ? new Refusal(error.message) : error;
  }
  throw wrongUsage(`backup does not know ${positionals.join(' ')}; it takes nothing, "verify FILE" or "key".`);
}

type Asked = {
  readonly [K in keyof typeof options]?: ((typeof options)[K]['type'] extends 'boolean' ? boolean : string) | undefined;
};

async function create(values: Values, asked: Asked): Promise<number> {
  const keep = keepOf(asked.keep);
  const lock = lockOf(asked, values.BACKUP_RECIPIENT);
  if (lock === null && asked['without-secrets'] !== true)
    throw new Refusal(
      'the secrets in the backup need a key to be sealed with: `gatehouse backup key` makes one for this ' +
        'installation, --passphrase-file FILE takes a passphrase, and --without-secrets leaves them out (then ' +
        'passwords of connectors and sites cannot be read after a restore elsewhere).',
    );
  const now = new Date();
  const to = fileFor(asked.to ?? join(values.GATEHOUSE_DATA || 'data', 'backups'), asked.encrypt === true, now);
  setPriority(niceness);
  const env = readControlEnv(controlPlaneEnvironment(values));
  const source = await openSource(env, values);
  try {
    const { bytes, manifest } = await createBackup({
      ...source,
      dataDirectory: env.dataDirectory,
      environmentFile: envFilePath(),
      release: release(),
      now,
      to,
      lock: asked['without-secrets'] === true && asked.encrypt !== true ? null : lock,
      isSealedWhole: asked.encrypt === true,
    });
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    console.log(
      `${to}   ${(bytes / 1e6).toFixed(1)} MB, ${manifest.tables.length} tables with ${rows} rows, ` +
        `${manifest.entries.filter(({ path }) => path.startsWith('files/')).length} files, ` +
        `secrets ${manifest.environment === 'sealed' ? 'sealed' : 'left out'}`,
    );
  } finally {
    await source.close();
  }
  if (keep !== null) prune(dirname(to), keep);
  return 0;
}

function keepOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw wrongUsage(`--keep takes a whole number from 1 to 9999; "${text}" is none.`);
  return Number(text);
}

/** A name of our own in a directory, or the file that was named. Creates the directory. */
function fileFor(named: string, isSealed: boolean, now: Date): string {
  if (/^[a-z0-9]+:\/\//i.test(named))
    throw wrongUsage(`--to takes a directory or a file; ${named} is an address. Copy the file there afterwards.`);
  const place = resolve(root, named);
  const ending = isSealed ? endings.sealed : endings.plain;
  const isFile = /\.tar(?:\.age)?$/.test(place);
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const file = isFile ? place : join(place, `gatehouse-${stamp}${ending}`);
  withFiles(() => mkdirSync(dirname(file), { recursive: true, mode: 0o700 }));
  if (statSync(file, { throwIfNoEntry: false }) !== undefined)
    throw new Refusal(`${file} is there already; a backup replaces nothing.`);
  return file;
}

/** Removes the oldest backups that this command named, beyond the newest `keep`. */
function prune(directory: string, keep: number): void {
  const old = readdirSync(directory)
    .filter((name) => backupName.test(name))
    .sort()
    .reverse()
    .slice(keep);
  for (const name of old) rmSync(join(directory, name));
  if (old.length > 0) console.log(`removed ${old.length} older: ${old.map((name) => basename(name)).join(', ')}`);
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
  const url = `${controlUrl(values)}/api/backup/database-copy`;
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
  const scratch = resolve(root, values.GATEHOUSE_DATA || 'data', 'backups');
  const manifest = await withMissing(file, () => readBackup(file, key, scratch));
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const secrets =
    manifest.environment === 'absent'
      ? 'no secrets in it'
      : key === null
        ? 'secrets sealed (not opened: no key was given)'
        : 'secrets opened with the key';
  console.log(
    `${file}: complete. Made ${manifest.created_at} by release ${manifest.release} from ${manifest.database}; ` +
      `${manifest.tables.length} tables with ${rows} rows and ${manifest.entries.length} entries, ` +
      `every hash equal; ${secrets}.`,
  );
  return 0;
}

/** A file that is not there is refused by its name. */
export async function withMissing<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && (error as NodeJS.ErrnoException).path === file)
      throw new Refusal(`${file}: there is no such file.`);
    throw error;
  }
}

async function makeKey(values: Values): Promise<number> {
  if (values.BACKUP_RECIPIENT !== '')
    throw new Refusal(
      'BACKUP_RECIPIENT is set already. Remove the line to make another pair; older backups still need the older key.',
    );
  const { identity, recipient } = await createKey();
  const file = envFilePath();
  if (statSync(file, { throwIfNoEntry: false }) !== undefined)
    withFiles(() => appendFileSync(file, `\n\n# Backups are sealed for this key.\nBACKUP_RECIPIENT=${recipient}\n`));
  console.log(
    `${identity}\n\nThis secret key opens your backups. It is shown once and stored nowhere: keep it away from this ` +
      `machine.\nThe public half, ${recipient}, ${
        statSync(file, { throwIfNoEntry: false }) === undefined ? 'goes into BACKUP_RECIPIENT.' : `is in ${file}.`
      }`,
  );
  return 0;
}
