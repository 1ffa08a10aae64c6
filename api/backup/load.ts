// The database of a backup into an empty or a used one, in one transaction: a failure at any step, also the last check,
// leaves what was there. The schema is made by the migrations up to where the backup was, then filled, then proved,
// then brought to this release: so a backup of an older release needs no reader of its own.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { Tx } from '../db/client.js';
import { migrateWithin, type MigrationModule } from '../db/migrate.js';
import { TableDigest } from './digest.js';
import { BackupError, type Manifest } from './manifest.js';
import { digestTable, writeRows, writeValuesAlike } from './rows.js';
import { quoted, readForeignKeys, readTables, type TableShape } from './schema.js';

/** Rows of a staged table as the text that the database wrote. */
export async function* stagedRows(staging: string, table: string): AsyncGenerator<string> {
  const source = createReadStream(join(staging, 'tables', `${table}.jsonl.gz`)).pipe(createGunzip());
  for await (const line of createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY }))
    yield JSON.parse(line) as string;
}

/** Throws BackupError where a staged table is not what the manifest says. */
export async function proveStagedTables(staging: string, manifest: Manifest): Promise<void> {
  for (const { name, rows, sha256_sum } of manifest.tables) {
    const digest = new TableDigest();
    for await (const row of stagedRows(staging, name)) digest.add(row);
    if (digest.rows !== rows || digest.sha256Sum !== sha256_sum) throw unequal(name, rows, digest.rows);
  }
}

const unequal = (table: string, expected: number, found: number): BackupError =>
  new BackupError(`The table ${table} differs from the backup (${expected} rows expected, ${found} found).`);

/** The migrations that a backup had seen. Throws BackupError where it has one that this release does not know. */
export function modulesOf(manifest: Manifest, modules: readonly MigrationModule[]): MigrationModule[] {
  for (const { module, number } of manifest.migrations) {
    const known = modules.find(({ name }) => name === module)?.migrations.length ?? 0;
    if (number > known)
      throw new BackupError(
        `The backup was made by a newer release (${manifest.release}): it has migration ${number} of ${module}, this ` +
          `release knows ${known}. Install that release or a newer one, then restore.`,
      );
  }
  return modules.map(({ name, migrations }) => {
    const last = manifest.migrations.find(({ module }) => module === name)?.number ?? 0;
    return { name, migrations: migrations.filter(({ number }) => number <= last) };
  });
}

/** Everything of the schema is replaced. Throws BackupError, or what the database refuses; then nothing has changed. */
export async function loadDatabase(
  tx: Tx,
  staging: string,
  manifest: Manifest,
  modules: readonly MigrationModule[],
): Promise<void> {
  await dropEverything(tx);
  await migrateWithin(tx, modulesOf(manifest, modules));
  await writeValuesAlike(tx);
  const tables = await checkTables(tx, manifest);
  const foreignKeys = await readForeignKeys(tx);
  for (const { table, name } of foreignKeys)
    await tx.unsafe(`alter table ${quoted(table)} drop constraint ${quoted(name)}`);
  for (const { name } of tables) {
    await tx.unsafe(`alter table ${quoted(name)} disable trigger user`);
    await tx.unsafe(`delete from ${quoted(name)}`); // rows that migrations bring along
  }
  await createPartitions(tx, manifest);
  for (const table of tables) await writeRows(tx, table, stagedRows(staging, table.name));
  for (const { name, last } of manifest.sequences)
    if (last !== null) await tx`select setval(${quoted(name)}::regclass, ${last}::bigint)`;
  for (const { name, rows, sha256_sum } of manifest.tables) {
    const digest = await digestTable(tx, name);
    if (digest.rows !== rows || digest.sha256Sum !== sha256_sum) throw unequal(name, rows, digest.rows);
  }
  for (const { table, name, definition } of foreignKeys)
    await tx.unsafe(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`);
  for (const { name } of tables) await tx.unsafe(`alter table ${quoted(name)} enable trigger user`);
  await migrateWithin(tx, modules);
}

async function checkTables(tx: Tx, manifest: Manifest): Promise<TableShape[]> {
  const tables = await readTables(tx);
  for (const { name, columns } of manifest.tables) {
    const mine = tables.find((table) => table.name === name)?.columns.map((column) => column.name);
    if (mine === undefined || mine.join() !== columns.join())
      throw new BackupError(
        `The table ${name} of the backup (${columns.join(', ')}) does not fit this release ` +
          `(${mine?.join(', ') ?? 'no such table'}). Restore it with release ${manifest.release}.`,
      );
  }
  return tables.filter(({ name }) => manifest.tables.some((table) => table.name === name));
}

const bound = /^(?:DEFAULT|FOR VALUES FROM \('[^';\\]{1,100}'\) TO \('[^';\\]{1,100}'\))$/;

async function createPartitions(tx: Tx, manifest: Manifest): Promise<void> {
  for (const { name, parent, bound: text } of manifest.partitions) {
    if (!bound.test(text))
      throw new BackupError(`The partition ${name} of the backup has limits that are none: ${text}.`);
    await tx.unsafe(`create table if not exists ${quoted(name)} partition of ${quoted(parent)} ${text}`);
    await tx.unsafe(`alter table ${quoted(name)} disable trigger user`);
  }
}

/** Tables, views, sequences, functions and types of the schema, unless they belong to an extension. */
async function dropEverything(tx: Tx): Promise<void> {
  const objects = await tx<{ statement: string }[]>`
    select format('drop %s if exists %I cascade',
      case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
      relname) as statement
    from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
      -- a sequence of an identity column goes with its table
      and not exists (select 1 from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass
        and (d.deptype = 'e' or (d.deptype = 'i' and c.relkind = 'S')))
    union all
    select format('drop %s if exists %s cascade', case prokind when 'p' then 'procedure' else 'function' end,
      oid::regprocedure)
    from pg_proc p
    where pronamespace = current_schema()::regnamespace and prokind in ('f', 'p')
      and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    union all
    select format('drop type if exists %I cascade', typname)
    from pg_type t
    where typnamespace = current_schema()::regnamespace and typtype in ('e', 'd', 'r')
      and not exists (select 1 from pg_depend d where d.objid = t.oid and d.deptype = 'e')`;
  for (const { statement } of objects) await tx.unsafe(statement);
}
