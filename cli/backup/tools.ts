// What the control plane may do with backups beyond making them, and the restore that a person asked for over HTTP: it
// is noted in a file, the process ends, and the next start restores before it opens the database. A wish is taken
// once: one that was cut short is reported, and not begun again by itself.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  BackupError,
  checkLock,
  prune,
  type BackupTools,
  type RestoreOutcome,
  type RestoreWish,
  type VerifyReport,
} from '#api/main';
import type { Values } from '#settings/environment';
import { withFiles } from '../refusal.js';
import { reportIn, runCommand } from './child.js';
import { lockOf } from './keys.js';
import { isBucket, openPlace, placeNamed, scratchOf } from './places.js';

const names = { asked: 'restore-asked.json', begun: 'restore-begun.json', outcome: 'restore-outcome.json' } as const;

const pathOf = (values: Values, name: keyof typeof names): string => join(scratchOf(values), '..', names[name]);

const addressOf = (values: Values, name: string): string => {
  const place = placeNamed(values, undefined);
  return isBucket(place) ? `${place.replace(/\/$/, '')}/${name}` : join(place, name);
};

/** The key as a file for as long as `work` takes; it is in no list of processes. */
async function withKeyFile<T>(
  values: Values,
  key: string | null,
  work: (words: readonly string[]) => Promise<T>,
): Promise<T> {
  if (key === null) return work([]);
  const directory = scratchOf(values);
  const file = join(directory, `.key-${randomUUID()}.partial`);
  withFiles(() => mkdirSync(directory, { recursive: true, mode: 0o700 }));
  withFiles(() => writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' }));
  try {
    return await work([`--${key.startsWith('AGE-SECRET-KEY-1') ? 'key' : 'passphrase'}-file=${file}`]);
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * A backup as a stream. It is fetched to a file of this host first, which has no name once it is open: a bucket that
 * breaks off is asked again, and a backup that is removed meanwhile is read to its end.
 */
async function fetchFrom(values: Values, name: string): Promise<Readable> {
  const directory = scratchOf(values);
  const file = join(directory, `.download-${randomUUID()}.partial`);
  withFiles(() => mkdirSync(directory, { recursive: true, mode: 0o700 }));
  try {
    await openPlace(values, placeNamed(values, undefined)).get(name, file);
    return (await open(file, 'r')).createReadStream();
  } finally {
    rmSync(file, { force: true });
  }
}

/** A directory that the first backup will make. */
function noneYet(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** What `gatehouse backup`, run by this process, would refuse for the key that seals the secrets. */
function hindranceOf({ BACKUP_RECIPIENT: recipient }: Values): string | null {
  const lock = lockOf({}, recipient);
  if (lock === null)
    return (
      'BACKUP_RECIPIENT is not set, so secrets cannot be sealed: no backup can be made here, ' +
      'nor a restore, which makes one first. Run `gatehouse backup key`, then restart the ' +
      'control plane.'
    );
  try {
    checkLock(lock);
    return null;
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    return `BACKUP_RECIPIENT cannot be used. ${error.message}`;
  }
}

/** `end`: has this process end, so that what started it starts it again. */
export function backupTools(values: Values, end: () => void): BackupTools {
  const place = () => openPlace(values, placeNamed(values, undefined));
  return {
    place: () => placeNamed(values, undefined),
    hindrance: () => hindranceOf(values),
    list: () => place().list().catch(noneYet),
    verify: (name, key, signal) =>
      withKeyFile(values, key, async (words) =>
        reportIn<VerifyReport>(
          await runCommand(
            values,
            ['backup', 'verify', addressOf(values, name), '--restore', '--json', ...words],
            signal,
          ),
        ),
      ),
    fetch: (name) => fetchFrom(values, name),
    remove: (name) => place().remove(name),
    prune: (keep) => prune(place(), keep).catch(noneYet),
    async restore(wish) {
      write(pathOf(values, 'asked'), wish);
      end();
    },
    async takeOutcome() {
      const path = pathOf(values, 'outcome');
      if (!existsSync(path)) return null;
      const outcome = JSON.parse(readFileSync(path, 'utf8')) as RestoreOutcome;
      rmSync(path);
      return outcome;
    },
  };
}

/** All of it or nothing, also where the process is killed. */
function write(path: string, value: RestoreWish | RestoreOutcome): void {
  withFiles(() => {
    writeFileSync(`${path}.partial`, JSON.stringify(value), { mode: 0o600 });
    renameSync(`${path}.partial`, path);
  });
}

/**
 * Before the database is opened: restores what was asked for. Never throws for what a restore refuses. `begin`: called
 * where there is something to do, and what it returns at its end: it may take longer than a start.
 */
export async function restoreAsked(values: Values, begin: () => () => void): Promise<void> {
  const [asked, begun] = [pathOf(values, 'asked'), pathOf(values, 'begun')];
  if (existsSync(begun)) {
    const wish = JSON.parse(readFileSync(begun, 'utf8')) as RestoreWish;
    settle(values, wish, false, 'It was cut short. The database is as before or as in the backup; ask for it again.');
  }
  if (!existsSync(asked)) return;
  const wish = JSON.parse(readFileSync(asked, 'utf8')) as RestoreWish;
  withFiles(() => renameSync(asked, begun));
  console.log(`restoring ${wish.name}, as ${wish.by} asked`);
  const end = begin();
  try {
    const said = await withKeyFile(values, wish.key, (words) =>
      runCommand(values, ['restore', addressOf(values, wish.name), '-y', ...words]),
    );
    settle(values, wish, true, said.trim());
  } catch (error) {
    settle(values, wish, false, error instanceof Error ? error.message : String(error));
  } finally {
    end();
  }
}

function settle(values: Values, { name, by, at }: RestoreWish, ok: boolean, said: string): void {
  write(pathOf(values, 'outcome'), { name, by, asked_at: at, ended_at: new Date().toISOString(), ok, said });
  rmSync(pathOf(values, 'begun'), { force: true });
  console.log(ok ? said : `the restore of ${name} failed: ${said}`);
}
