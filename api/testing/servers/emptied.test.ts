// A database emptied between suites is like a new one: rows, rows of migrations, sequences; and what is more than rows
// is noticed.
import t from 'tap';
import type { Database } from '../../db/client.js';
import { onBothDatabases, onEmbeddedDatabase } from '../databases.js';
import { emptyAgain, readUntouched } from './emptied.js';

const tables = `create table parents (id bigint generated always as identity primary key,
    name text);
  create table children (id serial primary key, parent bigint references parents,
    at timestamptz, bytes bytea, body jsonb);
  insert into parents (name) values ('it''s seeded');
  insert into children (parent, at, bytes, body)
    values (1, '2026-01-02T03:04:05.678901Z', '\\x00ff', '{"a": [1, null]}')`;
const all = async ({ sql }: Database): Promise<unknown> => [
  await sql`select * from parents order by id`,
  await sql`select id, parent, at::text, bytes, body::text from children order by id`,
];

const altered: Readonly<Record<string, string>> = {
  'a table more': 'create table another (id int)',
  'a column more': 'alter table children add column more int',
  'a column less': 'alter table children drop column body',
  'a table anew': 'drop table children; create table children (id int)',
  'a constraint': 'alter table parents add check (length(name) < 900)',
  'a default': "alter table parents alter column name set default 'x'",
  'an index': 'create index more on children (id)',
  'a function': 'create function more() returns int language sql as $$ select 1 $$',
  'a schema': 'create schema more',
};

t.test('what a suite wrote is gone', (t) =>
  onBothDatabases(t, 'emptying', async (t, database) => {
    const { sql } = database;
    await sql.unsafe(tables);
    const untouched = await readUntouched(database);
    const before = await all(database);
    for (const round of [1, 2]) {
      await sql`insert into parents (name) values ('a'), ('b')`;
      await sql`insert into children (parent) values (2), (3)`;
      await sql`delete from children where id = 1`;
      await sql`update parents set name = 'changed' where id = 1`;
      t.equal(await emptyAgain(database, untouched), true);
      t.strictSame(await all(database), before, `round ${round}`);
      t.strictSame(await readUntouched(database), untouched);
    }
    const [next] = await sql`insert into parents (name) values ('next') returning id`;
    t.equal(String(next?.['id']), '2', 'sequences go on where the migrations left them');
    t.equal(await emptyAgain(database, untouched), true);
  }),
);

t.test('what is more than rows is left to a new migration', (t) =>
  onBothDatabases(t, 'altering', async (t, database) => {
    await database.sql.unsafe(tables);
    for (const [name, statement] of Object.entries(altered)) {
      const untouched = await readUntouched(database);
      await database.sql.unsafe(statement);
      t.equal(await emptyAgain(database, untouched), false, name);
    }
    await database.sql`drop schema more cascade`;
  }),
);

t.test('a suite after one that altered the schema finds the migrated one', async (t) => {
  await onEmbeddedDatabase(t, 'first', async (t, { sql }) => {
    await sql`create table left_behind (id int)`;
    t.equal((await sql`select count(*)::int as n from users`)[0]?.['n'], 0);
  });
  await onEmbeddedDatabase(t, 'second', async (t, { sql }) => {
    t.equal((await sql`select to_regclass('left_behind') as name`)[0]?.['name'], null);
  });
});
