// What became of each batch: how far it has come and what is not stored, so that a batch sent again gets the answer it
// would have got; and the counters of what was left out of all of them.
import type { Queryable } from '../db/client.js';
import type { Statement } from './rows.js';

export interface BatchRow {
  readonly node: string;
  readonly batch_id: string;
  /** null: all of them. */
  readonly parts: number | null;
  readonly sampled_out: number;
  readonly refused: number;
}

/** A batch that has come this far; `parts` null: to its end. */
export interface BatchMark {
  readonly node: string;
  readonly batch_id: string;
  readonly at: Date;
  readonly parts: number | null;
}

export async function findBatch(sql: Queryable, node: string, batchId: string): Promise<BatchRow | undefined> {
  const [row] = await sql<BatchRow[]>`select * from ingest_batches where node = ${node} and batch_id = ${batchId}`;
  return row;
}

export function markBatch(
  sql: Queryable,
  { node, batch_id, at, parts }: BatchMark,
  sampled: number,
  refused: number,
): Statement {
  return sql`
    insert into ingest_batches (node, batch_id, at, parts, sampled_out, refused)
    values (${node}, ${batch_id}, ${at}, ${parts}, ${sampled}, ${refused})
    on conflict (node, batch_id) do update
    set parts = excluded.parts, sampled_out = ingest_batches.sampled_out + excluded.sampled_out,
      refused = ingest_batches.refused + excluded.refused`;
}

export async function pruneBatches(sql: Queryable, before: Date): Promise<number> {
  return (await sql`delete from ingest_batches where at < ${before}`).count;
}

/** Records that are not there, by why. The names are those of stored rows. */
export const ingestCounters = {
  dropped: 'dropped_by_nodes',
  sampled: 'sampled_out',
  refused: 'refused',
} as const;
export type Counted = Readonly<Record<keyof typeof ingestCounters, number>>;

/** None is written for nothing. */
export function insertCounters(sql: Queryable, counted: Counted): Statement {
  const kinds = Object.keys(ingestCounters) as (keyof Counted)[];
  const rows = kinds
    .map((kind) => ({ name: ingestCounters[kind], value: counted[kind] }))
    .filter(({ value }) => value > 0);
  return sql`
    insert into ingest_counters (name, value)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (name text, value bigint)
    on conflict (name) do update set value = ingest_counters.value + excluded.value`;
}

export async function readCounters(sql: Queryable): Promise<Counted> {
  const rows = await sql<{ name: string; value: number }[]>`select name, value from ingest_counters`;
  const valueOf = (kind: keyof Counted): number => rows.find(({ name }) => name === ingestCounters[kind])?.value ?? 0;
  return { dropped: valueOf('dropped'), sampled: valueOf('sampled'), refused: valueOf('refused') };
}
