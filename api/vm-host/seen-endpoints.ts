// What discovery has seen of a host, for scans, and who asks whom inside. The inventory knows sites by name; the
// settings say which host each has. A site for any host may be another application than the target, so it is not asked.
import type { Host } from '#vm-manager';
import { selectBusiestHops } from '../ingest/east-west.js';
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

/** Service-to-service traffic that meshes and traces have sent to this server. */
export function createEastWest({ database: { sql } }: Pick<Parts, 'database'>): NonNullable<Host['eastWest']> {
  return async (max) =>
    (await selectBusiestHops(sql, max)).map(({ first_seen: firstSeen, last_seen: lastSeen, ...hop }) => ({
      ...hop,
      firstSeen,
      lastSeen,
    }));
}
