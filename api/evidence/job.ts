import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { countEvidence } from './counting.js';

/** Counts the request records of the last round for GET /api/rules/evidence. */
export function createEvidenceJob({ database, currentSettings }: Pick<Parts, 'database' | 'currentSettings'>): Job {
  return {
    name: 'rule-evidence',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs, signal }) {
      const { rule_exclusions } = await currentSettings();
      return `${await countEvidence(database, rule_exclusions, new Date(nowMs), signal)} requests counted`;
    },
  };
}
