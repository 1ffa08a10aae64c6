// RFC 4180 with a guard against formula injection (CWE-1236): a spreadsheet runs cells that begin with = + - @, and
// skips leading white space before it looks, so tab and carriage return count too.

export function toCsvCell(value: unknown): string {
  const text =
    value === null || value === undefined
      ? ''
      : typeof value === 'string'
        ? value
        : value instanceof Date
          ? value.toISOString()
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value);
  const guarded =
    typeof value === 'string' && /^[\s\u0000\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text)
      ? `'${text}`
      : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

export function toCsvLine(values: readonly unknown[]): string {
  return `${values.map(toCsvCell).join(',')}\r\n`;
}
