// The five lines of docs/licence.md as they stand there, in a copy of the checkout, up to five protected sites.
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { copyMigratedTemplate } from '#api/testing/database-templates';
import { freePort } from '#api/testing/free-port';
import { bareEnvironment, makeDirectory } from '#api/testing/temporary';
import { testMsMax, until } from '#api/testing/waiting';
import { root } from '../environment/directories.js';

t.setTimeout(testMsMax);

const run = promisify(execFile);
const passwords = ['Quiet-river-stone-41', 'Other-river-stone-42'] as const;

/** A checkout of its own: the commands write the key into it, and the build into its build/. */
async function copyOfCheckout(t: Test): Promise<string> {
  const copy = await makeDirectory(t, 'vendor');
  for (const name of [
    'bin',
    'build',
    'api',
    'engine/native/build',
    'package.json',
    'docs/licence.md',
    'fixtures/crs.lock.json',
  ])
    await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function commandsOf(copy: string): Promise<string> {
  const page = await readFile(join(copy, 'docs/licence.md'), 'utf8');
  return /<!-- executed by cli\/commands\/licence\.test\.ts -->\n```sh\n([\s\S]+?)```/.exec(page)?.[1] ?? '';
}

t.test('the vendor of an installation of one’s own', async (t) => {
  const copy = await copyOfCheckout(t);
  const home = join(copy, 'home');
  await mkdir(home);
  const env = { ...bareEnvironment(), HOME: home, GATEHOUSE_DATA: join(copy, 'data') };
  const shell = (script: string) => run('/bin/bash', ['-euc', `unset NODE_OPTIONS; ${script}`], { cwd: copy, env });
  const failing = async (script: string): Promise<string> =>
    shell(script).then(
      () => 'it did not fail',
      (error: { stderr: string }) => error.stderr,
    );
  t.match(await failing('bin/gatehouse licence show GH1.x.y'), /no vendor key to verify/, 'before there is a vendor');
  const script = await commandsOf(copy);
  t.equal(script.trim().split('\n').length, 4, 'the page has the commands');
  const { stdout } = await shell(script);
  t.match(stdout, /state +valid[\s\S]*sites +5/);
  t.notMatch(stdout, /PRIVATE KEY/, 'a private key is never printed');
  t.equal((await stat(join(home, 'gatehouse-vendor/private.pem'))).mode & 0o777, 0o600);

  const table: [string, RegExp][] = [
    ['licence keygen --out ~/gatehouse-vendor', /is there already/],
    ['licence issue --key licence.key --customer x --max-domains 5', /no private key/],
    ['licence issue --key ~/gatehouse-vendor/private.pem --customer x --max-domains 0', /whole number/],
    [
      'licence issue --key ~/gatehouse-vendor/private.pem --customer x --max-domains 1 --expires 2026-02-30',
      /a day such/,
    ],
    [
      'licence issue --key ~/gatehouse-vendor/private.pem --customer x --max-domains 1 --expires 2020-01-01',
      /2020-01-01 has passed/,
    ],
    ['licence issue --key none.pem --customer x --max-domains 1', /none\.pem: cannot be read/],
    ['licence issue --key ~/gatehouse-vendor/private.pem --max-domains 1', /--customer is missing/],
    ['licence show /dev/null', /rejected: it is not a licence key/],
    ['licence show licence.key --public-key package.json', /public key cannot be used/],
    ['licence sell', /licence takes/],
  ];
  for (const [command, message] of table) t.match(await failing(`bin/gatehouse ${command}`), message, command);
  t.match(
    await failing('LICENCE_PUBLIC_KEY=~/gatehouse-vendor/private.pem node bin/build.mjs api'),
    /is a private key; the build takes the public one/,
  );
  await mkdir(join(copy, 'data'), { recursive: true });
  await rename(await copyMigratedTemplate(t), join(copy, 'data/db'));
  await fiveSites(t, copy, env);
  await writeFile(join(copy, 'licence-public-key.pem'), '');
  t.match(await failing('node bin/build.mjs api'), /licence key cannot be used/, 'a damaged key stops the build');
});

async function fiveSites(t: Test, copy: string, env: Record<string, string>): Promise<void> {
  const port = String(await freePort());
  const secrets = Object.fromEntries(
    ['AUTH_SESSION_SECRET', 'SETTINGS_ENCRYPTION_SECRET', 'DATA_ADMIN_TOKEN'].map((name) => [name, 'x'.repeat(40)]),
  );
  // tap loads itself into every Node.js by NODE_OPTIONS, and does not get on with a command that has no .js
  const command = 'export NODE_OPTIONS="$1"; exec "$0" bin/gatehouse control-plane > control-plane.log 2>&1';
  const server = spawn('/bin/sh', ['-c', command, process.execPath, env['NODE_OPTIONS'] ?? ''], {
    cwd: copy,
    stdio: 'ignore',
    env: {
      ...env,
      ...secrets,
      API_PORT: port,
      ADMIN_EMAIL: 'owner@example.org',
      ADMIN_INITIAL_PASSWORD: passwords[0],
      BREACHED_PASSWORDS_URL: 'http://127.0.0.1:1/',
      DATA_ADMIN_URLS: 'http://127.0.0.1:1',
    },
  });
  t.teardown(() => void server.kill());
  const call = async (method: string, path: string, body: object | null, token = '') => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: JSON.parse((await reply.text()) || '{}') as Record<string, unknown> };
  };
  await until('the control plane answers', () =>
    call('GET', '/api/health', null).then(
      ({ status }) => status === 200,
      () => {
        if (server.exitCode === null) return false;
        throw new Error(`it ended: ${readFileSync(join(copy, 'control-plane.log'), 'utf8')}`);
      },
    ),
  );
  const log = readFileSync(join(copy, 'control-plane.log'), 'utf8');
  t.match(log, /^first login: owner@example\.org, with ADMIN_INITIAL_PASSWORD of the environment /m);
  t.notOk(log.includes(passwords[0]), 'a log has no password');
  const logIn = async (password: string): Promise<string> =>
    String((await call('POST', '/api/login', { email: 'owner@example.org', password })).body['token']);
  const first = await logIn(passwords[0]);
  await call('POST', '/api/account/password', { current: passwords[0], password: passwords[1] }, first);
  const token = await logIn(passwords[1]);
  const sites = ['', 'a', 'b', 'c', 'd'].map((name) => ({
    name: `site${name}`,
    prefix: `/${name}`,
    upstream: 'http://127.0.0.1:9',
  }));
  const state = async () => (await call('GET', '/api/license', null, token)).body;
  t.match(await state(), { state: 'trial', can_activate: true, next_step: /Activate a licence key/ });
  t.equal((await call('PATCH', '/api/settings', { sites }, token)).status, 403, 'a trial protects one');
  const key = (await readFile(join(copy, 'licence.key'), 'utf8')).trim();
  t.match(await call('POST', '/api/license', { key }, token), {
    status: 200,
    body: { state: 'valid', allowed_domains: 5 },
  });
  const saved = await call('PATCH', '/api/settings', { sites }, token);
  t.equal(saved.status, 200, JSON.stringify(saved.body));
  t.match(await state(), { used_domains: 5, next_step: /Every licensed site is in use/ });
}
