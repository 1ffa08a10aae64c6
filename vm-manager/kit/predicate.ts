// Predicates that people write: a JSON tree over a declared list of fields. It is compiled to SQL for sets and
// interpreted for single rows; a property test holds both equal.
import { escapeLike, escapePointer } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { allOf, anyOf, json, type Fragment, type Queryable } from '../database.js';
import { toMoment, unfit } from './endpoint.js';
import { textOf } from './values/text.js';

export type Scalar = string | number | boolean | null;
export type Predicate =
  | { readonly and: readonly Predicate[] }
  | { readonly or: readonly Predicate[] }
  | { readonly not: Predicate }
  | { readonly field: string; readonly op: Operator; readonly value?: Scalar | readonly Scalar[] };

export const operators = ['eq', 'ne', 'in', 'gte', 'lte', 'contains', 'exists', 'older_than_days'] as const;
export type Operator = (typeof operators)[number];

/** What a field is, and the column that holds it. A `list` is a JSON list of texts or numbers. */
export interface Field {
  readonly type: 'text' | 'number' | 'boolean' | 'time' | 'list' | 'id';
  readonly column: string;
  /** Text → what stands in the column, where that is something else (`high` → 3). */
  readonly words?: Readonly<Record<string, number>>;
  /** The column holds whole numbers only; what it is compared with may be any. */
  readonly isWhole?: true;
}
export type Fields = Readonly<Record<string, Field>>;

const depthMax = 8;
const nodesMax = 100;
/** Further back no clock has been, and the database's calendar ends. */
const daysMax = 100_000;

/** In bodies. Its inside is checked by `checkPredicate`, which can say what is wrong and where. */
export const PredicateSchema = Type.Unsafe<Predicate>({
  type: 'object',
  description: '{"and": […]}, {"or": […]}, {"not": …} or {"field", "op", "value"}',
});
export type PredicateBody = Static<typeof PredicateSchema>;

const allowed: Readonly<Record<Field['type'], readonly Operator[]>> = {
  text: ['eq', 'ne', 'in', 'contains', 'exists'],
  number: ['eq', 'ne', 'in', 'gte', 'lte', 'exists'],
  boolean: ['eq', 'ne', 'exists'],
  time: ['gte', 'lte', 'older_than_days', 'exists'],
  list: ['contains', 'exists'],
  id: ['eq', 'ne', 'in', 'exists'],
};

/** Throws 422 with the place for whatever is no predicate over these fields. */
export function checkPredicate(given: unknown, fields: Fields, at = '/predicate'): Predicate {
  let nodes = 0;
  const check = (node: unknown, path: string, depth: number): void => {
    if (++nodes > nodesMax) throw unfit(at, `has more than ${nodesMax} parts`);
    if (depth > depthMax) throw unfit(path, `is nested deeper than ${depthMax} levels`);
    if (typeof node !== 'object' || node === null || Array.isArray(node))
      throw unfit(path, 'is no predicate', 'write {"field", "op", "value"}, or and, or, not');
    const members = Object.keys(node);
    const [name] = members;
    if (members.length === 1 && (name === 'and' || name === 'or')) {
      const parts = (node as Record<string, unknown>)[name];
      if (!Array.isArray(parts) || parts.length === 0) throw unfit(`${path}/${name}`, 'is no list of predicates');
      return parts.forEach((part, index) => check(part, `${path}/${name}/${index}`, depth + 1));
    }
    if (members.length === 1 && name === 'not') return check((node as { not: unknown }).not, `${path}/not`, depth + 1);
    checkLeaf(node as Record<string, unknown>, path, fields);
  };
  check(given, at, 1);
  return given as Predicate;
}

function checkLeaf(node: Record<string, unknown>, path: string, fields: Fields): void {
  const surplus = Object.keys(node).find((name) => !['field', 'op', 'value'].includes(name));
  if (surplus !== undefined) throw unfit(`${path}/${escapePointer(surplus)}`, 'is not a known member');
  const { field: name, op, value } = node;
  const field = typeof name === 'string' && Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) throw unfit(`${path}/field`, `must be one of ${Object.keys(fields).join(', ')}`);
  if (!allowed[field.type].includes(op as Operator))
    throw unfit(`${path}/op`, `must be one of ${allowed[field.type].join(', ')} for a ${field.type}`);
  const values = op === 'in' ? value : [value];
  if (!Array.isArray(values) || values.length === 0 || values.length > 500)
    throw unfit(`${path}/value`, 'is no list of 1 to 500 values');
  for (const one of values) checkValue(one, op as Operator, field, `${path}/value`);
}

function checkValue(value: unknown, op: Operator, field: Field, path: string): void {
  if (op === 'exists') {
    if (typeof value !== 'boolean') throw unfit(path, 'is not true or false');
    return;
  }
  if (op === 'older_than_days' && (typeof value !== 'number' || Math.abs(value) > daysMax))
    throw unfit(path, `is no number of days, ${daysMax} at most`);
  if (op === 'older_than_days' || (field.type === 'number' && field.words === undefined)) {
    if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > 1e9)
      throw unfit(path, 'is no number');
    return;
  }
  if (field.words !== undefined) {
    if (typeof value !== 'string' || !Object.hasOwn(field.words, value))
      throw unfit(path, `must be one of ${Object.keys(field.words).join(', ')}`);
    return;
  }
  if (field.type === 'boolean') {
    if (typeof value !== 'boolean') throw unfit(path, 'is not true or false');
  } else if (field.type === 'time') {
    toMoment(typeof value === 'string' ? value : '', path);
  } else if (field.type === 'id') {
    if (typeof value !== 'string' || !/^\d{1,18}$/.test(value)) throw unfit(path, 'is no id');
  } else if ((typeof value !== 'string' && typeof value !== 'number') || String(value).length > 500)
    throw unfit(path, 'is no text of at most 500 characters');
}

const stored = (field: Field, value: Scalar): Scalar =>
  field.words === undefined || typeof value !== 'string' ? value : (field.words[value] ?? null);

/** What a column is compared with. As a number of the column's own type, a fraction would be no number at all. */
function operand(sql: Queryable, field: Field, value: Scalar): Fragment {
  if (field.type === 'time') return sql`${new Date(String(value))}`;
  if (field.isWhole !== true || typeof value !== 'number') return sql`${stored(field, value) as never}`;
  return Number.isInteger(value) ? sql`${String(value)}::text::bigint` : sql`${String(value)}::text::numeric`;
}

/** As a condition on the columns. A missing value fits no comparison, also not `ne`; `exists` asks for it. */
export function toSql(sql: Queryable, predicate: Predicate, fields: Fields, now: Date): Fragment {
  if ('and' in predicate)
    return sql`(${allOf(
      sql,
      predicate.and.map((part) => toSql(sql, part, fields, now)),
    )})`;
  if ('or' in predicate)
    return anyOf(
      sql,
      predicate.or.map((part) => toSql(sql, part, fields, now)),
    );
  if ('not' in predicate) return sql`not coalesce(${toSql(sql, predicate.not, fields, now)}, false)`;
  const field = fields[predicate.field];
  if (field === undefined) return sql`false`;
  const column = sql(field.column);
  const { op, value = null } = predicate;
  if (op === 'exists')
    return field.type === 'list'
      ? sql`(jsonb_array_length(${column}) > 0) = ${value as never}`
      : sql`(${column} is not null and ${column}::text <> '') = ${value as never}`;
  const one = Array.isArray(value) || op === 'older_than_days' ? sql`null` : operand(sql, field, value as Scalar);
  switch (op) {
    case 'eq':
      return sql`coalesce(${column} = ${one}, false)`;
    case 'ne':
      return sql`coalesce(${column} <> ${one}, false)`;
    case 'in': {
      const all = value as readonly Scalar[];
      if (field.isWhole === true)
        return anyOf(
          sql,
          all.map((each) => sql`coalesce(${column} = ${operand(sql, field, each)}, false)`),
        );
      return sql`coalesce(${column} in ${sql(all.map((each) => stored(field, each)) as never)}, false)`;
    }
    case 'gte':
      return sql`coalesce(${column} >= ${one}, false)`;
    case 'lte':
      return sql`coalesce(${column} <= ${one}, false)`;
    case 'contains':
      return field.type === 'list'
        ? sql`${column} @> ${json(sql, [value])}`
        : sql`coalesce(${column} ilike ${`%${escapeLike(String(value))}%`}, false)`;
    case 'older_than_days':
      return sql`coalesce(${column} < ${new Date(now.getTime() - Number(value) * 86_400_000)}, false)`;
  }
}

/** The same over one row as the database gives it. */
export function holds(
  predicate: Predicate,
  row: Readonly<Record<string, unknown>>,
  fields: Fields,
  now: Date,
): boolean {
  if ('and' in predicate) return predicate.and.every((part) => holds(part, row, fields, now));
  if ('or' in predicate) return predicate.or.some((part) => holds(part, row, fields, now));
  if ('not' in predicate) return !holds(predicate.not, row, fields, now);
  const field = fields[predicate.field];
  if (field === undefined) return false;
  const { op, value = null } = predicate;
  const held = plain(field, row[field.column]);
  if (op === 'exists') return (held !== null && held !== '' && !(Array.isArray(held) && held.length === 0)) === value;
  if (held === null) return false;
  const one = plain(field, stored(field, Array.isArray(value) ? null : (value as Scalar)));
  switch (op) {
    case 'eq':
      return held === one;
    case 'ne':
      return held !== one;
    case 'in':
      return (value as readonly Scalar[]).some((each) => plain(field, stored(field, each)) === held);
    case 'gte':
      return (held as number) >= (one as number);
    case 'lte':
      return (held as number) <= (one as number);
    case 'contains':
      return Array.isArray(held)
        ? held.includes(value)
        : textOf(held).toLowerCase().includes(textOf(value).toLowerCase());
    case 'older_than_days':
      return (held as number) < now.getTime() - Number(value) * 86_400_000;
  }
}

/** Times as milliseconds, ids as text: what can be compared with one another. */
function plain(field: Field, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (field.type === 'time') return new Date(value as string | Date).getTime();
  return field.type === 'id' || field.type === 'text' ? textOf(value) : value;
}
