// Values of unknown shape as text: rows of the database, members of reports.

/** A text or a number as text; everything else is the empty text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : '';
}
