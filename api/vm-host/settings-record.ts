// The settings as packs of evidence have them: as readers see them, and what was saved when by whom.
import type { Host } from '#vm-manager';
import { hideSecrets } from '../settings/secrets.js';
import { listVersions, readHead, versionsKept } from '../settings/store.js';
import type { Parts } from '../parts.js';

export const createSettingsRecord =
  ({ database: { sql } }: Pick<Parts, 'database'>): NonNullable<Host['settingsRecord']> =>
  async ({ from, to }) => {
    const head = await readHead(sql);
    const versions = await listVersions(sql, versionsKept, null);
    return {
      current: { version: head.id, settings: hideSecrets(head.settings) },
      versions: versions.filter(({ at }) => at >= from && at < to).reverse(),
    };
  };
