// Places of backups as the command line and the environment name them.
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BackupError, openDirectory, openS3, type Place } from '#api/main';
import type { Values } from '#settings/environment';
import { root } from '../environment/directories.js';
import { Refusal, withFiles, wrongUsage } from '../refusal.js';

export const isBucket = (named: string): boolean => named.startsWith('s3://');

/** Where backups go unless `--to` says otherwise. */
export const placeNamed = (values: Values, to: string | undefined): string =>
  to ?? (values.BACKUP_TO || join(values.GATEHOUSE_DATA || 'data', 'backups'));

/** Directory of this host for what is on its way. */
export const scratchOf = (values: Values): string => resolve(root, values.GATEHOUSE_DATA || 'data', 'backups');

/** Throws Refusal where the keys of a bucket are not set, BackupError where the address is none. */
export function openPlace(values: Values, named: string): Place {
  if (!isBucket(named)) {
    if (/^[a-z0-9]+:\/\//i.test(named))
      throw wrongUsage(`backups go to a directory or to s3://bucket/folder; ${named} is neither.`);
    return openDirectory(resolve(root, named));
  }
  const missing = (['BACKUP_S3_ACCESS_KEY_ID', 'BACKUP_S3_SECRET_ACCESS_KEY'] as const).filter(
    (name) => values[name] === '',
  );
  if (missing.length > 0)
    throw new Refusal(`${named} needs ${missing.join(' and ')}; set ${missing.length === 1 ? 'it' : 'them'} in .env.`);
  return openS3({
    url: named,
    endpoint: values.BACKUP_S3_ENDPOINT || null,
    region: values.BACKUP_S3_REGION,
    accessKeyId: values.BACKUP_S3_ACCESS_KEY_ID,
    secretAccessKey: values.BACKUP_S3_SECRET_ACCESS_KEY,
  });
}

/** `s3://bucket/folder/name` as its folder and its name. */
export function splitBucket(named: string): { readonly folder: string; readonly name: string } {
  const at = named.lastIndexOf('/');
  return { folder: named.slice(0, at), name: named.slice(at + 1) };
}

/** A backup as a file of this host: itself, or fetched from its bucket for as long as `work` needs it. */
export async function withLocal<T>(values: Values, named: string, work: (file: string) => Promise<T>): Promise<T> {
  if (!isBucket(named)) return withMissing(named, () => work(named));
  const { folder, name } = splitBucket(named);
  if (!/\.tar(?:\.age)?$/.test(name))
    throw new BackupError(`${named} names no backup; its name ends in .tar or .tar.age.`);
  const scratch = scratchOf(values);
  withFiles(() => mkdirSync(scratch, { recursive: true, mode: 0o700 }));
  const local = join(scratch, `.fetched-${process.pid}.partial`);
  try {
    await openPlace(values, folder).get(name, local);
    return await work(local);
  } finally {
    rmSync(local, { force: true });
  }
}

/** A file that is not there is refused by its name. */
async function withMissing<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && (error as NodeJS.ErrnoException).path === file)
      throw new Refusal(`${file}: there is no such file.`);
    throw error;
  }
}
