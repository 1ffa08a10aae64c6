// Rows as CSV, JSON Lines or Parquet. Each file says the columns in the order of the dataset.
import { toCsvLine } from '#http-kit';
import { parquetWriteBuffer, type ColumnSource } from 'hyparquet-writer';
import type { BiColumn, ColumnType, Dataset } from './datasets.js';
import type { BiRow } from './read.js';

export const formats = {
  csv: { mediaType: 'text/csv; charset=utf-8', write: toCsv },
  jsonl: { mediaType: 'application/x-ndjson; charset=utf-8', write: toJsonLines },
  parquet: { mediaType: 'application/vnd.apache.parquet', write: toParquet },
} as const;
export type Format = keyof typeof formats;
export const formatNames = Object.keys(formats) as Format[];

/** As JSON has it: moments and days in ISO 8601. */
export function toPlain(type: ColumnType, value: unknown): string | number | boolean | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return type === 'date' ? value.toISOString().slice(0, 10) : value.toISOString();
  return value as string | number | boolean;
}

function toCsv({ columns }: Dataset, rows: readonly BiRow[]): string {
  const line = (row: BiRow): string => toCsvLine(columns.map(({ name, type }) => toPlain(type, row[name])));
  return [toCsvLine(columns.map(({ name }) => name)), ...rows.map(line)].join('');
}

function toJsonLines({ columns }: Dataset, rows: readonly BiRow[]): string {
  const line = (row: BiRow) => Object.fromEntries(columns.map(({ name, type }) => [name, toPlain(type, row[name])]));
  return rows.map((row) => `${JSON.stringify(line(row))}\n`).join('');
}

const parquetTypes = {
  text: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP',
  date: 'STRING',
} as const satisfies Record<ColumnType, ColumnSource['type']>;

function toParquetValue(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'integer') return BigInt(value as number);
  return type === 'date' ? toPlain(type, value) : value;
}

function toParquet({ id, version, columns }: Dataset, rows: readonly BiRow[]): Buffer {
  const columnData = columns.map(({ name, type }: BiColumn) => ({
    name,
    type: parquetTypes[type],
    nullable: true,
    data: rows.map((row) => toParquetValue(type, row[name])),
  }));
  const kvMetadata = [{ key: 'dataset', value: `${id} ${version}` }];
  return Buffer.from(parquetWriteBuffer({ columnData, kvMetadata }));
}
