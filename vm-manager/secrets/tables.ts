// Tables in texts: a first line that names the columns, and lines with as many cells. What stands in the column of a
// password, secret, token or key is masked; so are tables in Markdown.
import { isKeyWord } from './shapes.js';
import { hide, isPlaceholder } from './values.js';
import { isOrdinary } from './words.js';

const separators = [';', '|', '\t', ','];
const linesMax = 500;
const nameMax = 40;
const title =
  /^["'`*\s]*(?:[\w-]{1,30}[ _-])?(?:pass|password|passwd|pwd|pw|pin|secret|token|api[ _-]?key|key)s?["'`*\s]*$/i;

/** What a table of credentials has beside them; without it the line may be code or a sentence. */
const beside = new RegExp(
  '^["\'`*\\s]*(?:user|user[ _-]?name|login|account|name|e-?mail|host(?:[ _-]?name)?|ip|address|service|port|url|' +
    'system|realm|db|database|status|#|id)s?["\'`*\\s]*$',
  'i',
);

/** Which columns hold secrets, or undefined where the line is no head of a table. */
function secretColumns(
  line: string,
  separator: string,
): { readonly columns: readonly number[]; readonly of: number } | undefined {
  const cells = line.split(separator);
  if (cells.length < 2 || !cells.some((cell) => beside.test(cell)) || cells.some((cell) => cell.length > nameMax))
    return undefined;
  const columns = cells.flatMap((cell, at) => (title.test(cell) ? [at] : []));
  return columns.length > 0 ? { columns, of: cells.length } : undefined;
}

const isValue = (cell: string): boolean =>
  cell.length >= 3 &&
  !/^[-:=\s]+$/.test(cell) &&
  !isPlaceholder(cell) &&
  !isOrdinary(cell) &&
  !isKeyWord.test(cell) &&
  !/\s/.test(cell);

/** The text without the values in columns of secrets. */
export function maskTables(text: string): string {
  if (!text.includes('\n') || !/pass|pwd|\bpw\b|pin|secret|token|key/i.test(text)) return text;
  const lines = text.split('\n');
  for (let at = 0; at < Math.min(lines.length, linesMax); at++) {
    const separator = separators.find((one) => secretColumns(lines[at] ?? '', one) !== undefined);
    if (separator === undefined) continue;
    const head = secretColumns(lines[at] ?? '', separator);
    for (at++; head !== undefined && at < Math.min(lines.length, linesMax); at++) {
      const cells = (lines[at] ?? '').split(separator);
      if (cells.length !== head.of) break;
      for (const column of head.columns) {
        const cell = cells[column] ?? '';
        const value = cell.replace(/^["'`\s]+|["'`\s]+$/g, '');
        if (isValue(value)) cells[column] = cell.replace(value, () => hide(value));
      }
      lines[at] = cells.join(separator);
    }
    at--; // the line behind the table may be the head of another one
  }
  return lines.join('\n');
}
