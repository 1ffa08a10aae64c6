/** Rows from the one with id `from` to the one with id `to`, whichever is first; without the first only `to`. */
export function between<T extends { readonly id: string }>(rows: readonly T[], from: string | null, to: string): T[] {
  const end = rows.findIndex(({ id }) => id === to);
  const found = rows.findIndex(({ id }) => id === from);
  const start = found < 0 ? end : found;
  return end < 0 ? [] : rows.slice(Math.min(start, end), Math.max(start, end) + 1);
}
