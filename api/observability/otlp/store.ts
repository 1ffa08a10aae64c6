// How far each signal has come, and how it goes.
import type { Queryable } from '../../db/client.js';
import type { Signal } from './target.js';
import type { TracedRow } from './spans.js';

export interface ExportRow {
  readonly signal: Signal;
  readonly cursor: number;
  readonly sent: number;
  readonly rejected: number;
  readonly dropped: number;
  readonly failures: number;
  readonly retry_at: Date | null;
  readonly last_sent_at: Date | null;
  readonly last_error: string | null;
}

export const listExports = (sql: Queryable): Promise<ExportRow[]> =>
  sql<ExportRow[]>`select * from otel_exports order by signal`;

export async function exportOf(sql: Queryable, signal: Signal): Promise<ExportRow> {
  await sql`insert into otel_exports (signal) values (${signal}) on conflict do nothing`;
  const [row] = await sql<ExportRow[]>`select * from otel_exports where signal = ${signal}`;
  return row as ExportRow;
}

/** What came of one call; `cursor` null: it does not move. */
export interface Noted {
  readonly cursor: number | null;
  readonly sent: number;
  readonly rejected: number;
  readonly dropped: number;
  /** What the collector said of what it did not take. */
  readonly told: string | null;
}

export async function noteSent(sql: Queryable, signal: Signal, noted: Noted, now: Date): Promise<void> {
  const { cursor, sent, rejected, dropped, told } = noted;
  await sql`
    update otel_exports set cursor = greatest(cursor, ${cursor ?? 0}), sent = sent + ${sent},
      rejected = rejected + ${rejected}, dropped = dropped + ${dropped}, failures = 0, retry_at = null,
      last_sent_at = ${now}, last_error = ${told?.slice(0, 1000) ?? null} where signal = ${signal}`;
}

export async function noteFailed(
  sql: Queryable,
  signal: Signal,
  failed: { readonly failures: number; readonly retryAt: Date; readonly reason: string },
): Promise<void> {
  await sql`
    update otel_exports set failures = ${failed.failures}, retry_at = ${failed.retryAt},
      last_error = ${failed.reason.slice(0, 1000)} where signal = ${signal}`;
}

/** Chosen requests behind `cursor`, in the order in which they were stored. */
export async function tracedBehind(sql: Queryable, cursor: number, limit: number): Promise<TracedRow[]> {
  return sql<TracedRow[]>`
    select id, at, node, request_id, site, method, uri, status, verdict, inbound_score, rule_ids, request_bytes,
      response_bytes, latency_us, trace
    from request_records where id > ${cursor} and trace is not null order by id limit ${limit}`;
}

/** Passes over chosen requests that were stored before a moment; returns how many. */
export async function passOver(sql: Queryable, cursor: number, before: Date): Promise<number> {
  const [found] = await sql<{ last: number | null; n: number }[]>`
    select max(id) as last, count(*) as n from request_records
    where id > ${cursor} and trace is not null and at < ${before}`;
  if (found === undefined || found.last === null) return 0;
  await sql`
    update otel_exports set cursor = greatest(cursor, ${found.last}), dropped = dropped + ${found.n}
    where signal = 'traces'`;
  return found.n;
}
