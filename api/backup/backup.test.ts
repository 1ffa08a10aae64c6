// Backups: every row of every table, from each database into each, while the source is in use; and what is refused.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { extract, pack } from 'tar-stream';
import t, { type Test } from 'tap';
import { allModules } from '../app.js';
import { openEmbedded, openPostgres, type Database } from '../db/client.js';
import { startTestApp, testPassword } from '../testing/app.js';
import { copyMigratedTemplate } from '../testing/database-templates.js';
import { onBothDatabases, startCluster, withoutPostgres } from '../testing/databases.js';
import { makeDirectory } from '../testing/temporary.js';
import { createBackup } from './create.js';
import { BackupError } from './manifest.js';
import { readBackup, restoreBackup } from './restore.js';
import { createKey } from './seal.js';

const passphrase = 'a passphrase for tests only';
const now = new Date('2026-03-01T12:00:00Z');
const secrets = 'AUTH_SESSION_SECRET=of-the-first-machine\n';

/** Values that a careless format would change. */
const texts = [
  '',
  ' ',
  '"',
  "'",
  '\\',
  '\\N',
  '(,)',
  'a\nb\r\n\tc',
  'ünïcødé 😀 \u202e',
  '{"a":[1,null]}',
  'null',
  '\u0001',
];

const privateKey = `-----BEGIN ${'PRIVATE'} KEY-----\nno real one\n-----END ${'PRIVATE'} KEY-----\n`;

async function fill(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin', 'owner@example.org');
  const saved = await at.call('PATCH', '/api/settings', {
    token: admin.token,
    body: { paranoia_level: 2, siem_webhook_url: 'https://siem.example.org/x' },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.ok(saved.status < 300 || saved.status === 428 || saved.status === 415, 'settings were asked for');
  const { sql } = database;
  for (const day of ['2026-02-27', '2026-02-28'])
    await sql.unsafe(
      `create table if not exists request_records_${day.replaceAll('-', '')} partition of request_records ` +
        `for values from ('${day}') to ('${day}'::date + 1)`,
    );
  await sql`create table odd_values (
    id bigint generated always as identity primary key, body text, raw bytea, list text[], size numeric,
    ratio double precision, at timestamptz, span interval, doubled numeric generated always as (size * 2) stored)`;
  for (const text of texts)
    await sql`insert into odd_values (body, raw, list, size, ratio, at, span)
      values (${text}, ${Buffer.from(text)}, array[${text}, null]::text[], 12345678901234567890.10, 0.1::float8 + 0.2,
        '2026-01-01 00:00:00.123456+04', '1 mon 2 days 03:04:05.6')`;
  await sql`create function keep_size() returns trigger language plpgsql as
    $$ begin raise exception 'the trigger ran'; end $$`;
  await sql`create trigger keep_size before insert on odd_values for each row execute function keep_size()`;
}

/** The table is no migration's: the schema of the target gets it the way a later release would bring it. */
const withOddValues = async () => {
  const modules = await allModules();
  const text = `create table odd_values (
    id bigint generated always as identity primary key, body text, raw bytea, list text[], size numeric,
    ratio double precision, at timestamptz, span interval, doubled numeric generated always as (size * 2) stored);
    create function keep_size() returns trigger language plpgsql as $$ begin raise exception 'the trigger ran'; end $$;
    create trigger keep_size before insert on odd_values for each row execute function keep_size();`;
  return [...modules, { name: 'odd', migrations: [{ number: 1, name: 'values', text }] }];
};

async function noteMigration({ sql }: Database, text: string): Promise<void> {
  await sql`insert into schema_migrations (version, module, number, name, sha256)
    select max(version) + 1, 'odd', 1, 'values', ${createHash('sha256').update(text).digest('hex')}
    from schema_migrations`;
}

/** Every table as one text, computed by the database itself. */
async function contentsOf({ sql }: Database): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and relname not like 'sessions%'`;
  const contents: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await sql.unsafe<{ content: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), ',' order by md5(t::text))), '') as content
       from "${name}" t`,
    );
    contents[name] = row?.content ?? '';
  }
  return contents;
}

interface Target {
  readonly url: string | null;
  readonly directory: string;
}

const targets: readonly [string, (t: Test) => Promise<Target>][] = [
  ['the embedded database', async (t) => ({ url: null, directory: await makeDirectory(t, 'restored') })],
  [
    'PostgreSQL',
    async (t) => ({
      url: await (await startCluster(t)).create(),
      directory: await makeDirectory(t, 'restored'),
    }),
  ],
];

const openTarget = ({ url, directory }: Target): Promise<Database> =>
  url === null ? openEmbedded(join(directory, 'db')) : Promise.resolve(openPostgres(url));

async function dataDirectory(t: Test): Promise<string> {
  const directory = await makeDirectory(t, 'source');
  await mkdir(join(directory, 'tls'));
  await mkdir(join(directory, 'cache'));
  await writeFile(join(directory, 'tls/a site.pem'), 'certificate');
  await writeFile(join(directory, 'tls/a site.key'), privateKey, { mode: 0o600 });
  await writeFile(join(directory, '.release'), '0.0.1');
  await writeFile(join(directory, 'cache/x'), 'made anew');
  await writeFile(join(directory, '.env'), secrets);
  return directory;
}

async function roundTrip(t: Test, database: Database): Promise<void> {
  await fill(t, database);
  const modules = await withOddValues();
  await noteMigration(database, modules.at(-1)?.migrations[0]?.text ?? '');
  const source = await dataDirectory(t);
  const { identity, recipient } = await createKey();
  for (const isSealedWhole of [false, true]) {
    const to = join(source, `backup-${isSealedWhole}.tar`);
    const made = await createBackup({
      database,
      kind: database.kind,
      dataDirectory: source,
      environmentFile: join(source, '.env'),
      release: '1',
      now,
      to,
      lock: { recipients: [recipient] },
      isSealedWhole,
    });
    t.equal(made.bytes, (await readFile(to)).length);
    t.notOk((await readFile(to)).includes('of-the-first-machine'), 'secrets are sealed');
    t.notOk((await readFile(to)).includes('PRIVATE KEY'), 'and private keys');
    t.same(
      readdirSync(source).filter((name) => name.includes('partial')),
      [],
      'nothing partial is left',
    );
  }
  const expected = await contentsOf(database);
  t.ok(Object.keys(expected).length > 100, `${Object.keys(expected).length} tables`);
  for (const [name, makeTarget] of targets)
    await t.test(`into ${name}`, { skip: name === 'PostgreSQL' ? withoutPostgres : false }, async (t) => {
      const target = await makeTarget(t);
      const left = join(target.directory, `.restoring-${randomUUID()}.partial`);
      await mkdir(left);
      // twice where it is cheap: a restore over a restore ends in the same state
      for (const file of target.url === null ? ['backup-true.tar'] : ['backup-true.tar', 'backup-false.tar']) {
        let environment: string | null = null;
        const { manifest } = await restoreBackup({
          file: join(source, file),
          key: { identity },
          dataDirectory: target.directory,
          databaseUrl: target.url,
          modules,
          now,
          prepareEnvironment: (text) => () => void (environment = text),
        });
        t.equal(environment, secrets, 'the environment comes back');
        t.equal(manifest.database, database.kind);
        t.equal(readFileSync(join(target.directory, 'tls/a site.pem'), 'utf8'), 'certificate');
        const files = readdirSync(target.directory);
        t.notOk(files.includes('cache') || files.includes('.release'), 'what is made anew or of the host stays behind');
        const key = join(target.directory, 'tls/a site.key');
        t.equal(readFileSync(key, 'utf8'), privateKey, 'a private key is opened');
        t.equal(statSync(key).mode & 0o077, 0, 'and for its owner alone');
        t.same(
          files.filter((name) => name.startsWith('.restoring-')),
          [],
          'nothing is left of a restore that was killed',
        );
        const restored = await openTarget(target);
        t.same(await contentsOf(restored), expected, `every table is equal (${file})`);
        t.same(await restored.sql`select 1 from sessions where revoked_at is null`, [], 'sessions are ended');
        await t.rejects(
          restored.sql`insert into odd_values (body) values ('x')`.execute(),
          /the trigger ran/,
          'triggers are on again',
        );
        await restored.sql`alter table odd_values disable trigger keep_size`;
        const [next] = await restored.sql<{ id: number }[]>`insert into odd_values (body) values ('x') returning id`;
        t.ok(Number(next?.id) > texts.length, 'numbers go on');
        await t.rejects(
          restored.sql`insert into sessions select 'x', 'nobody', now(), now(), now(), null, '', '', ''`.execute(),
          /foreign key/,
          'foreign keys are on again',
        );
        const at = await startTestApp(restored);
        t.equal((await at.logIn('owner@example.org', testPassword)).status, 200, 'a person can log in');
        await at.close();
        await restored.close();
      }
    });
}

t.test('a backup holds every row, from each database into each', (t) =>
  onBothDatabases(t, 'backup and restore', roundTrip),
);

t.test('the embedded database is copied while it is written', async (t) => {
  const directory = await copyMigratedTemplate(t);
  const database = await openEmbedded(directory);
  t.teardown(() => database.close());
  await database.sql`create table accounts (name text primary key, amount integer)`;
  await database.sql`insert into accounts values ('a', 1000), ('b', 0)`;
  let moved = 0;
  let isOver = false;
  t.teardown(() => void (isOver = true));
  const moving = (async () => {
    while (!isOver) {
      await database.sql.begin(async (tx) => {
        await tx`update accounts set amount = amount - 1 where name = 'a'`;
        await tx`update accounts set amount = amount + 1 where name = 'b'`;
      });
      moved++;
    }
  })();
  for (let round = 0; round < 3; round++) {
    const before = moved;
    if (database.copyFiles === null) throw new Error('the embedded database has files');
    const path = await database.copyFiles();
    const after = moved;
    const copy = await openEmbedded(path);
    const rows = await copy.sql<{ name: string; amount: number }[]>`select name, amount from accounts order by name`;
    await copy.close();
    t.equal((rows[0]?.amount ?? 0) + (rows[1]?.amount ?? 0), 1000, 'whole transactions only');
    const seen = rows[1]?.amount ?? -1;
    t.ok(seen >= before && seen <= after + 1, `every one that was committed (${before} <= ${seen} <= ${after})`);
  }
  isOver = true;
  await moving;
});

/** The archive again, with other entries. */
async function rewrite(file: string, change: (name: string, body: Buffer) => Buffer | null, more: string[] = []) {
  const reading = Readable.from([await readFile(file)]).pipe(extract() as never) as unknown as ReturnType<
    typeof extract
  >;
  const archive = pack();
  for await (const entry of reading) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = change(entry.header.name, Buffer.concat(chunks));
    if (body !== null) archive.entry({ name: entry.header.name }, body);
  }
  for (const name of more) archive.entry({ name }, 'x');
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

t.test('what is refused leaves the installation as it was', async (t) => {
  const directory = await copyMigratedTemplate(t);
  const database = await openEmbedded(directory);
  const source = await dataDirectory(t);
  const file = join(source, 'backup.tar');
  const lock = { passphrase };
  const common = { database, kind: 'embedded', dataDirectory: source, environmentFile: join(source, '.env') } as const;
  await createBackup({ ...common, release: '1', now, to: file, lock, isSealedWhole: false });
  const sealed = join(source, 'backup.tar.age');
  await createBackup({ ...common, release: '1', now, to: sealed, lock, isSealedWhole: true });
  await database.close();
  const bytes = await readFile(file);
  const inManifest =
    (from: string | RegExp, to: string | ((...parts: string[]) => string)) => (name: string, body: Buffer) =>
      name === 'manifest.json' ? Buffer.from(body.toString().replace(from, to as string)) : body;
  const same = (_: string, body: Buffer): Buffer => body;
  const key = { passphrase };
  const table: [string, Buffer, { passphrase: string } | null, RegExp][] = [
    ['empty', Buffer.alloc(0), key, /is empty|damaged/],
    ['text', Buffer.from('x'.repeat(5000)), key, /damaged|no backup/],
    ['truncated', bytes.subarray(0, Math.floor(bytes.length / 2)), key, /truncated|damaged/],
    [
      'cut after an entry',
      await rewrite(file, (name, body) => (name === 'tables/users.jsonl.gz' ? null : body)),
      key,
      /truncated/,
    ],
    [
      'a changed table',
      await rewrite(file, (name, body) => (name.includes('settings_versions') ? Buffer.concat([body, body]) : body)),
      key,
      /damaged/,
    ],
    ['an added entry', await rewrite(file, same, ['files/../../x']), key, /does not list/],
    [
      'a listed way out',
      await rewrite(
        file,
        inManifest(
          '"entries": [',
          '"entries": [{"path":"files/../../x","bytes":1,"sha256":"' +
            createHash('sha256').update('x').digest('hex') +
            '"},',
        ),
        ['files/../../x'],
      ),
      key,
      /does not list/,
    ],
    ['a newer format', await rewrite(file, inManifest('"format": 2', '"format": 3')), key, /format 3/],
    [
      'a newer release',
      await rewrite(file, inManifest(/"module": "core",\s+"number": \d+/, '"module": "core", "number": 999')),
      key,
      /newer release/,
    ],
    [
      'SQL for a partition',
      await rewrite(
        file,
        inManifest(
          '"partitions": []',
          `"partitions": [{"name":"records_x","parent":"request_records","bound":"DEFAULT; drop table users"}]`,
        ),
      ),
      key,
      /limits that are none/,
    ],
    ['other columns', await rewrite(file, inManifest('"only_row"', '"only_raw"')), key, /does not fit this release/],
    [
      'another count',
      await rewrite(
        file,
        inManifest(/("name": "schema_migrations"[^}]*"rows": )\d+/, (_: string, before: string) => `${before}777`),
      ),
      key,
      /differs from the backup/,
    ],
    ['no key', bytes, null, /sealed/],
    ['another key', bytes, { passphrase: 'another passphrase' }, /cannot be opened/],
    ['sealed whole, no key', await readFile(sealed), null, /is encrypted/],
    ['sealed whole, another key', await readFile(sealed), { passphrase: 'another passphrase' }, /cannot be opened/],
    [
      'sealed whole, changed',
      Buffer.concat([(await readFile(sealed)).subarray(0, -20), Buffer.alloc(20)]),
      key,
      /damaged|cannot be opened/,
    ],
  ];
  const target = await makeDirectory(t, 'target');
  const modules = await allModules();
  for (const [name, body, given, message] of table) {
    const wrong = join(source, 'wrong.tar');
    await writeFile(wrong, body);
    const restoring = restoreBackup({
      file: wrong,
      key: given,
      dataDirectory: target,
      databaseUrl: null,
      modules,
      now,
      prepareEnvironment: () => () => void t.fail('nothing is taken over'),
    });
    await t.rejects(restoring, { name: 'BackupError', message }, name);
    t.match(readdirSync(target).join(), /^(?:db)?$/, `${name}: nothing was written`);
    t.notOk(existsSync(join(target, 'db/PG_VERSION')), `${name}: no database`);
  }
  t.match(await readBackup(file, key, source), { release: '1' }, 'the backup itself is fine');
  const given = { dataDirectory: target, databaseUrl: null, modules, now, prepareEnvironment: () => () => undefined };
  const other = (): never => {
    throw new BackupError('other secrets are in force');
  };
  await t.rejects(restoreBackup({ ...given, file, key, prepareEnvironment: other }), { message: /other secrets/ });
  t.same(readdirSync(target).join(), 'db', 'they are refused before anything is written');
  const first = join(source, 'first-of-format-2.tar');
  await writeFile(first, await rewrite(file, inManifest(/"sealed": \[[^\]]*\],\s*/, '')));
  const { manifest } = await restoreBackup({ file: first, key, ...given });
  t.equal(manifest.sealed, undefined);
  t.equal(readFileSync(join(target, 'tls/a site.key'), 'utf8'), privateKey, 'without the list the name says it');
  const unknown = { release: '1', now, to: file, lock: { recipients: ['age1nobody'] }, isSealedWhole: false };
  await t.rejects(createBackup({ ...common, ...unknown }), BackupError);
});
