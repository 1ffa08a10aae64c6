// A migrated database made as it was before a suite wrote to it. To drop everything and migrate again costs the
// embedded database two seconds of processor time; to take out what a suite put in, a tenth of that.
import type { Database, Tx } from '../../db/client.js';

interface Sequence {
  readonly name: string;
  /** Null before its first value. */
  readonly last_value: string | null;
}

/** What a migrated database holds before its first use. */
export interface Untouched {
  /** Of tables, columns, constraints, indexes, functions and triggers. */
  readonly catalogue: string;
  readonly tables: readonly string[];
  /** Rows that migrations put in, as JSON, by table. */
  readonly rows: ReadonlyMap<string, string>;
  readonly sequences: readonly Sequence[];
}

/** A digest of everything a suite could have altered but rows. Object ids are in it: what was made anew differs. */
async function readCatalogue(tx: Tx): Promise<string> {
  const [row] = await tx<{ digest: string }[]>`
    select md5(string_agg(part, ',' order by part)) as digest from (
      select concat_ws(':', 'c', oid, relname, relkind) as part from pg_class
      where relnamespace = 'public'::regnamespace
      union all
      select concat_ws(':', 'a', attrelid, attnum, attname, atttypid, attnotnull, atthasdef) from pg_attribute
      where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
      union all
      select concat_ws(':', 'k', oid, conname) from pg_constraint where connamespace = 'public'::regnamespace
      union all
      select concat_ws(':', 'f', oid, md5(prosrc)) from pg_proc where pronamespace = 'public'::regnamespace
      union all
      select concat_ws(':', 't', oid, tgname, tgenabled) from pg_trigger
      union all
      select concat_ws(':', 'd', oid, pg_get_expr(adbin, adrelid)) from pg_attrdef
      union all
      select concat_ws(':', 'n', oid, nspname) from pg_namespace where nspname not like 'pg\\_t%'
    ) parts`;
  return row?.digest ?? '';
}

const readSequences = (tx: Tx): Promise<Sequence[]> => tx<Sequence[]>`
  select sequencename as name, last_value::text from pg_sequences where schemaname = 'public' order by 1`;

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Those of `tables` that hold a row. */
async function findFilled(tx: Tx, tables: readonly string[]): Promise<string[]> {
  if (tables.length === 0) return [];
  const asked = tables.map((table) => `select ${literal(table)} as name where exists (select 1 from ${quote(table)})`);
  const rows = await tx.unsafe<{ name: string }[]>(asked.join(' union all '));
  return rows.map(({ name }) => name);
}

/** To be called after the migrations and before the first use. */
export function readUntouched(database: Database): Promise<Untouched> {
  return database.sql.begin(async (tx) => {
    const found = await tx<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`;
    const tables = found.map(({ name }) => name).sort();
    const rows = new Map<string, string>();
    for (const table of await findFilled(tx, tables)) {
      const [all] = await tx.unsafe<{ rows: string }[]>(`select json_agg(r)::text as rows from ${quote(table)} r`);
      rows.set(table, all?.rows ?? '[]');
    }
    return { catalogue: await readCatalogue(tx), tables, rows, sequences: await readSequences(tx) };
  });
}

async function resetSequences(tx: Tx, wanted: readonly Sequence[]): Promise<void> {
  const now = new Map((await readSequences(tx)).map(({ name, last_value }) => [name, last_value]));
  for (const { name, last_value } of wanted) {
    if (now.get(name) === last_value) continue;
    if (last_value === null) await tx.unsafe(`alter sequence ${quote(name)} restart`);
    else await tx`select setval(${quote(name)}::regclass, ${last_value}::bigint)`;
  }
}

/** Whether it could be done: false, and nothing changed, where a suite altered more than rows. */
export function emptyAgain(database: Database, untouched: Untouched): Promise<boolean> {
  return database.sql.begin(async (tx) => {
    if ((await readCatalogue(tx)) !== untouched.catalogue) return false;
    await tx`set local session_replication_role = replica`; // no trigger tells of this
    const filled = await findFilled(tx, untouched.tables);
    const emptied = [...new Set([...filled, ...untouched.rows.keys()])];
    if (emptied.length > 0) await tx.unsafe(`truncate ${emptied.map(quote).join(', ')} cascade`);
    for (const [table, rows] of untouched.rows) {
      const into = `insert into ${quote(table)} overriding system value`;
      await tx.unsafe(`${into} select * from json_populate_recordset(null::${quote(table)}, ${literal(rows)})`);
    }
    await resetSequences(tx, untouched.sequences);
    return true;
  });
}
