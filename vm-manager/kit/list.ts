// Pages of lists. Callers say limit and offset, or follow next_cursor; inside, both end in a search by the sort column
// and the id, so that pages are disjoint and together are everything, whatever arrives meanwhile (by cursor).
import { decodeCursor, encodeCursor, Nullable } from '#http-kit';
import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import type { Fragment, Queryable } from '../database.js';
import { unfit, type Call, type Endpoint } from './endpoint.js';

export const limitMax = 500;
/** Beyond it the server would read what nobody looks at; a cursor goes on. */
const offsetMax = 10_000_000;
/** Counting stops here; what is more is estimated. */
const countMax = 100_000;
/** Of what fits, so many are read at once to be sorted. */
const fewMax = 10_000;
/** Percent of a table that an estimate reads: beyond countMax rows it is 3 % off where rows lie together. */
const sampledPercent = 20;

/** Query parameters of every list. */
export const ListQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: offsetMax, default: 0 })),
  cursor: Type.Optional(Type.String({ maxLength: 300, description: '`next_cursor` of the page before' })),
};

export const List = <T extends TSchema>(item: T) =>
  Type.Object({
    items: Type.Array(item),
    total: Type.Integer(),
    total_is_estimate: Type.Boolean({
      description: `counted up to ${countMax}, beyond it an estimate that is at most 10 % off`,
    }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    next_cursor: Nullable(Type.String()),
  });

export interface ListAnswer<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly total_is_estimate: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly next_cursor: string | null;
}

/** A column that a list may be sorted by. It is never null, or `ifNull` says as what null is sorted. */
export interface SortColumn {
  readonly column: string;
  readonly type: 'number' | 'text' | 'time';
  readonly ifNull?: 'infinity' | '-infinity';
}

export interface PageWanted {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly sort?: string | undefined;
}

export const sortNames = (columns: Readonly<Record<string, SortColumn>>): string[] =>
  Object.keys(columns).flatMap((name) => [name, `-${name}`]);

/** `sort`: one of the names, with a minus for the largest first. */
export const SortQuery = (columns: Readonly<Record<string, SortColumn>>) =>
  Type.Optional(Type.Unsafe<string>({ type: 'string', enum: sortNames(columns) }));

interface PageSource {
  readonly table: string;
  readonly where: Fragment;
  readonly sorts: Readonly<Record<string, SortColumn>>;
  readonly sort: string;
  /** What fits is found by an index that has no order, of words or of lists: the page is made of what was found. */
  readonly isScattered?: boolean;
}

/** Numbers are whole: compared as numeric, a column of integers would not be searched by its index. */
const sqlTypes = { number: 'bigint', text: 'text', time: 'timestamptz' } as const;

/** Beyond so many rows passed over the database takes it for long work and compiles it; it reads an index only. */
const longOffset = 1000;

interface Order {
  readonly value: Fragment;
  readonly by: Fragment;
  readonly after: Fragment;
}

/** One page of `table`: the ids in order, then their rows. Throws ApiError 422 for a sort or cursor it has not. */
export async function readPage<Row extends { readonly id: number | string }>(
  sql: Queryable,
  source: PageSource,
  wanted: PageWanted,
): Promise<ListAnswer<Row>> {
  const { limit = 50, offset = 0, cursor } = wanted;
  const name = wanted.sort ?? source.sort;
  const isDown = name.startsWith('-');
  const sorted = source.sorts[name.replace(/^-/, '')];
  if (sorted === undefined) throw unfit('sort', `must be one of ${sortNames(source.sorts).join(', ')}`);
  if (cursor !== undefined && offset > 0) throw unfit('offset', 'does not go with cursor');
  const from = cursor === undefined ? null : readCursor(cursor, name, sorted);
  const type = sqlTypes[sorted.type];
  const { ifNull } = sorted;
  const column = sql(sorted.column);
  // as a constant of the statement, so that an index on the same expression is found
  const value = ifNull === undefined ? sql`${column}` : sql`coalesce(${column}, ${sql.unsafe(`'${ifNull}'::${type}`)})`;
  const orderOf = (of: Fragment): Order => ({
    value: of,
    by: isDown ? sql`${of} desc, id desc` : sql`${of} asc, id asc`,
    after: from === null ? sql`true` : behind(sql, of, type, isDown, from),
  });
  const order = orderOf(value);
  const page = sql`limit ${limit + 1} offset ${offset}`;
  const few = source.isScattered === true ? await readFew(sql, source, value, orderOf(sql`sort_value`), page) : null;
  const ids = few?.ids ?? (await readInOrder(sql, source, order, page, offset));
  const rows =
    ids.length === 0
      ? []
      : await sql<(Row & { sort_value: string })[]>`
          select *, (${value})::text as sort_value from ${sql(source.table)}
          where id in ${sql(ids)} order by ${order.by}`;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const counted = few !== null && few.ids !== null ? few.counted : await countRows(sql, source);
  const isEstimate = counted > countMax;
  return {
    items: shown,
    total: isEstimate ? await estimate(sql, source, counted) : counted,
    total_is_estimate: isEstimate,
    limit,
    offset,
    next_cursor:
      ids.length > limit && last !== undefined ? encodeCursor([name, last.sort_value, Number(last.id)]) : null,
  };
}

/**
 * What fits is read once, in whatever order is cheapest, until it is too much to be counted: where it is not, the page
 * is made of it. Otherwise `ids` is null. Asked for a page in order and for the count, the database would read what a
 * search by words has found twice, or search along the order for what few rows fit. Not for every filter: one that many
 * rows fit is counted by an index alone, and this reads the rows themselves.
 */
async function readFew(
  sql: Queryable,
  { table, where }: PageSource,
  value: Fragment,
  order: Order,
  page: Fragment,
): Promise<{ readonly counted: number; readonly ids: number[] | null }> {
  const rows = await sql<{ n: number; id: number | null }[]>`
    with fitting as materialized (
      select id, ${value} as sort_value from ${sql(table)} where ${where} limit ${fewMax + 1}),
    counted as (select count(*)::int as n from fitting)
    select n, one.id from counted left join lateral (
      select id from fitting where n <= ${fewMax} and ${order.after} order by ${order.by} ${page}) one on true`;
  const counted = rows[0]?.n ?? 0;
  return { counted, ids: counted > fewMax ? null : rows.flatMap(({ id }) => (id === null ? [] : [id])) };
}

/** Only the columns of an index are read while rows are passed over. */
async function readInOrder(
  sql: Queryable,
  { table, where }: PageSource,
  order: Order,
  page: Fragment,
  offset: number,
): Promise<number[]> {
  const read = async (on: Queryable): Promise<number[]> => {
    const rows = await on<{ id: number }[]>`
      select id from ${sql(table)} where ${where} and ${order.after} order by ${order.by} ${page}`;
    return rows.map(({ id }) => id);
  };
  if (offset < longOffset || !('begin' in sql)) return read(sql);
  const ids: readonly number[] = await sql.begin(async (tx) => {
    await tx`select set_config('jit', 'off', true)`;
    return read(tx);
  });
  return [...ids];
}

function behind(
  sql: Queryable,
  value: Fragment,
  type: string,
  isDown: boolean,
  [from, id]: readonly [string, number],
): Fragment {
  const place = sql`(${from}::text::${sql.unsafe(type)}, ${id}::bigint)`;
  return isDown ? sql`(${value}, id) < ${place}` : sql`(${value}, id) > ${place}`;
}

function readCursor(cursor: string, name: string, sorted: SortColumn): readonly [string, number] {
  const [sort, value, id] = decodeCursor(cursor, ['string', 'string', 'number'] as const);
  const fits =
    sort === name &&
    (sorted.type === 'text' ||
      (sorted.type === 'number' && /^-?\d{1,18}$/.test(value)) ||
      (sorted.type === 'time' && /^(\d{4}-[\d :.+-]{5,30}|-?infinity)$/.test(value)));
  if (!fits) throw unfit('cursor', 'is of another list or another sort', 'leave it out to begin again');
  return [value, id];
}

/** As far as it is counted: one more where there are more. */
async function countRows(sql: Queryable, { table, where }: PageSource): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from (select 1 from ${sql(table)} where ${where} limit ${countMax + 1}) counted`;
  return row?.n ?? 0;
}

/**
 * Counted on a sample of the table's pages, the same ones for each question: what the planner assumes of filters that
 * depend on each other is off by any factor. Never below what was counted.
 */
async function estimate(sql: Queryable, { table, where }: PageSource, counted: number): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from ${sql(table)} tablesample system (${sampledPercent}) repeatable (1) where ${where}`;
  return Math.max(counted, Math.round(((row?.n ?? 0) * 100) / sampledPercent));
}

const whole = { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax })), offset: ListQuery.offset };

/**
 * A list that is short enough to be read whole takes `limit` and `offset` like every other one: without them it is
 * answered whole. Rows that page by themselves, and those that answer no list, stay as they are.
 */
export function withPages(row: Endpoint): Endpoint {
  const answer = row.answer?.['properties'] as Readonly<Record<string, TSchema>> | undefined;
  const taken = row.query?.properties ?? {};
  if (row.method !== 'GET' || answer?.['items']?.['type'] !== 'array' || taken['offset'] !== undefined) return row;
  const query: TObject = Type.Object({ ...whole, ...taken }, { additionalProperties: false });
  return {
    ...row,
    query,
    handle: async (call: Call) => {
      const { limit, offset = 0, ...rest } = call.query as { limit?: number; offset?: number };
      const inner = Object.create(call, { query: { value: rest } }) as Call;
      const made = (await row.handle(inner)) as { readonly items: readonly unknown[] };
      return { ...made, items: made.items.slice(offset, limit === undefined ? undefined : offset + limit) };
    },
  };
}
