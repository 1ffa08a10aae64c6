// The pages of docs/runbooks: every command is run as it stands there, on a host with real services, and what the
// page promises is looked at afterwards. Pages about the installer are run in deploy/install/runbooks.test.ts.
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startCluster, withoutPostgres } from '../testing/databases.js';
import { commandsOf, startHost, withoutHost, type Ran, type RunbookHost } from '../testing/processes/host.js';
import { callApi, root } from '../testing/processes/up.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const skip = withoutHost('jq', 'openssl');

const email = 'admin@gatehouse.local';
const [initial, chosen] = ['Quiet-river-stone-41', 'Loud-brook-pebble-52'];
/** Pages that are run elsewhere, with a bundle to install from. */
const withInstaller = ['uninstall.md', 'upgrade.md'];

const host: { at?: RunbookHost; password: string } = { password: chosen };
const page = (name: string): string => commandsOf(`docs/runbooks/${name}`);

/** One page in a shell in which the login of the first page was made, if the page has `api`. */
async function follow(t: Test, name: string, given: Readonly<Record<string, string>> = {}): Promise<Ran> {
  if (host.at === undefined) throw new Error('there is no host');
  const text = page(name);
  const lines = /\bapi /.test(text) ? `${page('README.md')}\n${text}` : text;
  const ran = await host.at.sh(lines, { EMAIL: email, PASSWORD: host.password, ...given });
  t.equal(ran.code, 0, `${name}: ${ran.output}`);
  t.notMatch(ran.output, /^(?:null|curl: |jq: )/m, `${name}: every answer is one`);
  t.comment(`${name}: ${(ran.ms / 1000).toFixed(1)} s`);
  return ran;
}

/** What the rule set of tests blocks. */
const attack = '/search?id=1%27%20OR%20%271%27=%271';
const at = (): RunbookHost => host.at as RunbookHost;
const blocked = `/checkout${attack.slice(attack.indexOf('?'))}`;

async function logIn(password: string): Promise<string> {
  return (await callApi(at().ports.API_PORT, 'POST', '/api/login', { email, password })).body.token ?? '';
}
async function choose(current: string, password: string): Promise<void> {
  const body = { current, password };
  await callApi(at().ports.API_PORT, 'POST', '/api/account/password', body, await logIn(current));
}

t.test('every page is run by a test', async (t) => {
  const text = await readFile(join(root, 'api/e2e/runbooks.test.ts'), 'utf8');
  const installer = await readFile(join(root, 'deploy/install/runbooks.test.ts'), 'utf8');
  const names = (await readdir(join(root, 'docs/runbooks'))).filter((name) => name.endsWith('.md'));
  const first = await readFile(join(root, 'docs/runbooks/README.md'), 'utf8');
  for (const name of names.filter((one) => one !== 'README.md')) {
    t.match(withInstaller.includes(name) ? installer : text, `'${name}'`, `${name} is run`);
    t.match(first, `(${name})`, `${name} is in the list`);
  }
});

t.test('a host with its services', { skip }, async (t) => {
  host.at = await startHost(t, initial);
  await choose(initial, chosen);
  t.equal(await at().statusOf(blocked), 403);

  await t.test('false positive', async (t) => {
    await until('the event is stored', async () => {
      const reply = await callApi(at().ports.API_PORT, 'GET', '/api/events?path=/checkout', null, await logIn(chosen));
      return JSON.stringify(reply.body).includes('/checkout');
    });
    const { output } = await follow(t, 'false-positive.md', { BLOCKED: '/checkout' });
    t.match(output, /^942100 injection/m);
    t.match(output, /^DetectionOnly\n(?:true\n)On\ntrue$/m);
    t.equal(await at().statusOf(blocked), 200, 'the path is let through');
    t.equal(await at().statusOf(attack), 403, 'and no other');
  });

  await t.test('attack', async (t) => {
    const { output } = await follow(t, 'attack.md', { ATTACKER: '203.0.113.7' });
    t.match(output, /^\d+ 127\.0\.0\.1$/m, 'clients with what they had blocked');
    t.match(output, /"network":"203\.0\.113\.7","action":"deny"/);
    t.match(output, /table inet gatehouse_harden/);
  });

  await t.test('disk full', async (t) => {
    const { output } = await follow(t, 'disk-full.md');
    t.match(output, /^14$/m);
    t.match(output, /control-plane: healthy/);
  });

  await t.test('certificates', async (t) => {
    const key = join(at().home, 'key.pem');
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'],
      ...['-subj', '/CN=shop.example.test', '-addext', 'subjectAltName=DNS:shop.example.test'],
      ...['-addext', 'basicConstraints=critical,CA:FALSE'],
      ...['-keyout', key, '-out', join(at().home, 'chain.pem')],
    ]);
    t.equal(made.status, 0, String(made.stderr));
    const { output } = await follow(t, 'certificates.md', { SITE: 'shop.example.test' });
    t.match(output.trim().split('\n').at(-2), /CN ?= ?shop\.example\.test/, 'it serves');
  });

  await t.test('node', async (t) => {
    const token = await at().sh('gatehouse node token --json | jq -r .token');
    t.equal(token.code, 0, token.output);
    const other = { GATEHOUSE_DATA: at().at('/other'), GATEHOUSE_ENV_FILE: at().at('/other.env') };
    await writeFile(other.GATEHOUSE_ENV_FILE, '');
    const joined = await at().sh(`gatehouse node join ${at().nodesUrl} ${token.output.trim()} --name edge-1`, other);
    t.equal(joined.code, 0, joined.output);
    // the new machine is another directory of this one
    const { output } = await follow(t, 'node.md', { NODE: 'edge-1', CONTROL: at().nodesUrl });
    t.match(output, /^edge-1 (?:true|false)$/m);
  });

  await t.test('lost password', async (t) => {
    const { output } = await follow(t, 'lost-password.md');
    const given = /password (\S+)/.exec(output)?.[1] ?? '';
    t.equal(await logIn(chosen), '', 'the old one is of no use');
    await choose(given, chosen);
    t.not(await logIn(chosen), '');
  });

  await t.test('secrets', async (t) => {
    const session = await logIn(chosen);
    await follow(t, 'secrets.md');
    t.equal((await callApi(at().ports.API_PORT, 'GET', '/api/account', null, session)).status, 401, 'sessions ended');
    t.not(await logIn(chosen), '');
    t.equal(await at().statusOf(attack), 403);
    t.match(await readFile(at().at('/etc/gatehouse/.env'), 'utf8'), /^BACKUP_RECIPIENT=age1/m);
  });

  await t.test('restored elsewhere', async (t) => {
    const keyed = await at().sh(
      "sed -i '/^BACKUP_RECIPIENT=/d' /etc/gatehouse/.env; gatehouse backup key; " +
        'gatehouse backup --to /mnt/copies/b.tar',
    );
    t.equal(keyed.code, 0, keyed.output);
    await writeFile(at().at('/mnt/key'), /AGE-SECRET-KEY-1[0-9A-Z]+/.exec(keyed.output)?.[0] ?? '');
    const { output } = await follow(t, 'restore-elsewhere.md', {
      BACKUP: at().at('/mnt/copies/b.tar'),
      KEY: at().at('/mnt/key'),
    });
    t.match(output, /restored \d+ tables/);
    t.match(output, /db\.before-restore-/);
    t.not(await logIn(chosen), '');
    t.equal(await at().statusOf(attack), 403);
  });

  await t.test('PostgreSQL', { skip: withoutPostgres }, async (t) => {
    const address = await (await startCluster(t)).create();
    const { output } = await follow(t, 'postgresql.md', { NEW_DATABASE: address });
    t.match(output, /restored \d+ tables/);
    t.not(await logIn(chosen), '', 'logins came along');
    t.match(await readFile(at().at('/etc/gatehouse/.env'), 'utf8'), `DATABASE_URL=${address}`);
    t.equal(await at().statusOf(attack), 403);
    await at().sh('systemctl stop gatehouse-control-plane');
  });
});
