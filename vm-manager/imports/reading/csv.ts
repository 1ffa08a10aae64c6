// CSV with a head line, row by row.
import { CsvError, parse } from 'csv-parse';
import { ApiError } from '#http-kit';
import { createReadStream } from 'node:fs';
import { readBeginning, type ReportFile } from './report-file.js';

/** Excel's own first line that names the separator of the rows; no row of the table. */
const separatorLine = /^sep=([^\r\n])\r?\n/i;

const delimiters = [',', ';', '\t', '|'];
const delimiterOf = (head: string): string =>
  delimiters.map((one) => [head.split(one).length, one] as const).sort((left, right) => right[0] - left[0])[0]?.[1] ??
  ',';

/** As columns are compared: `CVSS Score`, `cvss-score` and `cvss_score` are one. */
export const columnOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

export interface CsvHead {
  readonly delimiter: string;
  /** As `columnOf` has them. */
  readonly columns: readonly string[];
  /** Lines before the head line. */
  readonly before: number;
}

/** The head line of a text that begins a file. */
export function readHead(beginning: string): CsvHead {
  const separator = separatorLine.exec(beginning);
  const [head = ''] = beginning.slice(separator?.[0].length ?? 0).split(/\r?\n/, 1);
  const named = separator?.[1] ?? '';
  const delimiter = delimiters.includes(named) ? named : delimiterOf(head);
  const columns = head.split(delimiter).map((cell) => columnOf(cell.trim().replace(/^"(.*)"$/s, '$1')));
  return { delimiter, columns, before: separator === null ? 0 : 1 };
}

/** The parser's own words, without the value, which may be a secret. */
const reasonOf = ({ message }: Error): string =>
  message.replace(/,? (?:value is [^]*|got "[^]*?"(?= at line))/, '').slice(0, 200);

/** Rows as objects by head, with their lines. Throws ApiError 400 for what is no CSV, with the line. */
export async function* readRows(file: ReportFile): AsyncGenerator<readonly [number, Readonly<Record<string, string>>]> {
  const { delimiter, before } = readHead(await readBeginning(file));
  const names = new Set<string>();
  const parser = parse({
    bom: true,
    delimiter,
    from_line: before + 1,
    max_record_size: 1024 * 1024,
    skip_empty_lines: true,
    relax_column_count: false,
    columns: (cells: string[]) =>
      cells.map((cell, index) => {
        const name = columnOf(cell) || `column_${index + 1}`;
        if (names.has(name)) throw new ApiError('malformed_request', `The report has the column ${name} twice.`);
        names.add(name);
        return name;
      }),
  });
  const source = createReadStream(file.path);
  // a pipe passes no failure on: the rows would never end
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let row = 1 + before;
  try {
    for await (const one of parser) yield [++row, one as Record<string, string>];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = 'lines' in error && typeof error['lines'] === 'number' ? error['lines'] : parser.info.lines;
    const reason = reasonOf(error);
    const place = /\bline \d/.test(reason) ? '' : ` (line ${line})`;
    throw new ApiError('malformed_request', `The report is no CSV: ${reason}${place}`);
  } finally {
    source.destroy();
  }
}
