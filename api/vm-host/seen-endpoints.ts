// What discovery has seen of a host, for scans. The inventory knows sites by name; the settings say which host each
// has. A site for any host may be another application than the target, so it is not asked.
import type { Host } from '#vm-manager';
import { listSeen } from '../inventory/store.js';
import type { Parts } from '../parts.js';

export function createSeenEndpoints({
  database,
  currentSettings,
}: Pick<Parts, 'database' | 'currentSettings'>): NonNullable<Host['seenEndpoints']> {
  return async (host) => {
    const wanted = host.toLowerCase();
    const { sites } = await currentSettings();
    const names = sites.filter((site) => site.host?.toLowerCase() === wanted).map(({ name }) => name);
    return names.length === 0 ? [] : listSeen(database.sql, names);
  };
}
