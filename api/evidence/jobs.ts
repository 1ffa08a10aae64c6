import type { House } from '../parts.js';
import { countEvidence } from './store.js';
import type { Job } from '../jobs/scheduler.js';

/** Counts the request records of the last round for GET /api/rules/evidence. */
export function createEvidenceJob(house: House): Job {
  return {
    name: 'rule-evidence',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs, signal }) {
      const { rule_exclusions } = await house.currentSettings();
      return `${await countEvidence(house.database, rule_exclusions, new Date(nowMs), signal)} requests counted`;
    },
  };
}
