import { pruneAttempts } from '../auth/lockout.js';
import { pruneSessions } from '../auth/sessions.js';
import { pruneBatches } from '../events/batches.js';
import { pruneRecords } from '../events/partitions.js';
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { pruneSamples } from '../records/samples.js';
import { pruneThreats } from '../threat-intel/store.js';

export type RetentionParts = Pick<Parts, 'database' | 'audit' | 'currentSettings'>;

const dayMs = 86_400_000;
/** Ended sessions stay a week, for whoever looks into an incident. */
const sessionDays = 7;

/** Hourly: what is older than the settings say goes; the audit chain keeps a sealed anchor. */
export function createRetentionJob({ database, audit, currentSettings }: RetentionParts): Job {
  return {
    name: 'retention',
    everyMs: 3600_000,
    timeoutMs: 10 * 60_000,
    async run({ nowMs }) {
      const { sql } = database;
      const settings = await currentSettings();
      const before = (days: number): Date => new Date(nowMs - days * dayMs);
      const requestsBefore = before(settings.retention_requests_days);
      const entries = await sql.begin((tx) => audit.prune(tx, before(settings.retention_audit_days)));
      const sessions = await pruneSessions(sql, before(sessionDays));
      const attempts = await pruneAttempts(sql, nowMs);
      const partitions = await pruneRecords(database, requestsBefore, new Date(nowMs));
      await pruneSamples(sql, requestsBefore);
      const batches = await pruneBatches(sql, before(sessionDays));
      const threats = await pruneThreats(sql, new Date(nowMs));
      const counts = [
        `${entries} audit entries`,
        `${sessions} sessions`,
        `${attempts} login counters`,
        `${partitions} days of requests and events`,
        `${batches} batch marks`,
        `${threats} expired addresses`,
      ];
      return `${counts.join(', ')} removed`;
    },
  };
}
