// Where backups lie: a directory of this host, or a bucket of any store that speaks S3.
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError } from '../manifest.js';

export interface Stored {
  readonly name: string;
  readonly bytes: number;
}

export interface Place {
  /** For people; holds no secret. */
  readonly label: string;
  /**
   * Puts a file there under `name`: all of it, or an error and nothing. Throws BackupError where the name is taken or
   * the place cannot be written to.
   */
  put(file: string, name: string): Promise<void>;
  /** Backups that this program named, oldest first. */
  list(): Promise<readonly Stored[]>;
  /** Fetches one to a file that is not there yet. Throws BackupError where there is none of that name. */
  get(name: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
}

const ownName = /^gatehouse-\d{8}T\d{6}Z\.tar(?:\.age)?$/;

/** Whether this program made a file of that name: only such ones are ever removed. */
export const isOwnName = (name: string): boolean => ownName.test(name);

/** `gatehouse-20260301T120000Z.tar`, with `.age` where it is sealed whole. */
export const nameAt = (now: Date, isSealedWhole: boolean): string =>
  `gatehouse-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.tar${isSealedWhole ? '.age' : ''}`;

/** Throws BackupError for what the system refuses in this directory: the operator can change it, and reads this. */
async function withinDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new BackupError(
      `The directory ${directory} cannot be used for backups (${error.message}). Check that it is a directory, that ` +
        'Gatehouse may write to it and that its disk has space, or name another place in BACKUP_TO.',
    );
  }
}

async function putInto(directory: string, file: string, name: string): Promise<void> {
  const place = join(directory, name);
  if ((await sizeOf(place)) !== null) throw new BackupError(`${place} is there already; a backup replaces nothing.`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await rename(file, place).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    const partial = `${place}.${process.pid}.partial`;
    await copyFile(file, partial);
    await rename(partial, place);
    await rm(file, { force: true });
  });
}

export function openDirectory(directory: string): Place {
  return {
    label: directory,
    put: (file, name) => withinDirectory(directory, () => putInto(directory, file, name)),
    async list() {
      const names = (await readdir(directory)).filter(isOwnName).sort();
      return Promise.all(names.map(async (name) => ({ name, bytes: (await sizeOf(join(directory, name))) ?? 0 })));
    },
    async get(name, to) {
      if ((await sizeOf(join(directory, name))) === null)
        throw new BackupError(`${join(directory, name)}: there is no such file.`);
      await copyFile(join(directory, name), to);
    },
    remove: (name) => rm(join(directory, name), { force: true }),
  };
}

const sizeOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );

/** Removes the oldest beyond the newest `keep`; resolves with their names. */
export async function prune(place: Place, keep: number): Promise<string[]> {
  const old = (await place.list()).slice(0, -keep).map(({ name }) => name);
  for (const name of old) await place.remove(name);
  return old;
}
