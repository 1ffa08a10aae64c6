// Cursors name the last row seen, not an offset: rows that arrive while somebody pages are neither skipped nor
// repeated.
import { Type, type TSchema } from '@sinclair/typebox';
import { ApiError } from './problem.js';
import { isStorable } from './storable-text.js';

const pageSizeMax = 500;

/** Query parameters every list takes. */
export const PageQuery = {
  cursor: Type.Optional(Type.String({ maxLength: 300, description: '`next_cursor` of the page before' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageSizeMax, default: 50 })),
};

/** The answer of every list: `next_cursor` is null on the last page. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), next_cursor: Type.Union([Type.String(), Type.Null()]) });

export type CursorPart = string | number;

export function encodeCursor(parts: readonly CursorPart[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Reads a cursor whose parts have the given types; throws ApiError `bad_cursor` for anything else. */
export function decodeCursor<S extends readonly ('string' | 'number')[]>(
  cursor: string,
  shape: S,
): { [K in keyof S]: S[K] extends 'string' ? string : number } {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const fits =
    Array.isArray(parts) &&
    parts.length === shape.length &&
    parts.every(
      (part, i) =>
        typeof part === shape[i] && (typeof part === 'string' ? isStorable(part) : Number.isSafeInteger(part)),
    );
  if (!fits) throw badCursor();
  return parts as { [K in keyof S]: S[K] extends 'string' ? string : number };
}

/** A moment in milliseconds and an id. */
export function decodeTimeCursor<Id extends 'string' | 'number'>(
  cursor: string,
  id: Id,
): readonly [number, Id extends 'string' ? string : number] {
  const [ms, last] = decodeCursor(cursor, ['number', id] as const);
  if (Number.isNaN(new Date(ms).getTime())) throw badCursor();
  return [ms, last];
}

const badCursor = (): ApiError =>
  new ApiError(
    'bad_cursor',
    'Use the `next_cursor` of an earlier answer unchanged, or leave the parameter out to begin again.',
  );

/** Cuts a query that asked for `limit + 1` rows into a page. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => readonly CursorPart[],
  map: (row: Row) => Item,
): { items: Item[]; next_cursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(map),
    next_cursor: rows.length > limit && last !== undefined ? encodeCursor(cursorOf(last)) : null,
  };
}
