/**
 * JSON with sorted keys and no white space: one value, one text, so that hashes and diffs depend on the content alone.
 */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((item) => toCanonicalJson(item === undefined ? null : item)).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
