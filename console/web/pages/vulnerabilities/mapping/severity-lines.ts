// Words for severities as a person writes them: one a line, the tool's and ours.
import { severities } from '../words.js';

export type SeverityMap = Readonly<Record<string, string>>;
export type SeverityProblem = { readonly line: number; readonly twice: string | null };

const ours: ReadonlySet<string> = new Set(severities);

/** The lines as the API takes them, or the first line that says nothing, or says a word again. */
export function readSeverityLines(text: string): { readonly map: SeverityMap } | { readonly problem: SeverityProblem } {
  const map = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, theirs = '', word = ''] = /^(.*)=([^=]*)$/s.exec(line) ?? [];
    const [name, severity] = [theirs.trim(), word.trim().toLowerCase()];
    if (name === '' || !ours.has(severity)) return { problem: { line: index + 1, twice: null } };
    if (map.has(name)) return { problem: { line: index + 1, twice: name } };
    map.set(name, severity);
  }
  return { map: Object.fromEntries(map) };
}

const rankOf = (severity: string): number => severities.findIndex((one) => one === severity);

/** The gravest first: the store keeps no order. */
export const severityLinesOf = (map: SeverityMap | null): string =>
  Object.entries(map ?? {})
    .sort(([, one], [, other]) => rankOf(one) - rankOf(other))
    .map(([theirs, severity]) => `${theirs} = ${severity}`)
    .join('\n');
