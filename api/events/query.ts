// Pages of stored requests and events.
import { Type, type Static } from '@sinclair/typebox';
import type { Queryable } from '../db/client.js';
import {
  checkAddress,
  closed,
  decodeTimeCursor,
  Moment,
  Nullable,
  PageQuery,
  parseRange,
  Time,
  toPage,
  listOf,
  SomeOf,
} from '../http-kit/index.js';
import { eventVerdicts, requestVerdicts } from './kinds.js';
import { categoryColumn } from './facets/filters.js';
import { categoryNames } from './summary/categories.js';

/**
 * The newest record that a count has seen, by its id. Records come late (a node sends them twice a second, and after a
 * break all at once), so a window of time alone holds more when its list is opened than when it was counted.
 */
export const AsOf = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'records stored up to this one: `as_of` of GET /api/traffic, so that a list is what was counted',
});

/** Filters of a list of records; `verdicts` are the words that it knows. */
const filtersOf = (verdicts: readonly string[]) => ({
  ...PageQuery,
  from: Type.Optional(Moment('UTC')),
  to: Type.Optional(Moment('UTC, exclusive')),
  site: Type.Optional(Type.String({ maxLength: 200 })),
  client_ip: Type.Optional(Type.String({ maxLength: 64 })),
  verdict: Type.Optional(SomeOf(verdicts)),
  method: Type.Optional(
    Type.String({ maxLength: 64, pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", 'x-fix': 'write a method such as GET' }),
  ),
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 999 })),
  rule_id: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  request_id: Type.Optional(Type.String({ maxLength: 128 })),
  ja3: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{32}$',
      description: 'fingerprint of the TLS handshake; requests without TLS have none',
      'x-fix': 'write 32 hexadecimal digits, in small letters',
    }),
  ),
  ja4: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]{10}_[0-9a-f]{12}_[0-9a-f]{12}$',
      description: 'the same by JA4, which does not change with the order of extensions',
      'x-fix': 'write all three parts, such as t13d1516h2_8daaf6152771_e5627efa2ab1',
    }),
  ),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'part of the URI' })),
});
export const RecordQuery = Type.Object(
  {
    ...filtersOf(requestVerdicts),
    path: Type.Optional(Type.String({ maxLength: 8192, description: 'the URI without its query, whole' })),
    as_of: Type.Optional(AsOf),
  },
  closed,
);
/** What the workbench filters events by beside what requests have as well. */
export const eventFilters = {
  ...filtersOf(eventVerdicts),
  category: Type.Optional(SomeOf(categoryNames, 'attack category')),
  path: Type.Optional(Type.String({ maxLength: 300, description: 'path with its variable parts as {number}, {uuid}' })),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', 'x-fix': 'write two capital letters, such as DE' })),
  asn: Type.Optional(Type.Integer({ minimum: 0, maximum: 4_294_967_295, description: 'autonomous system number' })),
};
export const EventQuery = Type.Object(eventFilters, closed);
export type EventQuery = Static<typeof EventQuery>;
export type RecordQuery = Static<typeof RecordQuery>;

export const RequestView = Type.Object({
  id: Type.Integer(),
  at: Time,
  request_id: Type.String(),
  node: Type.String(),
  site: Type.String(),
  generation: Type.Integer(),
  client_ip: Type.String(),
  method: Type.String(),
  uri: Type.String(),
  status: Type.Integer(),
  verdict: Type.String(),
  inbound_score: Type.Integer(),
  outbound_score: Type.Integer(),
  rule_ids: Type.Array(Type.Integer()),
  user_agent: Type.String(),
  request_bytes: Type.Integer(),
  response_bytes: Type.Integer(),
  latency_us: Type.Integer(),
  inspection_us: Type.Integer(),
  ja3: Nullable(Type.String({ description: 'of the TLS handshake; null: the request came without TLS' })),
  ja4: Nullable(Type.String()),
});
type Stored<T> = Omit<T, 'at'> & { readonly at: Date };
export const viewRecord = <T extends { at: string }>(row: Stored<T>): T =>
  ({ ...row, at: row.at.toISOString() }) as unknown as T;

/**
 * A page, newest first. The cursor names the last row (time and id), so that arriving rows neither shift nor repeat
 * anything.
 */
export async function pageRecords<T extends { at: string; id: number }>(
  sql: Queryable,
  table: 'request_records' | 'security_events',
  wanted: RecordQuery & Partial<Pick<EventQuery, 'category' | 'country' | 'asn'>>,
): Promise<{ items: T[]; next_cursor: string | null }> {
  const limit = wanted.limit ?? 50;
  const { from, to } = parseRange(wanted);
  checkAddress(wanted.client_ip, '/client_ip');
  const before = wanted.cursor === undefined ? null : decodeTimeCursor(wanted.cursor, 'number');
  const columns = [
    'site',
    'client_ip',
    'verdict',
    'method',
    'status',
    'request_id',
    'category',
    'country',
    'asn',
  ] as const;
  const equals = columns.map((name) => {
    const value = wanted[name];
    if (value === undefined) return sql``;
    const values = [...listOf(value)] as string[];
    const column = name === 'category' ? categoryColumn(sql, values) : sql`${sql(name)}`;
    return sql`and ${column} in ${sql(values)}`;
  });
  const rule =
    wanted.rule_id === undefined
      ? sql``
      : table === 'security_events'
        ? sql`and rule_id = ${wanted.rule_id}`
        : sql`and rule_ids @> ${sql.json([wanted.rule_id])}::jsonb`;
  const fingerprints = (['ja3', 'ja4'] as const).map((name) =>
    wanted[name] === undefined
      ? sql``
      : table === 'security_events'
        ? sql`and details -> 'tls' ->> ${name} = ${wanted[name]}`
        : sql`and ${sql(name)} = ${wanted[name]}`,
  );
  const between = [
    before === null
      ? sql``
      : sql`and at <= ${new Date(before[0])} and (at, id) < (${new Date(before[0])}, ${before[1]})`,
    from === undefined ? sql`` : sql`and at >= ${from}`,
    to === undefined ? sql`` : sql`and at < ${to}`,
  ];
  const asOf = wanted.as_of === undefined ? sql`` : sql`and id <= ${wanted.as_of}`;
  const path =
    wanted.path === undefined
      ? sql``
      : table === 'security_events'
        ? sql`and path_template = ${wanted.path}`
        : sql`and split_part(uri, '?', 1) = ${wanted.path}`;
  const words = wanted.q === undefined ? sql`` : sql`and strpos(lower(uri), lower(${wanted.q})) > 0`;
  const rows = await sql<(Stored<T> & { id: number })[]>`
    select * from ${sql(table)}
    where true ${between} ${equals} ${fingerprints} ${rule} ${words} ${path} ${asOf}
    order by at desc, id desc limit ${limit + 1}`;
  return toPage(
    rows as unknown as (Stored<T> & { id: number })[],
    limit,
    (row) => [row.at.getTime(), row.id],
    (row) => viewRecord<T>(row as unknown as Stored<T>),
  );
}
