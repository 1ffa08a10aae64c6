// What lies at the place of backups, for the endpoints: only what the place lists can be named.
import { ApiError } from '#http-kit';
import type { Host } from '../host.js';
import { notFound } from '../kit/endpoint.js';
import type { BackupPort, StoredBackup } from './port.js';

export function portOf({ backups }: Host): BackupPort {
  if (backups === undefined)
    throw new ApiError('conflict', 'This process has no place of backups. Start the control plane with `gatehouse`.');
  return backups;
}

/** What a place or a command says is for people; anything else is a fault of ours. */
export async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError || !(error instanceof Error)) throw error;
    throw new ApiError('conflict', error.message.slice(0, 2000));
  }
}

/** Throws 404 for a name that is not among those at the place: no other file can be named. */
export async function requireStored(port: BackupPort, id: string): Promise<StoredBackup> {
  const found = (await told(port.list())).find(({ name }) => name === id);
  if (found === undefined) throw notFound('backup', id.slice(0, 60));
  return found;
}
