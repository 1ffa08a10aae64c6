// Batches on their way into the database. PostgreSQL writes many in one transaction. The embedded database has one
// connection, where everybody waits for whoever is at work. There a batch goes in as small parts, one statement each,
// and lets an apply go first. Records that the database refuses must not hold up the ones behind them.
import type { Database, Queryable, Sql, Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { findBatch, insertCounters, markBatch, type BatchMark, type BatchRow, type Counted } from './batches.js';
import { ensurePartition, toDay, type RecordTable } from './partitions.js';
import type { EventRecord, RecordBatch, RequestRecord } from './record.js';
import { clampMs, insertEvents, insertRequests, toRow, type Statement } from './rows.js';

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

export interface WriteOptions {
  readonly database: Database;
  readonly now: () => number;
}

/**
 * Records of a batch, by their places in it as it was sent, so that it falls apart the same way however often it comes.
 */
export interface Part {
  readonly requests: readonly RequestRecord[];
  readonly events: readonly EventRecord[];
  readonly sampledOut: number;
}

export interface WaitingBatch {
  readonly batch: Pick<RecordBatch, 'node' | 'batch_id' | 'dropped'>;
  /** One for PostgreSQL. */
  readonly parts: readonly Part[];
  readonly rows: number;
  readonly resolve: (result: IngestResult) => void;
  readonly reject: (error: unknown) => void;
}

/** How long a batch lets an apply go first: longer than one takes, much shorter than a node waits for its answer. */
const patienceMs = 2000;
const dayMs = 86_400_000;

/**
 * All of them in one transaction; if that fails, one by one, so that a batch the database refuses harms no other, and a
 * record no other record.
 */
export async function writeBatches(
  options: WriteOptions,
  days: Set<number>,
  taken: readonly WaitingBatch[],
  isCareful = options.database.kind === 'embedded',
  isSecondTry = false,
): Promise<void> {
  try {
    await ensureDays(options, days, taken);
    const results = isCareful
      ? await Promise.all(taken.map((waiting) => storeAlone(options, waiting)))
      : await storeTogether(options, taken);
    taken.forEach((waiting, i) => waiting.resolve(results[i] as IngestResult));
  } catch (error) {
    if (hasNoPartition(error) && !isSecondTry) {
      // pruned meanwhile, perhaps by another server or another clock: what is believed to be there is looked at anew
      days.clear();
      return writeBatches(options, days, taken, isCareful, true);
    }
    if (taken.length === 1 && !isCareful && isRefusal(error)) return writeBatches(options, days, taken, true);
    if (taken.length === 1) return taken[0]?.reject(error);
    for (const waiting of taken) await writeBatches(options, days, [waiting]);
  }
}

/** `days`: partitions that are known to be there, two numbers for each day. */
async function ensureDays(
  { database, now }: WriteOptions,
  days: Set<number>,
  taken: readonly WaitingBatch[],
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

async function storeTogether({ database, now }: WriteOptions, taken: readonly WaitingBatch[]): Promise<IngestResult[]> {
  const nowMs = now();
  const rows: Record<RecordTable, object[]> = { request_records: [], security_events: [] };
  const keyOf = (batch: { readonly node: string; readonly batch_id: string }): string =>
    `${batch.node}\n${batch.batch_id}`;
  return database.sql.begin(async (tx) => {
    await lockUntilCommit(tx, 'ingest');
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
    if (fresh.length < taken.length) {
      const ids = marks.map(({ batch_id }) => batch_id);
      for (const row of await tx<BatchRow[]>`select * from ingest_batches where batch_id in ${tx(ids)}`)
        known.set(keyOf(row), row);
    }
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
function storeAlone(options: WriteOptions, waiting: WaitingBatch): Promise<IngestResult> {
  const { database } = options;
  if (database.kind === 'embedded') return storeParts(options, database.sql, waiting, storePart);
  return database.sql.begin(async (tx) => {
    await lockUntilCommit(tx, 'ingest');
    return storeParts(options, tx, waiting, storeSome);
  });
}

/**
 * Goes on where the batch was left; each part is stored with its mark or not at all. `store` returns how many records
 * were refused.
 */
async function storeParts<S extends Queryable>(
  { database, now }: WriteOptions,
  sql: S,
  { batch, parts }: WaitingBatch,
  store: (sql: S, rows: PartRows) => Promise<number>,
): Promise<IngestResult> {
  const { node, batch_id } = batch;
  const known = await findBatch(sql, node, batch_id);
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

interface PartRows extends Omit<Counted, 'refused'> {
  readonly requests: readonly object[];
  readonly events: readonly object[];
  readonly mark: BatchMark;
}

/**
 * One statement; only if the database refuses what it is given, a transaction that leaves out exactly those records.
 */
async function storePart(sql: Sql, rows: PartRows): Promise<number> {
  const { requests, events, mark, sampled } = rows;
  try {
    await sql`
      with requests as (${insertRequests(sql, requests)}), events as (${insertEvents(sql, events)}),
        counters as (${insertCounters(sql, { ...rows, refused: 0 })})
      ${markBatch(sql, mark, sampled, 0)}`;
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
const isRefusal = (error: unknown): boolean =>
  /^(?:22|23|54)/.test((error as { readonly code?: string }).code ?? '') && !hasNoPartition(error);

/** A record of a day that has no table. PostgreSQL says so as a violated check (23514) of the place it is found in. */
function hasNoPartition(error: unknown): boolean {
  const { code, routine } = error as { readonly code?: string; readonly routine?: string };
  return code === '23514' && routine === 'ExecFindPartition';
}
