// Pages of lists. Callers say limit and offset, or follow next_cursor; inside, both end in a search by the sort column
// and the id, so that pages are disjoint and together are everything, whatever arrives meanwhile (by cursor).
import { decodeCursor, encodeCursor, Nullable } from '#http-kit';
import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import type { Fragment, Queryable } from '../database.js';
import { unfit, type Call, type Endpoint } from './endpoint.js';

export const limitMax = 500;
/** Beyond it the server would read what nobody looks at; a cursor goes on. */
const offsetMax = 10_000_000;
/** Counting stops here; what is more is estimated by the database's planner. */
const countMax = 10_000;

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
    total_is_estimate: Type.Boolean({ description: `counted up to ${countMax}, estimated beyond` }),
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
}

/** Numbers are whole: compared as numeric, a column of integers would not be searched by its index. */
const sqlTypes = { number: 'bigint', text: 'text', time: 'timestamptz' } as const;

/** One page of `table`. Three statements at most: the ids in order, their rows, the count. */
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
  const column = sql(sorted.column);
  const type = sqlTypes[sorted.type];
  const { ifNull } = sorted;
  // as a constant of the statement, so that an index on the same expression is found
  const value = ifNull === undefined ? sql`${column}` : sql`coalesce(${column}, ${sql.unsafe(`'${ifNull}'::${type}`)})`;
  const after = cursor === undefined ? sql`true` : behind(sql, value, type, isDown, readCursor(cursor, name, sorted));
  const order = isDown ? sql`${value} desc, id desc` : sql`${value} asc, id asc`;
  // only the columns of the index are read while rows are passed over
  const rows = await sql<(Row & { sort_value: string })[]>`
    select *, (${value})::text as sort_value from ${sql(source.table)}
    where id in (select id from ${sql(source.table)} where ${source.where} and ${after}
      order by ${order} limit ${limit + 1} offset ${offset})
    order by ${order}`;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const { total, isEstimate } = await countRows(sql, source);
  return {
    items: shown,
    total,
    total_is_estimate: isEstimate,
    limit,
    offset,
    next_cursor:
      rows.length > limit && last !== undefined ? encodeCursor([name, last.sort_value, Number(last.id)]) : null,
  };
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

async function countRows(
  sql: Queryable,
  { table, where }: PageSource,
): Promise<{ readonly total: number; readonly isEstimate: boolean }> {
  const [row] = await sql<{ n: number }[]>`
    select count(*) as n from (select 1 from ${sql(table)} where ${where} limit ${countMax + 1}) counted`;
  const counted = row?.n ?? 0;
  if (counted <= countMax) return { total: counted, isEstimate: false };
  const plan = await sql<{ 'QUERY PLAN': unknown }[]>`explain (format json) select 1 from ${sql(table)} where ${where}`;
  const said = plan[0]?.['QUERY PLAN'];
  const parsed = (typeof said === 'string' ? JSON.parse(said) : said) as { Plan?: { 'Plan Rows'?: number } }[];
  return { total: Math.max(counted, Math.round(parsed[0]?.Plan?.['Plan Rows'] ?? 0)), isEstimate: true };
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
