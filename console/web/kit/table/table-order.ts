// The order of a table's rows.
export type SortKey = string | number | null | undefined;

export interface SortState {
  /** Index of the column. */
  readonly column: number;
  readonly isDown: boolean;
}

interface Sortable<T> {
  readonly sortBy?: (row: T) => SortKey;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function compare(a: SortKey, b: SortKey): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a), String(b));
}

/** Rows in the order of one column, those without a value last in both directions; equal rows stay as they came. */
export function sortRows<T>(rows: readonly T[], columns: readonly Sortable<T>[], sort: SortState | null): readonly T[] {
  const keyOf = sort === null ? undefined : columns[sort.column]?.sortBy;
  if (sort === null || keyOf === undefined) return rows;
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => {
      if (a.key == null || b.key == null) return Number(a.key == null) - Number(b.key == null);
      return sort.isDown ? compare(b.key, a.key) : compare(a.key, b.key);
    })
    .map(({ row }) => row);
}
