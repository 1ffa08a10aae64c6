// `gatehouse backup` while everything serves, and `gatehouse restore` into another installation, as an operator does
// it.
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { callApi, freePorts, isUp, makeHome, startUp, stop } from '../testing/processes/up.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { testMsMax } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const password = 'Quiet-river-stone-41';
const email = 'owner@example.org';

async function installation(t: Test, rules: string, first: string): Promise<Record<string, string>> {
  const home = await makeHome(t);
  const envFile = join(home, '.env');
  await writeFile(envFile, `GATEHOUSE_DATA=${join(home, 'data')}\nCRS_DIR=${rules}\n${first}`, { mode: 0o600 });
  return { ...(await freePorts()), GATEHOUSE_ENV_FILE: envFile, WAF_BIND: '127.0.0.1', DATA_WORKERS: '1' };
}

async function run(t: Test, variables: Readonly<Record<string, string>>, ...command: string[]) {
  const child = startUp(t, variables, command);
  return { code: await child.ended, said: child.said() };
}

t.test('backup of a running installation, restored into another one', async (t) => {
  const rules = await writeRuleSet(t);
  const one = await installation(t, rules, `ADMIN_EMAIL=${email}\nADMIN_INITIAL_PASSWORD=${password}\n`);
  const home = join(one['GATEHOUSE_ENV_FILE'] ?? '', '..');
  const first = startUp(t, one);
  await first.until(isUp);
  t.match(await run(t, one, 'backup'), { code: 1, said: /gatehouse backup key/ }, 'secrets are never left in clear');
  const made = await run(t, one, 'backup', 'key');
  const key = join(home, 'key');
  await writeFile(key, made.said);
  await chmod(key, 0o600);
  t.match(await run(t, one, 'backup', 'key'), { code: 1, said: /set already/ });
  const copies = join(home, 'copies');
  t.match(await run(t, one, 'backup', '--to', copies), { code: 0, said: /secrets sealed/ });
  t.match(await run(t, one, 'backup', '--to', copies, '--encrypt', '--keep', '1'), {
    code: 0,
    said: /removed 1 older/,
  });
  const [name = ''] = await readdir(copies);
  t.match(name, /\.tar\.age$/, 'the newest stays');
  const file = join(copies, name);
  t.match(await run(t, one, 'backup', 'verify', file, '--key-file', key), { code: 0, said: /every hash equal/ });
  const forged = await fetch(`http://127.0.0.1:${one['API_PORT']}/api/backup/database-copy`, { method: 'POST' });
  t.equal(forged.status, 401, 'the copy is for commands of this host');
  t.match(await run(t, one, 'restore', file, '-y', '--key-file', key), { code: 1, said: /in use by process/ });
  t.same(
    (await readdir(join(home, 'data'))).filter((entry) => /copy-|partial|restoring-/.test(entry)),
    [],
    'no copy is left',
  );

  const two = await installation(t, rules, '');
  t.match(await run(t, two, 'restore', file), { code: 1, said: /say -y/ });
  t.match(await run(t, two, 'restore', file, '-y'), { code: 1, said: /is encrypted/ });
  t.match(await run(t, two, 'restore', join(home, 'none.tar'), '-y'), { code: 1, said: /there is no such file/ });
  t.match(await run(t, two, 'restore', file, '-y', '--key-file', key), { code: 0, said: /every table was compared/ });
  const secretOf = async (variables: Record<string, string>): Promise<string | undefined> =>
    /^SETTINGS_ENCRYPTION_SECRET=(.+)$/m.exec(await readFile(variables['GATEHOUSE_ENV_FILE'] ?? '', 'utf8'))?.[1];
  t.equal(await secretOf(two), await secretOf(one), 'stored secrets can be read');
  const second = startUp(t, two);
  await second.until(isUp);
  const login = await callApi(two['API_PORT'] ?? '', 'POST', '/api/login', { email, password });
  t.equal(login.status, 200, 'the login of the first installation works in the second');
  t.equal(await stop(second), 0);
  t.equal(await stop(first), 0);
});
