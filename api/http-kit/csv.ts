// RFC 4180 with a guard against formula injection (CWE-1236): a spreadsheet runs cells that begin with = + - @, and
// skips leading white space before it looks, so tab and carriage return count too.

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  return JSON.stringify(value); // numbers and flags read the same in JSON
}

export function toCsvCell(value: unknown): string {
  const text = toText(value);
  const guarded =
    typeof value === 'string' && /^[\s\u0000\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text)
      ? `'${text}`
      : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

export function toCsvLine(values: readonly unknown[]): string {
  return `${values.map(toCsvCell).join(',')}\r\n`;
}
