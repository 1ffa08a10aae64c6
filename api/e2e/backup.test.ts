// Backups as an operator has them made: on the schedule, into a bucket, by the command while everything serves; and
// `gatehouse restore` into another installation. Only the control plane runs: nothing of it needs a data plane.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { defaultSettings } from '#settings';
import { openEmbedded } from '../db/client.js';
import { seedSettings } from '../settings/store.js';
import { copyMigratedTemplate } from '../testing/database-templates.js';
import { callApi, freePorts, root, startUp, stop, type Up } from '../testing/processes/up.js';
import { startS3, type S3Server } from '../testing/servers/s3.js';
import { makeDirectory } from '../testing/temporary.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const [initial, password] = ['Quiet-river-stone-41', 'Loud-brook-pebble-52'];
const email = 'owner@example.org';
const isServing = /control plane on/;

interface Installation {
  readonly home: string;
  readonly port: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** `seed` tells its secrets apart from those of another one. */
async function installation(t: Test, s3: S3Server, seed: string): Promise<Installation> {
  const home = await makeDirectory(t, 'backup');
  const envFile = join(home, '.env');
  const lines = {
    GATEHOUSE_DATA: join(home, 'data'),
    AUTH_SESSION_SECRET: seed.repeat(40),
    SETTINGS_ENCRYPTION_SECRET: seed.repeat(41),
    DATA_ADMIN_TOKEN: seed.repeat(42),
    ADMIN_EMAIL: email,
    ADMIN_INITIAL_PASSWORD: initial,
    BACKUP_TO: 's3://copies/nightly',
    BACKUP_S3_ENDPOINT: s3.url,
    BACKUP_S3_REGION: 'eu-test-1',
    BACKUP_S3_ACCESS_KEY_ID: s3.accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: `"${s3.secretAccessKey}"`,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(envFile, text.join(''), { mode: 0o600 });
  const ports = await freePorts();
  return { home, port: ports.API_PORT, variables: { ...ports, GATEHOUSE_ENV_FILE: envFile } };
}

/** A database whose settings have a schedule: the first backup is due at once. */
async function fillDatabase(t: Test, { home }: Installation): Promise<void> {
  const directory = await copyMigratedTemplate(t);
  const database = await openEmbedded(directory);
  const settings = { ...defaultSettings(), backup_every_hours: 24, backup_keep: 1 };
  await seedSettings(database, new Date(), async () => ({ settings, summary: 'with a schedule' }));
  await database.close();
  await mkdir(join(home, 'data'));
  await rename(directory, join(home, 'data', 'db'));
}

async function serve(t: Test, { variables }: Installation): Promise<Up> {
  const serving = startUp(t, variables, ['control-plane']);
  await serving.until(isServing);
  return serving;
}

async function run(t: Test, { variables }: Installation, ...command: string[]) {
  const child = startUp(t, variables, command);
  return { code: await child.ended, said: child.said() };
}

async function tokenOf({ port }: Installation, secret: string): Promise<string> {
  const { status, body } = await callApi(port, 'POST', '/api/login', { email, password: secret });
  if (status !== 200) throw new Error(`the login answered ${status}`);
  return body.token ?? '';
}

interface Status {
  readonly last_good_at: string | null;
  readonly next_at: string | null;
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** What the API says once `count` backups have ended. */
async function afterRuns({ port }: Installation, token: string, count: number): Promise<Status> {
  let found: Status | null = null;
  await until(`${count} backups have ended`, async () => {
    found = (await callApi(port, 'GET', '/api/backup', null, token)).body as unknown as Status;
    return found.items.length === count && found.items[0]?.['state'] !== 'running';
  });
  if (found === null) throw new Error('nothing was answered');
  return found;
}

const namesIn = (s3: S3Server, folder: string): string[] =>
  [...s3.objects.keys()].filter((name) => name.includes(`${folder}/`)).map((name) => name.split('/').at(-1) ?? '');

t.test('on the schedule into a bucket, and from there into another installation', async (t) => {
  const s3 = await startS3(t);
  const [one, two] = [await installation(t, s3, 'a'), await installation(t, s3, 'z')];
  await fillDatabase(t, one);
  t.match(await run(t, one, 'backup'), { code: 1, said: /gatehouse backup key/ }, 'secrets are never left in clear');
  const key = join(one.home, 'key');
  await writeFile(key, (await run(t, one, 'backup', 'key')).said);
  await chmod(key, 0o600);
  const first = await serve(t, one);

  const forced = await tokenOf(one, initial);
  await callApi(one.port, 'POST', '/api/account/password', { current: initial, password }, forced);
  const token = await tokenOf(one, password);
  const scheduled = await afterRuns(one, token, 1);
  t.match(scheduled.items[0], { state: 'made', actor: null, checked: 'bytes', error: null });
  t.same(namesIn(s3, 'nightly'), [scheduled.items[0]?.['name']], 'it is in the bucket');
  t.equal(Date.parse(scheduled.next_at ?? '') - Date.parse(scheduled.last_good_at ?? ''), 24 * 3600_000);
  t.equal((await callApi(one.port, 'POST', '/api/backup/run', null, token)).status, 202);
  const asked = await afterRuns(one, token, 2);
  t.match(asked.items[0], { state: 'made', actor: email, checked: 'bytes', error: null });
  const [name = ''] = namesIn(s3, 'nightly');
  t.same(namesIn(s3, 'nightly'), [asked.items[0]?.['name']], 'one is kept: the newest');

  await t.test('the command while it serves', (t) => byCommand(t, s3, one, key));
  const { body } = await callApi(one.port, 'GET', '/api/health', null);
  const version = execFileSync(process.execPath, [join(root, 'bin/gatehouse'), 'version', '--json'], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '' },
  });
  t.equal((body as { release?: string }).release, (JSON.parse(version) as { release: string }).release);
  t.equal(await stop(first), 0);

  const address = `s3://copies/nightly/${name}`;
  const refused = [
    [[address], /say -y/],
    [[address, '-y'], /is encrypted/],
    [[join(one.home, 'none.tar'), '-y'], /there is no such file/],
  ] as const;
  for (const [words, said] of refused)
    t.match(await run(t, two, 'restore', ...words), { code: 1, said }, words.join(' '));
  t.match(await run(t, two, 'restore', address, '-y', '--key-file', key), {
    code: 0,
    said: /every table was compared/,
  });
  const environment = await readFile(join(two.home, '.env'), 'utf8');
  t.match(environment, `SETTINGS_ENCRYPTION_SECRET=${'a'.repeat(41)}\n`, 'stored secrets can be read');
  const second = await serve(t, two);
  t.not(await tokenOf(two, password), '', 'the login of the first installation works in the second');
  t.equal(await stop(second), 0);
});

async function byCommand(t: Test, s3: S3Server, one: Installation, key: string): Promise<void> {
  const to = ['--to', 's3://copies/by-hand'];
  const made = await run(t, one, 'backup', ...to, '--check', '--json');
  t.match([made.code, JSON.parse(made.said)], [0, { checked: 'complete', secrets: 'sealed', removed: [] }]);
  const [name = ''] = namesIn(s3, 'by-hand');
  const address = `s3://copies/by-hand/${name}`;
  t.match(await run(t, one, 'backup', 'verify', address, '--key-file', key), { code: 0, said: /every hash equal/ });
  t.match(await run(t, one, 'restore', address, '-y', '--key-file', key), { code: 1, said: /in use by process/ });
  const copies = join(one.home, 'copies');
  t.match(await run(t, one, 'backup', '--to', copies), { code: 0, said: /secrets sealed/ });
  const listed = await run(t, one, 'backup', 'list', '--to', copies);
  t.match(listed, { code: 0, said: (await readdir(copies)).join() });
  t.match(listed.said, /^gatehouse-\d{8}T\d{6}Z\.tar /);
  const forged = await fetch(`http://127.0.0.1:${one.port}/api/backup/database-copy`, { method: 'POST' });
  t.equal(forged.status, 401, 'the copy is for commands of this host');
  const left = (await readdir(join(one.home, 'data'))).filter((entry) => /copy-|partial|restoring-/.test(entry));
  t.same(left, [], 'no copy is left');
}
