// Forward-only numbered migrations, in modules: `core` is the schema that all features once shared, every other module
// is a feature's own (its `migrations/`). All pending ones run in one transaction under an advisory lock: two servers
// that start at once take turns, and a failing migration leaves the schema as it was.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { compareReleases, release } from '../release.js';
import type { Database, Tx } from './client.js';
import { worksWith } from './compatible.js';
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
  /** The release that ran it, and the oldest that works with what it made; null: not known, or none. */
  readonly release: string | null;
  readonly works_with: string | null;
}

/**
 * Brings the database to the newest state of every module; returns how many migrations ran. Throws, changing nothing,
 * when a migration that ran before has another text now, or when the database is of a newer release that does not say
 * that this one works with it (compatible.ts). `own`: this release.
 */
export async function migrate(
  database: Database,
  modules: readonly MigrationModule[],
  own: string = release(),
): Promise<number> {
  return database.sql.begin((tx) => migrateWithin(tx, modules, own));
}

/** The same within a transaction that does more, such as a restore. */
export async function migrateWithin(
  tx: Tx,
  modules: readonly MigrationModule[],
  own: string = release(),
): Promise<number> {
  await lockUntilCommit(tx, 'migrations');
  await prepareBookkeeping(tx);
  const applied = await tx<AppliedRow[]>`
    select m.module, m.number, m.name, m.sha256, r.release, r.works_with
    from schema_migrations m left join schema_releases r using (module, number) order by m.version`;
  for (const row of applied) checkApplied(row, modules, own);
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
    await tx`
      insert into schema_releases (module, number, release, works_with)
      values (${module}, ${number}, ${own}, ${worksWith(labelOf({ module, number, name }), text)})
      on conflict (module, number) do update set release = excluded.release, works_with = excluded.works_with`;
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
  // a table of its own: programs from before it go on with theirs
  await tx`
    create table if not exists schema_releases (
      module text not null, number integer not null, release text not null, works_with text,
      primary key (module, number))`;
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

const labelOf = ({ module, number, name }: Pick<AppliedRow, 'module' | 'number' | 'name'>): string =>
  `${module === coreModule ? '' : `${module} `}${number} (${name})`;

function checkApplied(row: AppliedRow, modules: readonly MigrationModule[], own: string): void {
  const module = modules.find(({ name }) => name === row.module);
  const mine = module?.migrations.find(({ number }) => number === row.number);
  const label = labelOf(row);
  if (mine !== undefined && digest(mine.text) !== row.sha256)
    throw new Error(`Migration ${label} was changed after it had run: write a new one instead.`);
  if (mine !== undefined || isWorkable(row, own)) return;
  const known = module === undefined ? `has no ${row.module}` : `knows ${module.migrations.length} only`;
  throw new Error(
    `The database has migration ${label}${row.release === null ? '' : ` of release ${row.release}`}, this program ` +
      `(release ${own}) ${known}: start the newer program` +
      `${row.works_with === null ? '' : `, ${row.works_with} or newer`}. ` +
      'To stay with this one, restore the backup that was made before the update (gatehouse restore FILE).',
  );
}

/** Whether the release that ran an unknown migration left this one working. */
const isWorkable = ({ works_with: oldest }: AppliedRow, own: string): boolean =>
  oldest !== null && compareReleases(oldest, own) <= 0;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
