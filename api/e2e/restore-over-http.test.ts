// A backup that is verified, and a restore that is asked for, over HTTP: the control plane ends, is started again, and
// has the state of the backup. Only the control plane runs, with what a container gives it: secrets in its environment,
// and a device in place of .env.
import { readdir, rename, mkdir, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { copyMigratedTemplate } from '../testing/database-templates.js';
import { callApi, freePorts, startUp, stop } from '../testing/processes/up.js';
import { makeDirectory } from '../testing/temporary.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const [initial, password] = ['Quiet-river-stone-41', 'Loud-brook-pebble-52'];
const email = 'owner@example.org';
const isServing = /control plane on/;

async function installation(t: Test) {
  const home = await makeDirectory(t, 'restore');
  const given = {
    GATEHOUSE_DATA: join(home, 'data'),
    AUTH_SESSION_SECRET: 'a'.repeat(40),
    SETTINGS_ENCRYPTION_SECRET: 'b'.repeat(41),
    DATA_ADMIN_TOKEN: 'c'.repeat(42),
    ADMIN_EMAIL: email,
    ADMIN_INITIAL_PASSWORD: initial,
    BACKUP_TO: join(home, 'copies'),
  };
  await mkdir(join(home, 'data'));
  await rename(await copyMigratedTemplate(t), join(home, 'data', 'db'));
  const ports = await freePorts();
  return { home, port: ports.API_PORT, variables: { ...ports, ...given, GATEHOUSE_ENV_FILE: devNull } };
}

t.test('30.backups: verified, and restored over HTTP', async (t) => {
  const { home, port, variables: bare } = await installation(t);
  const keyed = startUp(t, bare, ['backup', 'key']);
  await keyed.ended;
  const key = /AGE-SECRET-KEY-1[0-9A-Z]+/.exec(keyed.said())?.[0] ?? '';
  t.match(keyed.said(), /goes into BACKUP_RECIPIENT/, 'a device keeps nothing');
  const variables = { ...bare, BACKUP_RECIPIENT: /age1[0-9a-z]+/.exec(keyed.said())?.[0] ?? '' };
  const first = startUp(t, variables, ['control-plane']);
  await first.until(isServing);
  const logIn = async (secret: string): Promise<string> =>
    (await callApi(port, 'POST', '/api/login', { email, password: secret })).body.token ?? '';
  await callApi(port, 'POST', '/api/account/password', { current: initial, password }, await logIn(initial));
  const token = await logIn(password);
  const call = async (method: string, path: string, body: object | null = null, who = token) => {
    const reply = await callApi(port, method, `/api/v1${path}`, body, who);
    return { status: reply.status, body: reply.body as unknown as Record<string, any> };
  };
  const applications = async (who: string): Promise<string[]> =>
    ((await call('GET', '/applications', null, who)).body['items'] as { name: string }[]).map(({ name }) => name);

  t.equal((await call('POST', '/applications', { name: 'kept' })).status, 201);
  t.equal((await call('PATCH', '/backups/schedule', { encrypt: false })).status, 200);
  t.equal((await call('POST', '/backups')).status, 202);
  await until('a backup is made', async () => (await call('GET', '/backups')).body['total'] === 1);
  await until('it is noted', async () => (await call('GET', '/backups/made')).body['items'][0].state === 'made');
  const id = String((await call('GET', '/backups')).body['items'][0].id);

  const run = await call('POST', `/backups/${id}/verify`, {});
  t.equal(run.status, 202, JSON.stringify(run.body));
  const ended = async () => (await call('GET', `/runs/${String(run.body['id'])}`)).body;
  await until('it is verified', async () => (await ended())['status'] !== 'running');
  t.match(await ended(), { status: 'succeeded', result: { restored: true, secrets: 'sealed' } });
  t.strictSame(
    (await readdir(join(home, 'data', 'backups'))).filter((name) => name.startsWith('.')),
    [],
    'no scratch',
  );

  await writeFile(join(home, 'key'), key);
  const words = ['backup', 'environment', join(home, 'copies', id), `--key-file=${join(home, 'key')}`];
  const printed = startUp(t, variables, words);
  t.equal(await printed.ended, 0, printed.said());
  t.match(printed.said(), `SETTINGS_ENCRYPTION_SECRET=${'b'.repeat(41)}\n`, 'the secrets in it, for another container');

  t.equal((await call('POST', '/applications', { name: 'since then' })).status, 201);
  const asked = await call('POST', `/backups/${id}/restore`, { confirm: id, key });
  t.equal(asked.status, 202, JSON.stringify(asked.body));
  t.equal(await first.ended, 75, first.said());
  const second = startUp(t, variables, ['control-plane']);
  await second.until(isServing);
  t.equal((await callApi(port, 'GET', '/api/v1/applications', null, token)).status, 401, 'all sessions have ended');
  const again = await logIn(password);
  t.strictSame(await applications(again), ['kept']);
  const listed = (await call('GET', '/backups', null, again)).body;
  t.equal(listed['total'], 2, 'the state before is a backup, too');
  t.match(listed['last_restore'], { id, ok: true, by: email, said: /every table was compared/ });
  const left = (await readdir(join(home, 'data'))).filter((name) => /^restore-|partial|\.key-/.test(name));
  t.strictSame(left, [], 'neither the wish nor the key is left');
  const verified = await call('GET', '/audit/verify', null, again);
  t.match(verified.body, { ok: true }, 'the chain of the restored log goes on');
  t.equal(await stop(second), 0);
});
