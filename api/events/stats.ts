// How much is stored, and since when.
import { Type, type Static } from '@sinclair/typebox';
import type { Queryable } from '../db/client.js';
import { Nullable, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readCounters } from './batches.js';
import type { RecordTable } from './partitions.js';
import { ordinaryLimit } from './ordinary-limit.js';
import { inForce } from '../measures/store.js';

export type StatsParts = Pick<Parts, 'database' | 'now' | 'currentSettings'>;

const freshMs = 5000;
const countedMax = 100_000;

const Stats = Type.Object({
  retention_requests_days: Type.Integer(),
  retention_audit_days: Type.Integer(),
  requests_stored: Type.Integer({ description: 'exact up to 100,000; beyond, an estimate by the size of the tables' }),
  events_stored: Type.Integer({ description: 'as requests_stored' }),
  are_estimates: Type.Array(Type.String(), { description: 'members above that are estimates' }),
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
  ordinary_per_second_max: Nullable(
    Type.Integer({ description: 'ordinary requests that are stored on average; null: all of them' }),
  ),
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

async function readStats({ database, currentSettings, now }: StatsParts): Promise<Static<typeof Stats>> {
  const { sql } = database;
  const settings = await currentSettings();
  const [ends] = await sql<{ request: Date | null; audit: Date | null; versions: number; bytes: number }[]>`
    select (select min(at) from request_records) as request, (select min(at) from audit_entries) as audit,
      (select count(*) from settings_versions) as versions, pg_database_size(current_database()) as bytes`;
  const counters = await readCounters(sql);
  const requests = await countRecords(sql, 'request_records');
  const events = await countRecords(sql, 'security_events');
  return {
    retention_requests_days: settings.retention_requests_days,
    retention_audit_days: settings.retention_audit_days,
    sites: settings.sites.length,
    requests_stored: requests.n,
    events_stored: events.n,
    are_estimates: [
      ...(requests.isEstimate ? ['requests_stored'] : []),
      ...(events.isEstimate ? ['events_stored'] : []),
    ],
    audit_entries: await countAuditEntries(sql),
    threat_addresses: await countDenied(sql, new Date(now())),
    oldest_request_at: ends?.request?.toISOString() ?? null,
    oldest_audit_at: ends?.audit?.toISOString() ?? null,
    settings_versions: ends?.versions ?? 0,
    database_bytes: ends?.bytes ?? 0,
    records_dropped_by_nodes: counters.dropped,
    records_sampled_out: counters.sampled,
    records_refused: counters.refused,
    ordinary_per_second_max: database.kind === 'embedded' ? ordinaryLimit.perSecond : null,
  };
}

interface Count {
  readonly n: number;
  readonly isEstimate: boolean;
}

/** Pages that an estimate reads. */
const sampledPages = 300;

/**
 * Exact up to a bound. Beyond it, rows of some pages times the pages there are: what the database believes of a table
 * (`reltuples`) stays unknown where nobody analyses it, as in the embedded one.
 */
async function countRecords(sql: Queryable, table: RecordTable): Promise<Count> {
  const [some] = await sql<{ n: number }[]>`
    select count(*) as n from (select 1 from ${sql(table)} limit ${countedMax + 1}) x`;
  if ((some?.n ?? 0) <= countedMax) return { n: some?.n ?? 0, isEstimate: false };
  const [size] = await sql<{ pages: number }[]>`
    select (sum(pg_relation_size(i.inhrelid)) / 8192)::bigint as pages
    from pg_inherits i join pg_class p on p.oid = i.inhparent where p.relname = ${table}`;
  const percent = Math.min(100, (sampledPages * 100) / Math.max(1, size?.pages ?? 1));
  const [sample] = await sql<{ n: number }[]>`
    select count(*) as n from ${sql(table)} tablesample system (${percent}::float8) repeatable (1)`;
  return { n: Math.max(Math.round(((sample?.n ?? 0) * 100) / percent), countedMax + 1), isEstimate: true };
}

/** Stays small enough to be counted. */
async function countAuditEntries(sql: Queryable): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*) as n from audit_entries`;
  return row?.n ?? 0;
}

/** Addresses and networks that are denied, once for each source that names them. */
async function countDenied(sql: Queryable, now: Date): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*) as n from client_measures where action = 'deny' and ${inForce(sql, now)}`;
  return row?.n ?? 0;
}
