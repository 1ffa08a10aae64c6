// Batches in, rows out. One writer at a time (also across servers) hands out ids in commit order, so that a reader who
// follows ids never skips a row. A batch is acknowledged after its commit and stored once however often it is sent.
// When batches arrive faster than they can be written, requests are sampled and counted; events never are. What must
// not be kept is masked here, before anything waits or is written (proxy/mask.ts): nodes send what they saw.
// PostgreSQL writes many batches in one transaction. The embedded database has one connection, where everybody waits
// for whoever is at work, so there a batch goes in as small parts, one statement each, and lets an apply go first.
// The answer says what became of every record: stored, sampled out, or refused by the database, which must not hold up
// the ones behind it. A batch sent again gets the same counts.
import { maskDetails, maskText, maskUri, type MaskLevel } from '#proxy/contract';
import type postgres from 'postgres';
import { lockKeys, type Database, type Queryable, type Sql, type Tx } from '../db/client.js';
import { ApiError } from '../http-kit/problem.js';
import { ensurePartition, skewDaysMax, toDay, type RecordTable } from './partitions.js';
import type { EventRecord, RecordBatch, RequestRecord } from './record.js';

export interface IngestResult {
  /** Now; 0 of a duplicate. */
  readonly stored: number;
  /** All of it was stored before. */
  readonly duplicate: boolean;
  /**
   * Left out of the whole batch, whenever that was: because too much came, and because the database would not have
   * them.
   */
  readonly sampled_out: number;
  readonly refused: number;
}

export interface Ingest {
  /**
   * Resolves after the commit. Rejects with `busy` (503, Retry-After) when the queue is full: the node keeps the batch
   * and tries again.
   */
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

/**
 * Records of a batch, by their places in it as it was sent, so that it falls apart the same way however often it comes.
 */
interface Part {
  readonly requests: readonly RequestRecord[];
  readonly events: readonly EventRecord[];
  readonly sampledOut: number;
}

interface Waiting {
  readonly batch: Pick<RecordBatch, 'node' | 'batch_id' | 'dropped'>;
  /** One for PostgreSQL. */
  readonly parts: readonly Part[];
  readonly rows: number;
  readonly resolve: (result: IngestResult) => void;
  readonly reject: (error: unknown) => void;
}

const rowsPerTransaction = 10_000;
/** 10 ms of the embedded database; four times that on a machine that is busy. */
const rowsPerPart = 200;
/** How long a batch lets an apply go first: longer than one takes, much shorter than a node waits for its answer. */
const patienceMs = 2000;
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
        for (
          let rows = 0;
          queue.length > 0 && rows < rowsPerTransaction && (taken.length === 0 || options.database.kind === 'postgres');
        ) {
          const next = queue.shift() as Waiting;
          rows += next.rows;
          taken.push(next);
        }
        await settle(options, days, taken);
        waitingRows -= taken.reduce((sum, { rows }) => sum + rows, 0);
      }
    } finally {
      isWriting = false;
    }
  };
  return {
    async accept(batch) {
      const level = await options.maskLevel();
      if (waitingRows > refuseAbove)
        throw new ApiError('busy', 'Too many records are waiting to be written. Keep the batch and send it again.', {
          headers: { 'retry-after': '2' },
        });
      const isSampled = waitingRows > sampleAbove;
      const parts = split(batch, options.database.kind === 'postgres' ? Infinity : rowsPerPart).map(
        ({ requests, events }): Part => {
          const taken = isSampled
            ? requests.filter((record, i) => i % sampleEvery === 0 || record.verdict !== 'pass')
            : requests;
          return {
            requests: taken.map((record) => ({
              ...record,
              uri: maskUri(record.uri, level),
              user_agent: maskText(record.user_agent, level),
            })),
            events: events.map((record) => ({
              ...record,
              uri: maskUri(record.uri, level),
              details: maskDetails(record.details, level),
            })),
            sampledOut: requests.length - taken.length,
          };
        },
      );
      const rows = parts.reduce((sum, { requests, events }) => sum + requests.length + events.length, 0);
      waitingRows += rows;
      return new Promise((resolve, reject) => {
        queue.push({
          batch: {
            node: batch.node,
            batch_id: batch.batch_id,
            ...(batch.dropped === undefined ? {} : { dropped: batch.dropped }),
          },
          parts,
          rows,
          resolve,
          reject,
        });
        void write();
      });
    },
    get waitingRows() {
      return waitingRows;
    },
  };
}

/** At least one, also of an empty batch: what nodes dropped comes with it. */
function split({ requests, events }: RecordBatch, rowsMax: number): Pick<RecordBatch, 'requests' | 'events'>[] {
  if (requests.length + events.length <= rowsMax) return [{ requests, events }];
  const parts: Pick<RecordBatch, 'requests' | 'events'>[] = [];
  for (let at = 0; at < events.length; at += rowsMax)
    parts.push({ events: events.slice(at, at + rowsMax), requests: [] });
  for (let at = 0; at < requests.length; at += rowsMax)
    parts.push({ events: [], requests: requests.slice(at, at + rowsMax) });
  return parts;
}

/**
 * All of them in one transaction; if that fails, one by one, so that a batch the database refuses harms no other, and a
 * record no other record.
 */
async function settle(
  options: IngestOptions,
  days: Set<number>,
  taken: readonly Waiting[],
  isCareful = options.database.kind === 'embedded',
): Promise<void> {
  try {
    await ensureDays(options, days, taken);
    const results = isCareful
      ? await Promise.all(taken.map((waiting) => storeAlone(options, waiting)))
      : await storeTogether(options, taken);
    taken.forEach((waiting, i) => waiting.resolve(results[i] as IngestResult));
  } catch (error) {
    if (taken.length === 1 && !isCareful && isRefusal(error)) return settle(options, days, taken, true);
    if (taken.length === 1) return taken[0]?.reject(error);
    for (const waiting of taken) await settle(options, days, [waiting]);
  }
}

/** No further from now than a wrong clock may be. */
function clampMs(nowMs: number, ms: number): number {
  return Math.min(nowMs + skewDaysMax * dayMs, Math.max(nowMs - skewDaysMax * dayMs, ms));
}

/** `days`: partitions that are known to be there, two numbers for each day. */
async function ensureDays(
  { database, now }: IngestOptions,
  days: Set<number>,
  taken: readonly Waiting[],
): Promise<void> {
  const nowMs = now();
  // asked for every record, so in numbers
  for (const { parts } of taken)
    for (const part of parts)
      for (const [kind, table, records] of [
        [0, 'request_records', part.requests],
        [1, 'security_events', part.events],
      ] as const) {
        for (const record of records) {
          const atMs = clampMs(nowMs, record.at_ms);
          const known = Math.floor(atMs / dayMs) * 2 + kind;
          if (days.has(known)) continue;
          await ensurePartition(database.sql, table, toDay(new Date(atMs)));
          days.add(known);
        }
      }
}

interface BatchRow {
  readonly node: string;
  readonly batch_id: string;
  /** null: all of them. */
  readonly parts: number | null;
  readonly sampled_out: number;
  readonly refused: number;
}

async function storeTogether({ database, now }: IngestOptions, taken: readonly Waiting[]): Promise<IngestResult[]> {
  const nowMs = now();
  const rows: Record<RecordTable, object[]> = { request_records: [], security_events: [] };
  const keyOf = (batch: { readonly node: string; readonly batch_id: string }): string =>
    `${batch.node}\n${batch.batch_id}`;
  return database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${lockKeys.ingest})`;
    const marks = taken.map(({ batch, parts }) => ({
      node: batch.node,
      batch_id: batch.batch_id,
      at: new Date(nowMs),
      sampled_out: sampledOutOf(parts),
    }));
    const fresh = await tx<
      { node: string; batch_id: string }[]
    >`insert into ingest_batches ${tx(marks)} on conflict do nothing returning node, batch_id`;
    const unseen = new Set(fresh.map(keyOf));
    const known = new Map<string, BatchRow>();
    if (fresh.length < taken.length)
      for (const row of await tx<
        BatchRow[]
      >`select * from ingest_batches where batch_id in ${tx(marks.map(({ batch_id }) => batch_id))}`)
        known.set(keyOf(row), row);
    const counted = { dropped: 0, sampled: 0, refused: 0 };
    const results = taken.map(({ batch, parts, rows: stored }): IngestResult => {
      // the same batch twice in one transaction: the first takes the mark
      if (!unseen.delete(keyOf(batch)))
        return {
          stored: 0,
          duplicate: true,
          sampled_out: known.get(keyOf(batch))?.sampled_out ?? 0,
          refused: known.get(keyOf(batch))?.refused ?? 0,
        };
      for (const part of parts) {
        rows.request_records.push(...part.requests.map((record) => toRow(record, batch.node, nowMs)));
        rows.security_events.push(...part.events.map((record) => toRow(record, batch.node, nowMs)));
      }
      const sampledOut = sampledOutOf(parts);
      counted.dropped += batch.dropped ?? 0;
      counted.sampled += sampledOut;
      return { stored, duplicate: false, sampled_out: sampledOut, refused: 0 };
    });
    if (rows.request_records.length > 0) await insertRequests(tx, rows.request_records);
    if (rows.security_events.length > 0) await insertEvents(tx, rows.security_events);
    if (counted.dropped + counted.sampled > 0) await insertCounters(tx, counted);
    return results;
  });
}

const sampledOutOf = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + part.sampledOut, 0);

/**
 * What the database takes of one batch. On the embedded one no one else writes, so its parts need no transaction around
 * them and no lock.
 */
function storeAlone(options: IngestOptions, waiting: Waiting): Promise<IngestResult> {
  const { database } = options;
  if (database.kind === 'embedded') return storeParts(options, database.sql, waiting, storePart);
  return database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${lockKeys.ingest})`;
    return storeParts(options, tx, waiting, storeSome);
  });
}

/**
 * Goes on where the batch was left; each part is stored with its mark or not at all. `store` returns how many records
 * were refused.
 */
async function storeParts<S extends Queryable>(
  { database, now }: IngestOptions,
  sql: S,
  { batch, parts }: Waiting,
  store: (sql: S, rows: PartRows) => Promise<number>,
): Promise<IngestResult> {
  const { node, batch_id } = batch;
  const [known] = await sql<BatchRow[]>`select * from ingest_batches where node = ${node} and batch_id = ${batch_id}`;
  const begun = known === undefined ? 0 : (known.parts ?? parts.length);
  const result = {
    stored: 0,
    duplicate: begun === parts.length,
    sampled_out: known?.sampled_out ?? 0,
    refused: known?.refused ?? 0,
  };
  let hasWaited = false;
  for (const [index, part] of parts.entries()) {
    if (index < begun) continue;
    if (!hasWaited) hasWaited = await database.untilQuiet(patienceMs);
    const isLast = index === parts.length - 1;
    const nowMs = now();
    const rows: PartRows = {
      requests: part.requests.map((record) => toRow(record, node, nowMs)),
      events: part.events.map((record) => toRow(record, node, nowMs)),
      mark: { node, batch_id, at: new Date(nowMs), parts: isLast ? null : index + 1 },
      dropped: isLast ? (batch.dropped ?? 0) : 0,
      sampled: part.sampledOut,
    };
    const refused = await store(sql, rows);
    result.stored += part.requests.length + part.events.length - refused;
    result.sampled_out += part.sampledOut;
    result.refused += refused;
  }
  return result;
}

interface PartRows {
  readonly requests: readonly object[];
  readonly events: readonly object[];
  readonly mark: { readonly node: string; readonly batch_id: string; readonly at: Date; readonly parts: number | null };
  readonly dropped: number;
  readonly sampled: number;
}

/**
 * One statement; only if the database refuses what it is given, a transaction that leaves out exactly those records.
 */
async function storePart(sql: Sql, rows: PartRows): Promise<number> {
  const { requests, events, mark, sampled } = rows;
  try {
    await sql`with requests as (${insertRequests(sql, requests)}), events as (${insertEvents(sql, events)}), counters as (${insertCounters(sql, { ...rows, refused: 0 })}) ${markBatch(sql, mark, sampled, 0)}`;
    return 0;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return sql.begin((tx) => storeSome(tx, rows));
}

async function storeSome(tx: Tx, rows: PartRows): Promise<number> {
  const refused =
    (await insertSome(tx, rows.requests, insertRequests)) + (await insertSome(tx, rows.events, insertEvents));
  await insertCounters(tx, { ...rows, refused });
  await markBatch(tx, rows.mark, rows.sampled, refused);
  return refused;
}

/** Halves until it is one that is refused. */
async function insertSome(
  tx: Tx,
  rows: readonly object[],
  insert: (sql: Queryable, rows: readonly object[]) => Statement,
): Promise<number> {
  try {
    await tx.savepoint((inner) => insert(inner, rows));
    return 0;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  if (rows.length === 1) return 1;
  const middle = rows.length >>> 1;
  return (await insertSome(tx, rows.slice(0, middle), insert)) + (await insertSome(tx, rows.slice(middle), insert));
}

/**
 * Of what it was given, not of the state it is in: data exceptions, violated constraints, limits of a value (SQLSTATE
 * classes 22, 23 and 54).
 */
const isRefusal = (error: unknown): boolean => /^(?:22|23|54)/.test((error as { readonly code?: string }).code ?? '');

const integerMax = 2 ** 31 - 1;

function toRow(record: RequestRecord | EventRecord, node: string, nowMs: number): object {
  return {
    ...record,
    node,
    at: new Date(clampMs(nowMs, record.at_ms)),
    inbound_score: Math.min(integerMax, record.inbound_score),
    ...('outbound_score' in record ? { outbound_score: Math.min(integerMax, record.outbound_score) } : {}),
  };
}

/**
 * NUL and lone surrogates cannot be stored as text; they come from attackers' bytes and are shown as replacement
 * characters.
 * In JSON both are written as escapes, so a text without such an escape has none, and is spared the function that is
 * called for every value (it costs more than the rest of the ingest).
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

// One JSON parameter per insert: cheaper for both sides than tens of thousands of bound values, and the same on both
// databases. Each is a statement or a part of one.
type Statement = postgres.PendingQuery<postgres.Row[]>;

function insertRequests(sql: Queryable, rows: readonly object[]): Statement {
  return sql`
    insert into request_records (at, request_id, node, site, generation, client_ip, method, uri, status, verdict, inbound_score, outbound_score, rule_ids, user_agent, request_bytes, response_bytes, latency_us, inspection_us)
    select * from json_to_recordset(${toJson(rows)}::text::json) as r (at timestamptz, request_id text, node text, site text, generation bigint, client_ip text, method text, uri text, status integer, verdict text,
      inbound_score integer, outbound_score integer, rule_ids jsonb, user_agent text, request_bytes bigint, response_bytes bigint, latency_us bigint, inspection_us bigint)`;
}

function insertEvents(sql: Queryable, rows: readonly object[]): Statement {
  return sql`
    insert into security_events (at, request_id, node, site, client_ip, kind, verdict, method, uri, status, rule_id, inbound_score, details)
    select * from json_to_recordset(${toJson(rows)}::text::json) as r (at timestamptz, request_id text, node text, site text, client_ip text, kind text, verdict text, method text, uri text, status integer, rule_id bigint, inbound_score integer, details jsonb)`;
}

/** None is written for nothing. */
function insertCounters(
  sql: Queryable,
  counted: { readonly dropped: number; readonly sampled: number; readonly refused: number },
): Statement {
  const rows = [
    { name: 'dropped_by_nodes', value: counted.dropped },
    { name: 'sampled_out', value: counted.sampled },
    { name: 'refused', value: counted.refused },
  ].filter(({ value }) => value > 0);
  return sql`insert into ingest_counters (name, value) select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (name text, value bigint)
    on conflict (name) do update set value = ingest_counters.value + excluded.value`;
}

function markBatch(
  sql: Queryable,
  { node, batch_id, at, parts }: PartRows['mark'],
  sampled: number,
  refused: number,
): Statement {
  return sql`insert into ingest_batches (node, batch_id, at, parts, sampled_out, refused) values (${node}, ${batch_id}, ${at}, ${parts}, ${sampled}, ${refused})
    on conflict (node, batch_id) do update set parts = excluded.parts, sampled_out = ingest_batches.sampled_out + excluded.sampled_out, refused = ingest_batches.refused + excluded.refused`;
}
