// How much is stored, and since when.
import { Type, type Static } from '@sinclair/typebox';
import type { Queryable } from '../db/client.js';
import { Nullable, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readCounters } from './batches.js';

export type StatsParts = Pick<Parts, 'database' | 'now' | 'currentSettings'>;

const freshMs = 5000;
const countedMax = 100_000;

const Stats = Type.Object({
  retention_requests_days: Type.Integer(),
  retention_audit_days: Type.Integer(),
  requests_stored: Type.Integer({ description: 'exact up to 100,000, else the database’s estimate' }),
  events_stored: Type.Integer(),
  audit_entries: Type.Integer(),
  oldest_request_at: Nullable(Time),
  oldest_audit_at: Nullable(Time),
  settings_versions: Type.Integer(),
  threat_addresses: Type.Integer(),
  sites: Type.Integer(),
  records_dropped_by_nodes: Type.Integer(),
  records_sampled_out: Type.Integer(),
  records_refused: Type.Integer(),
  database_bytes: Type.Integer(),
});

const schema = {
  tags: ['operations'],
  summary: 'Retention and what is stored, at most five seconds old',
  response: { 200: Stats, ...refusals },
};

/** Counting is the dearest thing this API does: dashboards that ask every second share one answer. */
export function registerStatsRoute(app: App, parts: StatsParts): void {
  let known: { readonly at: number; readonly stats: Promise<Static<typeof Stats>> } | null = null;
  app.get('/api/policy/stats', { schema }, () => {
    const age = known === null ? Infinity : parts.now() - known.at;
    if (known !== null && age >= 0 && age < freshMs) return known.stats;
    const mine = { at: parts.now(), stats: readStats(parts) };
    known = mine;
    mine.stats.catch(() => {
      if (known === mine) known = null;
    });
    return mine.stats;
  });
}

async function readStats({ database: { sql }, currentSettings }: StatsParts): Promise<Static<typeof Stats>> {
  const settings = await currentSettings();
  const [ends] = await sql<{ request: Date | null; audit: Date | null; versions: number; bytes: number }[]>`
    select (select min(at) from request_records) as request, (select min(at) from audit_entries) as audit,
      (select count(*) from settings_versions) as versions, pg_database_size(current_database()) as bytes`;
  const counters = await readCounters(sql);
  return {
    retention_requests_days: settings.retention_requests_days,
    retention_audit_days: settings.retention_audit_days,
    sites: settings.sites.length,
    requests_stored: await countOf(sql, 'request_records'),
    events_stored: await countOf(sql, 'security_events'),
    audit_entries: await countOf(sql, 'audit_entries'),
    threat_addresses: await countOf(sql, 'threat_addresses'),
    oldest_request_at: ends?.request?.toISOString() ?? null,
    oldest_audit_at: ends?.audit?.toISOString() ?? null,
    settings_versions: ends?.versions ?? 0,
    database_bytes: ends?.bytes ?? 0,
    records_dropped_by_nodes: counters.dropped,
    records_sampled_out: counters.sampled,
    records_refused: counters.refused,
  };
}

/** Exact up to a bound, else what the database believes of the table and its partitions. */
async function countOf(sql: Queryable, table: string): Promise<number> {
  const [some] = await sql<{ n: number }[]>`
    select count(*) as n from (select 1 from ${sql(table)} limit ${countedMax + 1}) x`;
  if ((some?.n ?? 0) <= countedMax) return some?.n ?? 0;
  const [estimate] = await sql<{ n: number }[]>`
    select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint as n from pg_class c
    left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
    where c.relkind = 'r' and (c.relname = ${table} or p.relname = ${table})`;
  return Math.max(estimate?.n ?? 0, countedMax + 1);
}
