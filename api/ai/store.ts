// Verdicts as they are stored: with everything that they were made of, so that each can be made again.
import { listOf } from '../http-kit/index.js';
import type { Queryable, Tx } from '../db/client.js';
import { rank, type Rung } from './engine/fusion.js';
import { scorers, type Scored, type ScorerVersion } from './engine/score.js';
import type { FeatureVector, Weights } from './engine/vector.js';

/** A client has one row in so long, as long as its verdict does not become a stronger one. */
export const dedupMs = 5 * 60_000;

export interface VerdictRow {
  readonly id: number;
  readonly at: Date;
  readonly last_at: Date;
  readonly rounds: number;
  /** A network, or the key of a principal. */
  readonly address: string;
  readonly verdict: Rung;
  readonly risk: number;
  readonly confidence: number;
  readonly version: string;
  readonly threshold: number;
  readonly weights: string;
  readonly vector: string;
  readonly result: string;
  readonly action: 'monitor' | 'block';
  /** What was put in force; null: nothing. */
  readonly enforced: Enforced | null;
  readonly enforced_until: Date | null;
  /** Why nothing was put in force although `ai_action` is block; null: nothing stood against it. */
  readonly held_back: HeldBack | null;
  readonly marked: Mark | null;
  readonly marked_by: string | null;
}

export const enforcements = ['deny', 'challenge', 'throttle'] as const;
export type Enforced = (typeof enforcements)[number];
export const heldBackReasons = ['ban-safe', 'trusted-proxy', 'lifted', 'marked', 'operator', 'shared', 'full'] as const;
export type HeldBack = (typeof heldBackReasons)[number];
export const marks = ['attack', 'false_positive'] as const;
export type Mark = (typeof marks)[number];

/** What is to be done about a client; nulls: nothing. */
export interface Measure {
  readonly enforced: Enforced | null;
  readonly until: Date | null;
  readonly heldBack: HeldBack | null;
}

export interface NewVerdict {
  readonly vector: FeatureVector;
  readonly scored: Scored;
  readonly weights: Weights;
  readonly threshold: number;
  readonly version: ScorerVersion;
  readonly action: 'monitor' | 'block';
  readonly measure: Measure;
}

/** For statements: a list in one parameter, for both databases. */
export const asJson = (values: readonly unknown[]): string => JSON.stringify(values);

/** The newest row of each of these clients that is not older than `dedupMs`. */
async function recentOf(tx: Tx, addresses: readonly string[], now: Date): Promise<Map<string, VerdictRow>> {
  const rows = await tx<VerdictRow[]>`
    select distinct on (address) * from ai_verdicts
    where address in (select value from json_array_elements_text(${asJson(addresses)}::text::json))
      and at > ${new Date(now.getTime() - dedupMs)}
    order by address, id desc`;
  return new Map(rows.map((row) => [row.address, row]));
}

/** Rows of one statement; each has some kilobytes. */
const savedAtOnce = 200;

/** Stores verdicts, each client once in five minutes unless its verdict became a stronger one. Returns new rows. */
export async function saveVerdicts(tx: Tx, verdicts: readonly NewVerdict[], now: Date): Promise<number> {
  const recent = await recentOf(
    tx,
    verdicts.map(({ vector }) => vector.address),
    now,
  );
  const fresh: NewVerdict[] = [];
  const seen: SeenAgain[] = [];
  for (const one of verdicts) {
    const before = recent.get(one.vector.address);
    if (before === undefined || rank(before.verdict) < rank(one.scored.verdict)) fresh.push(one);
    else seen.push({ before, action: one.action, ...one.measure });
  }
  for (let at = 0; at < fresh.length; at += savedAtOnce) await insertRows(tx, fresh.slice(at, at + savedAtOnce), now);
  await noteSeen(tx, seen, now);
  return fresh.length;
}

async function insertRows(tx: Tx, verdicts: readonly NewVerdict[], now: Date): Promise<void> {
  const rows = verdicts.map(({ vector, scored, weights, threshold, version, action, measure }) => ({
    ...{ address: vector.address, verdict: scored.verdict, risk: scored.risk, confidence: scored.confidence },
    ...{ version, threshold, action },
    // as text, so that they come back as they went in
    ...{ weights: JSON.stringify(weights), vector: JSON.stringify(vector), result: JSON.stringify(scored) },
    ...{ enforced: measure.enforced, enforced_until: measure.until, held_back: measure.heldBack },
  }));
  await tx`
    insert into ai_verdicts (at, last_at, rounds, address, verdict, risk, confidence, version, threshold, weights,
      vector, result, action, enforced, enforced_until, held_back)
    select ${now}::timestamptz, ${now}::timestamptz, 1, n.address, n.verdict, n.risk, n.confidence, n.version,
      n.threshold, n.weights, n.vector, n.result, n.action, n.enforced, n.enforced_until, n.held_back
    from rows from (json_to_recordset(${asJson(rows)}::text::json) as (address text, verdict text, risk integer,
      confidence integer, version text, threshold integer, weights text, vector text, result text, action text,
      enforced text, enforced_until timestamptz, held_back text)) with ordinality
      as n(address, verdict, risk, confidence, version, threshold, weights, vector, result, action, enforced,
        enforced_until, held_back, place)
    order by n.place`;
}

interface SeenAgain extends Measure {
  readonly before: VerdictRow;
  readonly action: NewVerdict['action'];
}

/** What holds of clients whose rows were made before: `ai_action` may have been switched while they go on. */
async function noteSeen(tx: Tx, seen: readonly SeenAgain[], now: Date): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ before, action, enforced, until, heldBack }) => ({
    ...{ id: before.id, action, enforced, until, held_back: heldBack },
  }));
  // what was put in force before stays with its row; a measure that is new takes its place
  await tx`
    update ai_verdicts v set last_at = ${now}, rounds = v.rounds + 1, action = n.action, held_back = n.held_back,
      enforced = coalesce(n.enforced, v.enforced),
      enforced_until = case when n.enforced is null then v.enforced_until else n.until end
    from json_to_recordset(${asJson(rows)}::text::json)
      as n(id bigint, action text, enforced text, until timestamptz, held_back text)
    where v.id = n.id`;
}

export interface HistoryQuery {
  /** Time and id of the last row of the page before. */
  readonly before: readonly [at: Date, id: number] | null;
  readonly address: string | undefined;
  readonly verdict: Rung | readonly Rung[] | undefined;
}

/** The newest first. */
export async function listVerdicts(sql: Queryable, query: HistoryQuery, limit: number): Promise<VerdictRow[]> {
  const { before, address, verdict } = query;
  return sql<VerdictRow[]>`
    select * from ai_verdicts where true
    ${before === null ? sql`` : sql`and (at, id) < (${before[0]}, ${before[1]})`}
    ${address === undefined ? sql`` : sql`and address = ${address}`}
    ${verdict === undefined ? sql`` : sql`and verdict in ${sql([...listOf(verdict)])}`}
    order by at desc, id desc limit ${limit}`;
}

export async function findVerdict(sql: Queryable, id: number): Promise<VerdictRow | null> {
  const [row] = await sql<VerdictRow[]>`select * from ai_verdicts where id = ${id}`;
  return row ?? null;
}

/** Stored verdicts of a time, in order of their ids, from behind one on. */
export async function verdictsFrom(sql: Queryable, since: Date, after: number, limit: number): Promise<VerdictRow[]> {
  return sql<VerdictRow[]>`
    select * from ai_verdicts where at >= ${since} and id > ${after} order by id limit ${limit}`;
}

export async function pruneVerdicts(sql: Queryable, before: Date): Promise<void> {
  await sql`delete from ai_verdicts where at < ${before}`;
}

/** The stored vector through the scorer that made the verdict; null: this program does not have that version. */
export function replay(row: Pick<VerdictRow, 'version' | 'vector' | 'weights' | 'threshold'>): string | null {
  const scorer = Object.hasOwn(scorers, row.version) ? scorers[row.version as ScorerVersion] : null;
  if (scorer === null) return null;
  const vector = JSON.parse(row.vector) as FeatureVector;
  return JSON.stringify(scorer(vector, JSON.parse(row.weights) as Weights, row.threshold));
}

export interface VerdictSummary {
  readonly id: number;
  readonly address: string;
  readonly verdict: Rung;
  readonly risk: number;
  readonly confidence: number;
  readonly at: Date;
  readonly enforced: Enforced | null;
  /** Codes, strongest first. */
  readonly signals: readonly string[];
}

/**
 * Verdicts on these clients since a time, and on principals that were seen at them, the oldest first: for whoever wants
 * to know what became of them, such as a simulation. `addresses`: canonical networks as verdicts have them (an IPv4
 * address, a /64).
 */
export async function verdictsOf(sql: Queryable, addresses: readonly string[], since: Date): Promise<VerdictSummary[]> {
  const rows = await sql<VerdictRow[]>`
    with wanted as (select value from json_array_elements_text(${asJson(addresses)}::text::json))
    select ai_verdicts.*, coalesce(seen.at_address, address) as address from ai_verdicts
    left join lateral (
      select min(value) as at_address
      from json_array_elements_text(coalesce(vector::json -> 'principal' -> 'networks', '[]'::json))
      where value in (select value from wanted)
    ) seen on true
    where (address in (select value from wanted) or seen.at_address is not null) and last_at >= ${since}
    order by id`;
  return rows.map(({ id, address, verdict, risk, confidence, at, enforced, result }) => ({
    ...{ id, address, verdict, risk, confidence, at, enforced },
    signals: (JSON.parse(result) as Scored).signals.map(({ code }) => code),
  }));
}
