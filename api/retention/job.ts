import { pruneAttempts } from '../auth/lockout.js';
import { pruneSessions } from '../auth/sessions.js';
import { pruneBatches } from '../events/batches.js';
import { pruneCounts } from '../events/facets/rollup.js';
import { pruneRecords } from '../events/partitions.js';
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { pruneSamples } from '../records/samples.js';
import { pruneMeasures } from '../measures/store.js';
import { systemActor } from '../http-kit/index.js';
import { believe, isJump, jumpDaysMax, newestStored, readClock, refuse } from './clock.js';
import { pruneApi } from './prune-api.js';
import { shrink } from './size.js';

export type RetentionParts = Pick<Parts, 'database' | 'audit' | 'currentSettings'>;

const dayMs = 86_400_000;
/** Ended sessions stay a week, for whoever looks into an incident. */
const sessionDays = 7;

/** Refuses where the clock is far ahead of the last run, and says so once in the audit log; null: it may prune. */
async function refuseJump({ database, audit }: RetentionParts, nowMs: number): Promise<string | null> {
  const { sql } = database;
  const now = new Date(nowMs);
  const before = (await readClock(sql)).believedAt ?? (await newestStored(sql));
  if (before === null || !isJump(before, nowMs)) {
    await believe(sql, now);
    return null;
  }
  const days = Math.floor((nowMs - before.getTime()) / dayMs);
  const line =
    `refused to prune: the clock says ${now.toISOString()}, ${days} days after the last run ` +
    `(${jumpDaysMax} are believed); fix the clock, or POST /api/retention/confirm if it is right`;
  await sql.begin(async (tx) => {
    if (await refuse(tx, before, now))
      await audit.record(tx, { actor: systemActor, action: 'retention.refused', summary: line, details: { days } });
  });
  return line;
}

/** Every minute: the embedded database stays below the size that the settings say. */
export function createSizeJob({ database, audit, currentSettings }: RetentionParts): Job {
  return {
    name: 'database-size',
    everyMs: 60_000,
    timeoutMs: 5 * 60_000,
    async run({ nowMs }) {
      const { retention_embedded_gigabytes: gigabytes } = await currentSettings();
      const shrunk = await shrink(database, gigabytes, new Date(nowMs));
      if (shrunk === null) return 'nothing had to go';
      const emptied = shrunk.emptied.length === 0 ? '' : ` and what ${shrunk.emptied.join(' and ')} had of today`;
      const summary = `the embedded database was over ${gigabytes} GB: ${shrunk.days} days of records${emptied} went`;
      await database.sql.begin((tx) =>
        audit.record(tx, { actor: systemActor, action: 'retention.shrunk', summary, details: { ...shrunk } }),
      );
      return summary;
    },
  };
}

/** Hourly: what is older than the settings say goes; the audit chain keeps a sealed anchor. */
export function createRetentionJob(parts: RetentionParts): Job {
  const { database, audit, currentSettings } = parts;
  return {
    name: 'retention',
    everyMs: 3600_000,
    timeoutMs: 10 * 60_000,
    async run({ nowMs }) {
      const refusal = await refuseJump(parts, nowMs);
      if (refusal !== null) return refusal;
      const { sql } = database;
      const settings = await currentSettings();
      const before = (days: number): Date => new Date(nowMs - days * dayMs);
      const requestsBefore = before(settings.retention_requests_days);
      const entries = await sql.begin((tx) => audit.prune(tx, before(settings.retention_audit_days)));
      const sessions = await pruneSessions(sql, before(sessionDays));
      const attempts = await pruneAttempts(sql, nowMs);
      const partitions = await pruneRecords(database, requestsBefore, new Date(nowMs));
      await pruneSamples(sql, requestsBefore);
      await pruneCounts(sql, requestsBefore);
      const batches = await pruneBatches(sql, before(sessionDays));
      const learned = await pruneApi(database, requestsBefore);
      const measures = await pruneMeasures(sql, new Date(nowMs));
      const counts = [
        `${entries} audit entries`,
        `${sessions} sessions`,
        `${attempts} login counters`,
        `${partitions} days of requests and events`,
        `${batches} batch marks`,
        `${measures} measures against clients that ended`,
        `${learned} rows of discovery`,
      ];
      return `${counts.join(', ')} removed`;
    },
  };
}
