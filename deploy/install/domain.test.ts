// install.sh --domain on a host that has nothing yet: HTTPS is asked for at 443 and proved at 80, so these are taken
// where they are free, whenever the run was interrupted; and what is missing of the way to this host is told.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isInstalled } from '../release/commands.js';
import { stage } from '../testing/install-stage.js';

const absent = ['dpkg-deb', 'openssl', 'flock', 'unshare'].filter((name) => !isInstalled(name));
const hasNetworks = absent.length === 0 && spawnSync('unshare', ['-n', 'true']).status === 0;
const skip = hasNetworks ? false : `needs ${absent.join(', ') || 'network namespaces'}`;
/** A network of its own, in which every port is free. */
const apart = 'unshare -n sh';
/** The same with something that listens on port 80. */
const withServer =
  `unshare -n ${process.execPath} -e "require('node:net').createServer().listen(80,()=>{` +
  `const r=require('node:child_process').spawnSync('sh',process.argv.slice(1),{stdio:'inherit'});` +
  `process.exit(r.status)})"`;

const options = ['--run', 'none', '--domain', 'waf.gatehouse.invalid'];

async function fresh(...given: Parameters<typeof stage>) {
  const at = await stage(...given);
  rmSync(join(at.root, 'etc/gatehouse/.env'));
  const valueOf = (name: string): string | undefined =>
    new RegExp(`^${name}=(.*)$`, 'm').exec(at.read('etc/gatehouse/.env'))?.[1];
  return { ...at, valueOf };
}

t.test('a first installation with a name takes ports 80 and 443', { skip }, async (t) => {
  const { bundle, run, read, valueOf } = await fresh(t, apart);
  const one = bundle('1.0.0');
  const first = run(one, ...options);
  t.equal(first.status, 0, first.stderr);
  t.match(first.stdout, /ok +port 80 [^]*ok +port 443 /, 'they are looked at beforehand');
  t.match(first.stdout, /warn name +waf\.gatehouse\.invalid has no address [^]*A or AAAA record/);
  t.strictSame([valueOf('WAF_PORT'), valueOf('JA3_PORT')], ['80', '443']);
  t.equal(valueOf('DASHBOARD_DOMAIN'), 'waf.gatehouse.invalid');
  const settings = read('etc/gatehouse/.env');
  t.equal(run(one, ...options).status, 0);
  t.equal(read('etc/gatehouse/.env'), settings, 'a second run changes nothing');
});

t.test('.env of before that says nothing of ports is no other installation', { skip }, async (t) => {
  const { bundle, run, root, valueOf } = await fresh(t, apart);
  writeFileSync(join(root, 'etc/gatehouse/.env'), 'ACME_EMAIL=it@example.org\n', { mode: 0o600 });
  t.equal(run(bundle('1.0.0'), ...options).status, 0);
  t.strictSame([valueOf('WAF_PORT'), valueOf('ACME_EMAIL')], ['80', 'it@example.org']);
});

t.test('without a name the ports of the specification stay', { skip }, async (t) => {
  const { bundle, run, valueOf } = await fresh(t, apart);
  t.equal(run(bundle('1.0.0'), '--run', 'none').status, 0);
  t.strictSame([valueOf('WAF_PORT'), valueOf('JA3_PORT')], ['8080', '8443']);
});

t.test('an interrupted run ends at the same ports', { skip }, async (t) => {
  const { bundle, run, root, valueOf } = await fresh(t, apart);
  // killed between .env and what is written into it
  mkdirSync(join(root, 'var/lib/gatehouse-installer'), { recursive: true });
  writeFileSync(join(root, 'var/lib/gatehouse-installer/web-ports'), 'yes\n');
  writeFileSync(join(root, 'etc/gatehouse/.env'), 'WAF_PORT=8080\nJA3_PORT=8443\n', { mode: 0o600 });
  const { status, stderr } = run(bundle('1.0.0'), ...options);
  t.equal(status, 0, stderr);
  t.strictSame([valueOf('WAF_PORT'), valueOf('JA3_PORT')], ['80', '443']);
});

t.test('where something has port 80 it is told what has to lead where', { skip }, async (t) => {
  const { bundle, run, valueOf } = await fresh(t, withServer);
  const { status, stdout, stderr } = run(bundle('1.0.0'), ...options);
  t.equal(status, 0, stderr);
  t.match(stdout, /warn port 80 +WAF_PORT is 8080 [^]*lead port 80 to 8080/);
  t.match(stdout, /warn port 443 +JA3_PORT is 8443 /);
  t.strictSame([valueOf('WAF_PORT'), valueOf('JA3_PORT')], ['8080', '8443']);
});

t.test(
  'an interrupted run that finds port 80 taken chooses once, and no later run changes ports',
  { skip },
  async (t) => {
    const { bundle, run, root, valueOf } = await fresh(t, withServer);
    const note = join(root, 'var/lib/gatehouse-installer/web-ports');
    mkdirSync(join(root, 'var/lib/gatehouse-installer'), { recursive: true });
    writeFileSync(note, 'yes\n');
    writeFileSync(join(root, 'etc/gatehouse/.env'), 'WAF_PORT=8080\nJA3_PORT=8443\n', { mode: 0o600 });
    const { status, stderr } = run(bundle('1.0.0'), ...options);
    t.equal(status, 0, stderr);
    t.strictSame([valueOf('WAF_PORT'), valueOf('JA3_PORT')], ['8080', '8443']);
    t.notOk(existsSync(note), 'the choice is made');
  },
);

t.test('--harden is refused where it cannot work, before anything is changed', { skip }, async (t) => {
  const { bundle, run } = await fresh(t, apart);
  const without = isInstalled('nft') ? run(bundle('1.0.0'), '--harden', '--check') : null;
  if (without === null) t.match(run(bundle('1.0.0'), '--harden', '--check').stdout, /FAIL limits of the host/);
  else t.match(without.stdout, /ok +limits of the host/);
});
