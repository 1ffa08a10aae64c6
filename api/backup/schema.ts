// What a database holds besides rows: tables with their columns, keys, sequences and partitions. Read from the
// catalogue, so that a table of a later migration needs no row anywhere to be backed up.
import type { Queryable } from '../db/client.js';

export interface TableShape {
  readonly name: string;
  /** Every column in its place; the text of a row has all of them. */
  readonly columns: readonly { readonly name: string; readonly isGenerated: boolean }[];
}

export interface Partition {
  readonly name: string;
  readonly parent: string;
  /** As the server writes it: `FOR VALUES FROM (…) TO (…)`, or `DEFAULT`. */
  readonly bound: string;
}

export interface SequenceState {
  readonly name: string;
  /** null: it was never asked. */
  readonly last: string | null;
}

export interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Tables of the schema in alphabetical order; partitions belong to their parent. */
export async function readTables(sql: Queryable): Promise<TableShape[]> {
  const rows = await sql<{ table: string; column: string; is_generated: boolean }[]>`
    select c.relname as table, a.attname as column, a.attgenerated <> '' as is_generated
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped
    order by c.relname collate "C", a.attnum`;
  const tables = new Map<string, { name: string; isGenerated: boolean }[]>();
  for (const { table, column, is_generated: isGenerated } of rows) {
    const columns = tables.get(table) ?? [];
    columns.push({ name: column, isGenerated });
    tables.set(table, columns);
  }
  return [...tables].map(([name, columns]) => ({ name, columns }));
}

export async function readPartitions(sql: Queryable): Promise<Partition[]> {
  const rows = await sql<{ name: string; parent: string; bound: string }[]>`
    select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
    where c.relnamespace = current_schema()::regnamespace and c.relispartition and c.relkind = 'r'
    order by c.relname collate "C"`;
  return [...rows];
}

export async function readSequences(sql: Queryable): Promise<SequenceState[]> {
  const rows = await sql<{ name: string; last: string | null }[]>`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = current_schema() order by sequencename collate "C"`;
  return [...rows];
}

export async function readForeignKeys(sql: Queryable): Promise<ForeignKey[]> {
  const rows = await sql<{ table: string; name: string; definition: string }[]>`
    select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.connamespace = current_schema()::regnamespace and k.contype = 'f' and k.conparentid = 0
    order by c.relname collate "C", k.conname collate "C"`;
  return [...rows];
}

/** An identifier as SQL writes it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
