// What the API answers of a place and of a fix, as the page of a finding shows it. Both hold whatever the tool gave.

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
const textIn = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** The version that has it no more, and what the tool advises. */
export function fixOf(fix: unknown): { readonly version: string; readonly words: string } {
  const { version, text } = fieldsOf(fix);
  return { version: textIn(version), words: textIn(text) };
}

export interface CodeLine {
  /** null: the tool did not say which line it is. */
  readonly number: number | null;
  readonly text: string;
}

const isLine = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** Lines of the code that the tool showed, numbered from where it begins. */
export function codeLines(location: unknown): readonly CodeLine[] {
  const { snippet, line, snippet_line: begins = line } = fieldsOf(location);
  if (typeof snippet !== 'string' || snippet.trim() === '') return [];
  const lines = snippet.trimEnd().split(/\r\n|\r|\n/);
  return lines
    .map((text, index) => ({ number: isLine(begins) ? begins + index : null, text }))
    .slice(lines.findIndex((text) => text.trim() !== ''));
}
