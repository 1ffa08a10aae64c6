// What the room asks of its host's database. The client is the host's (one pool, one embedded engine); the room has its
// own tables in it, made by its own migrations.
import type postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;
export type Tx = postgres.TransactionSql<{ bigint: number }>;
/** What a store function takes: the pool or a running transaction. */
export type Queryable = Sql | Tx;
/** A piece of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Half a pair, as cutting a text leaves it, is no JSON to PostgreSQL; JSON.stringify escapes nothing else that way. */
function wholePairs(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (text === undefined || !/\\ud[89a-f]/.test(text)) return value;
  return JSON.parse(text, (_name, one: unknown) => (typeof one === 'string' ? one.replace(halves, '\ufffd') : one));
}

/** A value for a jsonb column. */
export const json = (sql: Queryable, value: unknown) => sql.json(wholePairs(value) as postgres.JSONValue);

/** `a and b and …`; true for none. */
export function allOf(sql: Queryable, parts: readonly Fragment[]): Fragment {
  return parts.length === 0 ? sql`true` : parts.reduce((left, right) => sql`${left} and ${right}`);
}

/** `(a or b or …)`; false for none. */
export function anyOf(sql: Queryable, parts: readonly Fragment[]): Fragment {
  return parts.length === 0 ? sql`false` : sql`(${parts.reduce((left, right) => sql`${left} or ${right}`)})`;
}

/** Of a unique index that is violated; null for every other failure. */
export function violatedUnique(error: unknown): string | null {
  const { code, constraint_name: name } = error as { code?: string; constraint_name?: string };
  return code === '23505' ? (name ?? '') : null;
}

/** Of a foreign key that still points here. */
export const isStillReferenced = (error: unknown): boolean => (error as { code?: string }).code === '23503';
