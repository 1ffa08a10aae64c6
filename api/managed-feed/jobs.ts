import type { House } from '../parts.js';
import { createRuleLab } from '../rules/sandbox.js';
import { findManagedRow, isManagedFeedDue, refreshManagedFeed } from './refresh.js';
import type { Job } from '../jobs/scheduler.js';

/**
 * Looks at every round of the scheduler whether the managed feed is due, so that switching it on or off is felt at
 * once.
 */
export function createManagedFeedJob(house: House): Job {
  const lab = createRuleLab();
  return {
    name: 'managed-feed',
    everyMs: 15_000,
    timeoutMs: 3 * 60_000,
    async run({ nowMs }) {
      const settings = await house.currentSettings();
      if (!isManagedFeedDue(settings, await findManagedRow(house.database.sql), nowMs)) return 'nothing was due';
      return refreshManagedFeed({ house, lab }, settings, nowMs);
    },
  };
}
