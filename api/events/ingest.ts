// Batches in, rows out. One writer at a time (also across servers) hands out ids in commit order, so that a reader who
// follows ids never skips a row. A batch is acknowledged after its commit and stored once however often it is sent.
// When batches arrive faster than they can be written, requests are sampled and counted; events never are. What must not
// be kept is masked here, before anything waits or is written (proxy/mask.ts): nodes send what they saw.
import { maskDetails, maskText, maskUri, type MaskLevel } from '#proxy/contract';
import type { Database, Tx } from '../db/client.js';
import { ApiError } from '../errors.js';
import { ensurePartition, skewDaysMax, toDay, type RecordTable } from './partitions.js';
import type { EventRecord, RecordBatch, RequestRecord } from './record.js';

export interface IngestResult {
  readonly stored: number;
  readonly duplicate: boolean;
  readonly sampled_out: number;
}

export interface Ingest {
  /** Resolves after the commit. Rejects with `busy` (503, Retry-After) when the queue is full: the node keeps the batch and tries again. */
  accept(batch: RecordBatch): Promise<IngestResult>;
  /** Rows waiting to be written. */
  readonly waitingRows: number;
}

export interface IngestOptions {
  readonly database: Database;
  readonly now: () => number;
  /** How much is masked: `personal` while privacy_mode is on. */
  readonly maskLevel: () => Promise<MaskLevel>;
  /** Waiting rows from which requests are sampled, and from which batches are refused. */
  readonly sampleAboveRows?: number;
  readonly refuseAboveRows?: number;
}

interface Waiting {
  readonly batch: RecordBatch;
  readonly sampledOut: number;
  readonly resolve: (result: IngestResult) => void;
  readonly reject: (error: unknown) => void;
}

const ingestLock = 0x67610006;
const rowsPerTransaction = 10_000;
const sampleEvery = 10;
const dayMs = 86_400_000;

export function createIngest(options: IngestOptions): Ingest {
  const sampleAbove = options.sampleAboveRows ?? 60_000;
  const refuseAbove = options.refuseAboveRows ?? 200_000;
  const queue: Waiting[] = [];
  const days = new Set<number>();
  let waitingRows = 0;
  let isWriting = false;

  const write = async (): Promise<void> => {
    if (isWriting) return;
    isWriting = true;
    try {
      while (queue.length > 0) {
        const taken: Waiting[] = [];
        for (let rows = 0; queue.length > 0 && rows < rowsPerTransaction; ) {
          const next = queue.shift() as Waiting;
          rows += next.batch.requests.length + next.batch.events.length;
          taken.push(next);
        }
        await settle(options, days, taken);
        waitingRows -= taken.reduce((sum, { batch }) => sum + batch.requests.length + batch.events.length, 0);
      }
    } finally {
      isWriting = false;
    }
  };
  return {
    async accept(batch) {
      const level = await options.maskLevel();
      if (waitingRows > refuseAbove) throw new ApiError('busy', 'Too many records are waiting to be written. Keep the batch and send it again.', { headers: { 'retry-after': '2' } });
      const taken = waitingRows > sampleAbove ? batch.requests.filter((record, i) => i % sampleEvery === 0 || record.verdict !== 'pass') : batch.requests;
      const requests = taken.map((record) => ({ ...record, uri: maskUri(record.uri, level), user_agent: maskText(record.user_agent, level) }));
      const events = batch.events.map((record) => ({ ...record, uri: maskUri(record.uri, level), details: maskDetails(record.details, level) }));
      waitingRows += requests.length + events.length;
      return new Promise((resolve, reject) => {
        queue.push({ batch: { ...batch, requests, events }, sampledOut: batch.requests.length - requests.length, resolve, reject });
        void write();
      });
    },
    get waitingRows() { return waitingRows; },
  };
}

/** All of them in one transaction; if that fails, one by one, so that a batch the database refuses harms no other. */
async function settle(options: IngestOptions, days: Set<number>, taken: readonly Waiting[]): Promise<void> {
  try {
    const results = await store(options, days, taken);
    taken.forEach((waiting, i) => waiting.resolve(results[i] as IngestResult));
  } catch (error) {
    if (taken.length === 1) return void taken[0]?.reject(error);
    for (const waiting of taken) await settle(options, days, [waiting]);
  }
}

/** `days`: partitions that are known to be there, two numbers for each day. */
async function store(options: IngestOptions, days: Set<number>, taken: readonly Waiting[]): Promise<IngestResult[]> {
  const nowMs = options.now();
  const { sql } = options.database;
  const rows: Record<RecordTable, object[]> = { request_records: [], security_events: [] };
  const clampMs = (ms: number): number => Math.min(nowMs + skewDaysMax * dayMs, Math.max(nowMs - skewDaysMax * dayMs, ms));
  const clamp = (ms: number): Date => new Date(clampMs(ms));
  // asked for every record, so in numbers
  for (const { batch } of taken) for (const [kind, table, records] of [[0, 'request_records', batch.requests], [1, 'security_events', batch.events]] as const) {
    for (const record of records) {
      const known = Math.floor(clampMs(record.at_ms) / dayMs) * 2 + kind;
      if (days.has(known)) continue;
      await ensurePartition(sql, table, toDay(clamp(record.at_ms)));
      days.add(known);
    }
  }
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${ingestLock})`;
    const fresh = await tx<{ node: string; batch_id: string }[]>`insert into ingest_batches ${tx(taken.map(({ batch }) => ({ node: batch.node, batch_id: batch.batch_id, at: new Date(nowMs) })))} on conflict do nothing returning node, batch_id`;
    const unseen = new Set(fresh.map((row) => `${row.node}\n${row.batch_id}`));
    let [dropped, sampled] = [0, 0];
    const results = taken.map(({ batch, sampledOut }): IngestResult => {
      // the same batch twice in one transaction: the first takes the mark
      if (!unseen.delete(`${batch.node}\n${batch.batch_id}`)) return { stored: 0, duplicate: true, sampled_out: 0 };
      for (const record of batch.requests) rows.request_records.push({ ...record, node: batch.node, at: clamp(record.at_ms) });
      for (const record of batch.events) rows.security_events.push({ ...record, node: batch.node, at: clamp(record.at_ms) });
      dropped += batch.dropped ?? 0;
      sampled += sampledOut;
      return { stored: batch.requests.length + batch.events.length, duplicate: false, sampled_out: sampledOut };
    });
    await insertRequests(tx, rows.request_records as (RequestRecord & { node: string; at: Date })[]);
    await insertEvents(tx, rows.security_events as (EventRecord & { node: string; at: Date })[]);
    for (const [name, value] of [['dropped_by_nodes', dropped], ['sampled_out', sampled]] as const) {
      if (value > 0) await tx`insert into ingest_counters (name, value) values (${name}, ${value}) on conflict (name) do update set value = ingest_counters.value + excluded.value`;
    }
    return results;
  });
}

/**
 * NUL and lone surrogates cannot be stored as text; they come from attackers' bytes and are shown as replacement characters.
 * In JSON both are written as escapes, so a text without such an escape has none, and is spared the function that is
 * called for every value (it costs more than the rest of the ingest).
 */
function toJson(rows: readonly object[]): string {
  const text = JSON.stringify(rows);
  if (!/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' && /[\u0000\ud800-\udfff]/.test(value) ? Buffer.from(value.replaceAll('\u0000', '\ufffd'), 'utf8').toString('utf8') : value));
}

// One JSON parameter per insert: cheaper for both sides than tens of thousands of bound values, and the same on both databases.
async function insertRequests(tx: Tx, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    insert into request_records (at, request_id, node, site, generation, client_ip, method, uri, status, verdict, inbound_score, outbound_score, rule_ids, user_agent, request_bytes, response_bytes, latency_us, inspection_us)
    select * from json_to_recordset(${toJson(rows)}::text::json) as r (at timestamptz, request_id text, node text, site text, generation bigint, client_ip text, method text, uri text, status integer, verdict text,
      inbound_score integer, outbound_score integer, rule_ids jsonb, user_agent text, request_bytes bigint, response_bytes bigint, latency_us bigint, inspection_us bigint)`;
}

async function insertEvents(tx: Tx, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    insert into security_events (at, request_id, node, site, client_ip, kind, verdict, method, uri, status, rule_id, inbound_score, details)
    select * from json_to_recordset(${toJson(rows)}::text::json) as r (at timestamptz, request_id text, node text, site text, client_ip text, kind text, verdict text, method text, uri text, status integer, rule_id bigint, inbound_score integer, details jsonb)`;
}
