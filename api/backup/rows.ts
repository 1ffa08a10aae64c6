// Rows of a table, out and in. A row travels as the text that the database makes of it and reads again (`table::text`,
// `text::table`): every type, also one that a later migration brings, comes back as it was, in PostgreSQL as in the
// embedded database. COPY would be faster; the embedded database does not speak it over its socket.
import type { Queryable, Tx } from '../db/client.js';
import { TableDigest } from './digest.js';
import { quoted, type TableShape } from './schema.js';

/** Rows of one statement. */
const batchRows = 500;
/** Text of one statement, in characters, unless a single row is longer. */
const batchCharactersMax = 4 * 1024 * 1024;

/** How values are written; the same on both sides. Lasts until the end of the transaction. */
export async function writeValuesAlike(tx: Tx): Promise<void> {
  await tx`set local datestyle = 'ISO, YMD'`;
  await tx`set local intervalstyle = 'postgres'`;
  await tx`set local timezone = 'UTC'`;
  await tx`set local bytea_output = 'hex'`;
  await tx`set local extra_float_digits = 1`;
}

/** Every row of a table as text, in no order. */
export async function* readRows(tx: Tx, table: string): AsyncGenerator<string[]> {
  const batches = tx.unsafe<{ row: string }[]>(`select t::text as row from ${quoted(table)} t`).cursor(batchRows);
  for await (const rows of batches) yield rows.map(({ row }) => row);
}

export async function digestTable(tx: Tx, table: string): Promise<TableDigest> {
  const digest = new TableDigest();
  for await (const rows of readRows(tx, table)) for (const row of rows) digest.add(row);
  return digest;
}

/** Puts rows into a table that has no row of the same key. Columns that the database computes are computed anew. */
export async function writeRows(sql: Queryable, table: TableShape, rows: AsyncIterable<string>): Promise<void> {
  const columns = table.columns.filter(({ isGenerated }) => !isGenerated).map(({ name }) => quoted(name));
  // `offset 0` keeps the text from being read once for each column
  const statement =
    `insert into ${quoted(table.name)} (${columns.join(', ')}) overriding system value ` +
    `select ${columns.map((column) => `(s.r).${column}`).join(', ')} from ` +
    `(select v::${quoted(table.name)} as r from jsonb_array_elements_text($1::text::jsonb) v offset 0) s`;
  let batch: string[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await sql.unsafe(statement, [JSON.stringify(batch)]);
    batch = [];
    characters = 0;
  };
  for await (const row of rows) {
    if (batch.length >= batchRows || characters + row.length > batchCharactersMax) await flush();
    batch.push(row);
    characters += row.length;
  }
  await flush();
}
