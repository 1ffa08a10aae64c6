// Records as rows, and the statements that insert them. One JSON parameter for each insert: cheaper for both sides than
// tens of thousands of bound values, and the same on both databases.
import type postgres from 'postgres';
import type { Queryable } from '../db/client.js';
import { skewDaysMax } from './partitions.js';
import { pathTemplate } from './path-template.js';
import type { EventRecord, RequestRecord } from './record.js';
import { categoryOf } from './summary/summarise.js';

/** A whole statement, or a part of a larger one. */
export type Statement = postgres.PendingQuery<postgres.Row[]>;

const dayMs = 86_400_000;

/** No further from now than a wrong clock may be. */
export function clampMs(nowMs: number, ms: number): number {
  return Math.min(nowMs + skewDaysMax * dayMs, Math.max(nowMs - skewDaysMax * dayMs, ms));
}

const integerMax = 2 ** 31 - 1;

export function toRow(record: RequestRecord | EventRecord, node: string, nowMs: number): object {
  return {
    ...record,
    node,
    at: new Date(clampMs(nowMs, record.at_ms)),
    inbound_score: Math.min(integerMax, record.inbound_score),
    ...('outbound_score' in record
      ? { outbound_score: Math.min(integerMax, record.outbound_score) }
      : { category: categoryOf({ ...record, node }), path_template: pathTemplate(record.uri) }),
  };
}

/**
 * NUL and lone surrogates cannot be stored as text; they come from attackers' bytes and are shown as replacement
 * characters. In JSON both are written as escapes. A text without such an escape has none, and is spared the function
 * that is called for every value: it costs more than the rest of the ingest.
 */
function toJson(rows: readonly object[]): string {
  const text = JSON.stringify(rows);
  if (!/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  const clean = (given: string): string =>
    /[\u0000\ud800-\udfff]/.test(given)
      ? Buffer.from(given.replaceAll('\u0000', '\ufffd'), 'utf8').toString('utf8')
      : given;
  return JSON.stringify(rows, (_, value: unknown) => {
    if (typeof value === 'string') return clean(value);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && Object.keys(value).some((name) => clean(name) !== name)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [clean(name), inner]))
      : value;
  });
}

export function insertRequests(sql: Queryable, rows: readonly object[]): Statement {
  return sql`
    insert into request_records
      (at, request_id, node, site, generation, client_ip, method, uri, status, verdict, inbound_score, outbound_score,
       rule_ids, user_agent, request_bytes, response_bytes, latency_us, inspection_us, ja3, ja4,
       trace)
    select * from json_to_recordset(${toJson(rows)}::text::json) as r (
      at timestamptz, request_id text, node text, site text, generation bigint, client_ip text, method text, uri text,
      status integer, verdict text, inbound_score integer, outbound_score integer, rule_ids jsonb, user_agent text,
      request_bytes bigint, response_bytes bigint, latency_us bigint, inspection_us bigint, ja3 text, ja4 text,
      trace jsonb)`;
}

export function insertEvents(sql: Queryable, rows: readonly object[]): Statement {
  return sql`
    insert into security_events
      (at, request_id, node, site, client_ip, kind, verdict, method, uri, status, rule_id, inbound_score, details,
       category, path_template, country, asn)
    select * from json_to_recordset(${toJson(rows)}::text::json) as r (
      at timestamptz, request_id text, node text, site text, client_ip text, kind text, verdict text, method text,
      uri text, status integer, rule_id bigint, inbound_score integer, details jsonb, category text,
      path_template text, country text, asn bigint)`;
}
