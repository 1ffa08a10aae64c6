// What is new in a dataset since a cursor, in the order in which it changed. A row is given out once all transactions
// that could still bring an earlier one have ended, so that following cursors misses nothing.
import { decodeCursor, encodeCursor } from '#http-kit';
import type { Sql } from '../database.js';
import { reachable, type Reach } from '../kit/caller.js';
import { unfit } from '../kit/endpoint.js';
import type { Dataset } from './datasets.js';

export type BiRow = Readonly<Record<string, unknown>>;

export interface BiPage {
  readonly rows: readonly BiRow[];
  /** Where to go on; the same one as given where nothing is new. null: there was never anything. */
  readonly next: string | null;
  readonly hasMore: boolean;
}

interface From {
  /** Microseconds, as the database writes them. */
  readonly at: string;
  readonly id: string;
}

/** Clocks of servers and of the database differ by less. */
const settleMs = 60_000;
/** One that stands open for longer is not waited for. */
const waitedMsMax = 3_600_000;
const dayMs = 86_400_000;

/** Up to which moment rows cannot become more. */
async function settledUntil(sql: Sql, { isByDay }: Dataset, now: Date): Promise<Date> {
  // on the embedded database there is one connection, and this statement has it
  const [open] = await sql<{ since: Date | null }[]>`
    select min(xact_start) as since from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  const oldestMs = Math.max(now.getTime() - waitedMsMax, open?.since?.getTime() ?? Infinity);
  const settled = Math.min(now.getTime(), oldestMs) - settleMs;
  return new Date(isByDay ? Math.floor(settled / dayMs) * dayMs - 1 : settled);
}

function readFrom(cursor: string, { id, version }: Dataset): From {
  const [ofDataset, ofVersion, at, row] = decodeCursor(cursor, ['string', 'number', 'string', 'number'] as const);
  const fits = ofDataset === id && ofVersion === version && row >= 0;
  if (!fits || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/.test(at) || Number.isNaN(Date.parse(at)))
    throw unfit('cursor', `is none of the dataset ${id}, version ${version}`, 'take x-next-cursor of an answer');
  return { at, id: String(row) };
}

export async function readPage(
  sql: Sql,
  dataset: Dataset,
  reach: Reach,
  wanted: { readonly cursor: string | undefined; readonly limit: number },
  now: Date,
): Promise<BiPage> {
  const { cursor, limit } = wanted;
  const from = cursor === undefined ? null : readFrom(cursor, dataset);
  const until = await settledUntil(sql, dataset, now);
  const after = from === null ? sql`true` : sql`(changed_at, id) > (${from.at}::timestamptz, ${from.id}::bigint)`;
  const rows = await sql<(BiRow & { cursor_at: string })[]>`
    select *, to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as cursor_at
    from ${sql(dataset.view)}
    where ${reachable(sql, reach, sql`application_id`, sql`project_id`)} and changed_at <= ${until} and ${after}
    order by changed_at, id limit ${limit + 1}`;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    rows: shown,
    next:
      last === undefined
        ? (cursor ?? null)
        : encodeCursor([dataset.id, dataset.version, last.cursor_at, Number(last['id'])]),
    hasMore: rows.length > limit,
  };
}
