import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { createRuleSandbox } from '../rules/sandbox/sandbox.js';
import { isManagedFeedDue, refreshManagedFeed, type ManagedFeedParts } from './refresh.js';
import { findManagedRow } from './store.js';

export type ManagedFeedJobParts = Omit<ManagedFeedParts, 'sandbox'> & Pick<Parts, 'currentSettings'>;

/**
 * Looks at every round of the scheduler whether the managed feed is due, so that switching it on or off is felt at
 * once. Its patches are proven in a thread of its own: they must not wait for the tests of people, nor these for them.
 */
export function createManagedFeedJob(parts: ManagedFeedJobParts): Job {
  const sandbox = createRuleSandbox();
  return {
    name: 'managed-feed',
    everyMs: 15_000,
    timeoutMs: 3 * 60_000,
    async run({ nowMs }) {
      const settings = await parts.currentSettings();
      const row = await findManagedRow(parts.database.sql);
      if (!isManagedFeedDue(settings, row, nowMs)) return 'nothing was due';
      return refreshManagedFeed({ ...parts, sandbox }, settings, nowMs);
    },
  };
}
