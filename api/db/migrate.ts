// Forward-only numbered migrations, in modules: `core` is the schema that all features once shared, every other module
// is a feature's own (its `migrations/`). All pending ones run in one transaction under an advisory lock: two servers
// that start at once take turns, and a failing migration leaves the schema as it was.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Database, Tx } from './client.js';
import { lockUntilCommit } from './lock-keys.js';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
}

export interface MigrationModule {
  readonly name: string;
  /** Numbered 1, 2, 3 … */
  readonly migrations: readonly Migration[];
}

/** Of what stood in the bookkeeping before it knew modules. */
const coreModule = 'core';
const coreDirectory = new URL('./migrations/', import.meta.url);

/** The core, then the features that have migrations, in their order: a feature may build on the core's tables. */
export async function loadModules(
  features: readonly { readonly name: string; readonly migrations?: URL }[] = [],
): Promise<MigrationModule[]> {
  const modules = [{ name: coreModule, migrations: await loadMigrations(coreDirectory) }];
  for (const { name, migrations } of features) {
    if (migrations === undefined) continue;
    if (modules.some((module) => module.name === name))
      throw new Error(`Two modules of migrations are called ${name}.`);
    modules.push({ name, migrations: await loadMigrations(migrations) });
  }
  return modules;
}

/** Reads `NNN-name.sql` files; numbers must be 1, 2, 3 … without a gap. Throws with the file name otherwise. */
export async function loadMigrations(directory: URL): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const found = /^(\d{3})-([a-z0-9-]+)\.sql$/.exec(file);
      if (found === null || Number(found[1]) !== index + 1)
        throw new Error(`Migration ${file} must be called ${String(index + 1).padStart(3, '0')}-name.sql`);
      return { number: index + 1, name: found[2] ?? '', text: await readFile(new URL(file, directory), 'utf8') };
    }),
  );
}

interface AppliedRow {
  readonly module: string;
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
}

/**
 * Brings the database to the newest state of every module; returns how many migrations ran. Throws, changing nothing,
 * when a migration that ran before has another text now, or when the database is newer than this program.
 */
export async function migrate(database: Database, modules: readonly MigrationModule[]): Promise<number> {
  return database.sql.begin((tx) => migrateWithin(tx, modules));
}

/** The same within a transaction that does more, such as a restore. */
export async function migrateWithin(tx: Tx, modules: readonly MigrationModule[]): Promise<number> {
  await lockUntilCommit(tx, 'migrations');
  await prepareBookkeeping(tx);
  const applied = await tx<AppliedRow[]>`
    select module, number, name, sha256 from schema_migrations order by version`;
  for (const row of applied) checkApplied(row, modules);
  const isApplied = (module: string, number: number): boolean =>
    applied.some((row) => row.module === module && row.number === number);
  const pending = modules.flatMap(({ name: module, migrations }) =>
    migrations.filter(({ number }) => !isApplied(module, number)).map((migration) => ({ module, ...migration })),
  );
  for (const [index, { module, number, name, text }] of pending.entries()) {
    await tx.unsafe(text);
    const version = applied.length + index + 1;
    await tx`
      insert into schema_migrations (version, module, number, name, sha256)
      values (${version}, ${module}, ${number}, ${name}, ${digest(text)})`;
  }
  return pending.length;
}

/**
 * The bookkeeping of programs from before modules had `version` alone, which was the number of a core migration. It
 * goes on as the place in the order in which migrations ran, over all modules: such a program takes each of them for
 * one of its own that it does not know, and says that the database is newer. Asks first, so that a start that has
 * nothing to change locks nothing.
 */
async function prepareBookkeeping(tx: Tx): Promise<void> {
  await tx`
    create table if not exists schema_migrations (
      version integer primary key, name text not null, sha256 text not null,
      applied_at timestamptz not null default now())`;
  const [known] = await tx`
    select 1 from information_schema.columns
    where table_schema = current_schema() and table_name = 'schema_migrations' and column_name = 'module'`;
  if (known !== undefined) return;
  await tx`alter table schema_migrations add column module text not null default 'core'`;
  await tx`alter table schema_migrations add column number integer`;
  await tx`update schema_migrations set number = version`;
  await tx`alter table schema_migrations alter column number set not null`;
  await tx`alter table schema_migrations add unique (module, number)`;
}

function checkApplied(row: AppliedRow, modules: readonly MigrationModule[]): void {
  const module = modules.find(({ name }) => name === row.module);
  const label = `${row.module === coreModule ? '' : `${row.module} `}${row.number} (${row.name})`;
  if (module === undefined)
    throw new Error(`The database has migration ${label}, this program has no ${row.module}: start the newer program.`);
  const mine = module.migrations.find(({ number }) => number === row.number);
  if (mine === undefined)
    throw new Error(
      `The database has migration ${label}, this program knows ${module.migrations.length} only: ` +
        'start the newer program.',
    );
  if (digest(mine.text) !== row.sha256)
    throw new Error(`Migration ${label} was changed after it had run: write a new one instead.`);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
