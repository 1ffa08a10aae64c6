// Forward-only numbered migrations. All pending ones run in one transaction under an advisory lock: two servers that
// start at once take turns, and a failing migration leaves the schema as it was.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { lockKeys, type Database } from './client.js';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

/** Reads `NNN-name.sql` files; versions must be 1, 2, 3 … without a gap. Throws with the file name otherwise. */
export async function loadMigrations(directory: URL = new URL('./migrations/', import.meta.url)): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const found = /^(\d{3})-([a-z0-9-]+)\.sql$/.exec(file);
      if (found === null || Number(found[1]) !== index + 1)
        throw new Error(`Migration ${file} must be called ${String(index + 1).padStart(3, '0')}-name.sql`);
      return { version: index + 1, name: found[2] ?? '', text: await readFile(new URL(file, directory), 'utf8') };
    }),
  );
}

/**
 * Brings the database to the newest version; returns how many migrations ran. Throws, changing nothing, when a
 * migration that ran before has another text now, or when the database is newer than this program.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<number> {
  return database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${lockKeys.migrations})`;
    await tx`create table if not exists schema_migrations (version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())`;
    const applied = await tx<
      { version: number; name: string; sha256: string }[]
    >`select version, name, sha256 from schema_migrations order by version`;
    const newest = migrations.at(-1)?.version ?? 0;
    for (const row of applied) {
      const mine = migrations.find((m) => m.version === row.version);
      if (mine === undefined)
        throw new Error(
          `The database has migration ${row.version} (${row.name}), this program knows ${newest} only: start the newer program.`,
        );
      if (digest(mine.text) !== row.sha256)
        throw new Error(
          `Migration ${row.version} (${row.name}) was changed after it had run: write a new one instead.`,
        );
    }
    const pending = migrations.filter((m) => m.version > applied.length);
    for (const migration of pending) {
      await tx.unsafe(migration.text);
      await tx`insert into schema_migrations (version, name, sha256) values (${migration.version}, ${migration.name}, ${digest(migration.text)})`;
    }
    return pending.length;
  });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
