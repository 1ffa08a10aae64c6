import { pruneAttempts } from '../auth/lockout.js';
import { pruneSessions } from '../auth/sessions.js';
import type { House } from '../parts.js';
import { pruneRecords } from '../events/partitions.js';
import { pruneThreats } from '../threat-intel/store.js';
import type { Job } from '../jobs/scheduler.js';

const dayMs = 86_400_000;
/** Ended sessions stay a week, for whoever looks into an incident. */
const sessionDays = 7;

/** Hourly: what is older than the settings say goes; the audit chain keeps a sealed anchor. */
export function createRetentionJob(house: House): Job {
  return {
    name: 'retention',
    everyMs: 3600_000,
    timeoutMs: 10 * 60_000,
    async run({ nowMs }) {
      const { sql } = house.database;
      const settings = await house.currentSettings();
      const before = (days: number): Date => new Date(nowMs - days * dayMs);
      const audit = await sql.begin((tx) => house.audit.prune(tx, before(settings.retention_audit_days)));
      const sessions = await pruneSessions(sql, before(sessionDays));
      const attempts = await pruneAttempts(sql, nowMs);
      const partitions = await pruneRecords(house.database, before(settings.retention_requests_days), new Date(nowMs));
      await sql`delete from request_samples where at < ${before(settings.retention_requests_days)}`;
      const batches = await sql`delete from ingest_batches where at < ${before(sessionDays)}`;
      const threats = await pruneThreats(sql, new Date(nowMs));
      return `${audit} audit entries, ${sessions} sessions, ${attempts} login counters, ${partitions} days of requests and events, ${batches.count} batch marks, ${threats} expired addresses removed`;
    },
  };
}
