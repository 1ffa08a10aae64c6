// install.sh and uninstall.sh over their command lines: every refusal, a first installation, a second run, an upgrade,
// a way back, and kills at any moment. Everything lies below a directory of the test (--root).
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { isInstalled } from '../release/commands.js';
import { createReleaseKey } from '../release/signature.js';
import { shells, stage } from '../testing/install-stage.js';
import { checkout, sealBundle } from '../testing/stand-in-bundle.js';

const needed = ['dpkg-deb', 'openssl', 'setsid', 'flock'];
const absent = needed.filter((name) => !isInstalled(name));
const skip = absent.length === 0 ? false : `needs ${absent.join(', ')}`;
/** Times that an installation is killed; `make release-test` takes more of them. */
const kills = Number(process.env['INSTALL_KILLS'] ?? 3);
t.test('install.sh says no in words', { skip }, async (t) => {
  const { bundle, run, root } = await stage(t);
  const good = bundle('1.0.0');
  const cases: [string[], number, RegExp][] = [
    [['--bogus'], 2, /there is no option --bogus/],
    [['--bind'], 2, /--bind needs a value/],
    [['--bind', 'everywhere'], 2, /takes an IP address/],
    [['--domain', 'localhost'], 2, /full name/],
    [['--domain', 'a..example.org'], 2, /takes a name/],
    [['--upstream', 'ftp://x'], 2, /takes an address/],
    [['--upstream', 'http://a$(id)'], 2, /quotes/],
    [['--run', 'later'], 2, /background, foreground or none/],
    [['--profile', 'huge'], 2, /small or full/],
    [['--bind', '999.1.1.1'], 2, /takes an IP address/],
    [['--bind', 'abc'], 2, /takes an IP address/],
    [['--bind', '1.2.3'], 2, /takes an IP address/],
    [['--domain', '1.2.3.4'], 2, /takes a name/],
    [['--upstream', 'http://a:99999'], 2, /no port/],
    [['--upstream', 'http://a:b/c'], 2, /no port/],
    [['--containers'], 2, /cannot be had together/],
    [['--offline', '/nonexistent'], 1, /neither a file nor a directory/],
    [['--offline', tmpdir()], 1, /no bundle/],
    [['--key', '/nonexistent'], 1, /no such key/],
  ];
  for (const [args, code, words] of cases) {
    const { status, stderr } = run(good, ...args);
    t.equal(status, code, args.join(' '));
    t.match(stderr, words);
  }
  t.notOk(existsSync(join(root, 'opt')), 'nothing was changed');
});

t.test('a bundle that somebody changed is refused', { skip }, async (t) => {
  const { bundle, run, root } = await stage(t);
  const one = bundle('1.0.0');
  writeFileSync(join(one, 'uninstall.sh'), '#!/bin/sh\n');
  t.match(run(one).stderr, /files of the bundle differ/);
  sealBundle(one, '1.0.0', createReleaseKey());
  writeFileSync(join(one, 'own.pub'), readFileSync(join(bundle('1.0.1'), 'gatehouse-release.pub')));
  t.match(run(one, '--key', join(one, 'own.pub')).stderr, /not signed by the key/);
  t.notOk(existsSync(join(root, 'opt')), 'nothing was changed');
});

t.test('preflight names the port that is taken, and changes nothing', { skip }, async (t) => {
  const { bundle, run, root, ports } = await stage(t);
  const server = createServer().listen(ports[0], '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const { status, stdout, stderr } = run(bundle('1.0.0'));
  t.equal(status, 1);
  t.match(stdout, new RegExp(`FAIL port ${ports[0]} +taken`));
  t.match(stderr, /1 of these stand in the way; nothing was changed/);
  t.notOk(existsSync(join(root, 'opt')));
});

for (const shell of shells)
  t.test(`${shell}: install, again, upgrade, uninstall`, { skip }, async (t) => {
    const { bundle, run, read, release, root } = await stage(t, shell);
    const first = run(bundle('1.0.0'), '--upstream', 'http://127.0.0.1:9', '--domain', 'waf.example.org');
    t.equal(first.status, 0, first.stderr);
    const settings = read('etc/gatehouse/.env');
    const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(settings)?.[1] ?? '';
    t.equal(statSync(join(root, 'etc/gatehouse/.env')).mode & 0o777, 0o600);
    for (const name of ['AUTH_SESSION_SECRET', 'SETTINGS_ENCRYPTION_SECRET', 'GATEHOUSE_ADMIN_TOKEN', 'CONSOLE_TOKEN'])
      t.match(valueOf(name), /^[\w-]{43}$/, name);
    for (const name of ['ADMIN_INITIAL_PASSWORD', 'POSTGRES_PASSWORD']) t.match(valueOf(name), /^[\w-]{20}$/, name);
    t.equal(valueOf('UPSTREAM_CUSTOMER'), 'http://127.0.0.1:9');
    t.equal(valueOf('DASHBOARD_DOMAIN'), 'waf.example.org');
    t.match(first.stdout, `password ${valueOf('ADMIN_INITIAL_PASSWORD')}`);
    t.match(first.stdout, /console +http:\/\/127\.0\.0\.1:\d+\n[^]*WAF entry point +http:\/\/localhost:\d+/);
    t.match(first.stdout, /no systemd here/, 'said loudly');
    t.equal(await release(), '1.0.0');

    const again = run(join(root, '../bundle-1.0.0'));
    t.equal(again.status, 0, again.stderr);
    t.equal(read('etc/gatehouse/.env'), settings, 'the second run changes nothing');
    t.notMatch(again.stdout, /password [\w-]{20}/, 'and shows no password');

    const upgraded = run(bundle('1.1.0'));
    t.equal(upgraded.status, 0, upgraded.stderr);
    t.equal(await release(), '1.1.0');
    t.equal(read('etc/gatehouse/.env'), settings, 'settings stay');
    t.equal(read('var/backups/gatehouse/before-1.1.0.tar'), '1.0.0\n', 'a backup from before');
    t.equal(readlinkSync(join(root, 'opt/gatehouse/current')), 'releases/1.1.0');
    t.same(readdirSync(join(root, 'opt/gatehouse/releases')).sort(), ['1.0.0', '1.1.0'], 'the old one stays beside it');

    const older = run(join(root, '../bundle-1.0.0'));
    t.equal(older.status, 1);
    t.match(older.stderr + older.stdout, /of release 1\.1\.0/, 'an older release is refused in words');

    const script = join(checkout, 'deploy/install/uninstall.sh');
    const kept = spawnSync(shell, [script, '-y', '--root', root], { encoding: 'utf8' });
    t.equal(kept.status, 0, kept.stderr);
    t.equal(await release(), null, 'it runs no more');
    t.equal(read('var/lib/gatehouse/database'), '1.0.0\n1.1.0\n', 'data stay');
    t.notOk(existsSync(join(root, 'opt/gatehouse')));
    const purged = spawnSync(shell, [script, '--purge', '-y', '--root', root], { encoding: 'utf8' });
    t.match(purged.stdout, /delete +\S+etc\/gatehouse [^]*delete +\S+var\/lib\/gatehouse /, 'it names what it deletes');
    for (const path of ['etc', 'var/lib', 'var/log', 'var/backups'])
      t.notOk(existsSync(join(root, path, 'gatehouse')), path);
    t.notOk(existsSync(join(root, 'var/lib/gatehouse-installer')));
  });

t.test('a host with the package: neither script touches it', { skip }, async (t) => {
  const { bundle, run, root } = await stage(t);
  const settings = join(root, 'etc/gatehouse/.env');
  for (const at of [join(root, 'usr/lib/gatehouse'), dirname(settings)]) mkdirSync(at, { recursive: true });
  writeFileSync(settings, 'WAF_PORT=8080\n');
  const installed = run(bundle('1.0.0'));
  t.equal(installed.status, 1);
  t.match(installed.stderr, /the package gatehouse is installed here[^]*apt-get remove/);
  for (const more of [[], ['--purge']]) {
    const removed = spawnSync('sh', [join(checkout, 'deploy/install/uninstall.sh'), '-y', '--root', root, ...more], {
      encoding: 'utf8',
    });
    t.equal(removed.status, 1);
    t.match(removed.stderr, /the package gatehouse is installed here; nothing was deleted[^]*apt-get/);
  }
  for (const path of ['opt', 'var/lib/gatehouse-installer', 'usr/bin']) t.notOk(existsSync(join(root, path)), path);
  t.ok(existsSync(settings));
});

t.test('.env is read as the program reads it', { skip }, async (t) => {
  const { bundle, run, release, root, ports } = await stage(t);
  const file = join(root, 'etc/gatehouse/.env');
  const plain = readFileSync(file, 'utf8');
  const one = bundle('1.0.0');
  for (const [text, words] of [
    [plain.replace(/^WAF_PORT=.*$/m, 'WAF_PORT=99999'), /FAIL WAF_PORT +99999/],
    [plain.replace(/^UI_PORT=.*$/m, 'UI_PORT=abc'), /FAIL UI_PORT +abc/],
    [plain.replace(/^UI_PORT=.*$/m, `UI_PORT=${ports[0]}`), /FAIL port \d+ +also/],
  ] as const) {
    writeFileSync(file, text);
    const { status, stdout } = run(one);
    t.equal(status, 1);
    t.match(stdout, words);
  }
  const quoted = plain
    .replace(/^WAF_PORT=(.*)$/m, 'export WAF_PORT = "$1" ')
    .replace(/^UI_PORT=(.*)$/m, "UI_PORT='$1'");
  writeFileSync(file, quoted.replaceAll('\n', '\r\n'));
  const { status, stderr } = run(one);
  t.equal(status, 0, stderr);
  t.equal(await release(), '1.0.0');
  const after = readFileSync(file, 'utf8');
  t.equal(after.match(/^(?:export )?WAF_PORT\b/gm)?.length, 1, 'what is there is not written again');
});

t.test('a link that the service left among its data leads root nowhere', { skip }, async (t) => {
  const { bundle, run, read, root } = await stage(t);
  t.equal(run(bundle('1.0.0')).status, 0);
  writeFileSync(join(root, 'victim'), 'precious');
  for (const name of ['.announced', '.release', '.announced.part']) {
    rmSync(join(root, 'var/lib/gatehouse', name), { force: true });
    symlinkSync(join(root, 'victim'), join(root, 'var/lib/gatehouse', name));
  }
  t.equal(run(bundle('1.1.0')).status, 0);
  t.equal(read('victim'), 'precious');
  t.ok(existsSync(join(root, 'var/lib/gatehouse-installer/release.pub')), 'the key is root’s own');
});

t.test('health is not what an operator may configure: an attack that passes, a mask', { skip }, async (t) => {
  const { bundle, run, release, root } = await stage(t, 'umask 077; sh');
  const first = run(bundle('1.0.0', { attack: 200 }));
  t.equal(first.status, 0, first.stderr);
  t.match(first.stderr, /an attack on \S+ was answered 200, not 403/, 'said at a first installation');
  for (const path of ['opt/gatehouse', 'opt/gatehouse/releases', 'opt/gatehouse/releases/1.0.0', 'run/gatehouse'])
    t.equal(statSync(join(root, path)).mode & 0o777, 0o755, `${path}: read by the user gatehouse`);
  t.equal(statSync(join(root, 'etc/gatehouse/.env')).mode & 0o777, 0o600);
  const upgraded = run(bundle('1.1.0', { attack: 200 }));
  t.equal(upgraded.status, 0, upgraded.stderr);
  t.notMatch(upgraded.stderr, /attack/, 'and not at an upgrade');
  t.equal(await release(), '1.1.0');
});

t.test('an upgrade that is not healthy goes back by itself, with the data from before', { skip }, async (t) => {
  const { bundle, run, read, release, root } = await stage(t, 'sh', '4');
  t.equal(run(bundle('1.0.0')).status, 0);
  const failed = run(bundle('2.0.0', { isBroken: true }));
  t.equal(failed.status, 1);
  t.match(failed.stderr, /going back to 1\.0\.0[^]*Release 1\.0\.0 serves again/);
  t.equal(await release(), '1.0.0');
  t.equal(read('var/lib/gatehouse/database'), '1.0.0\n', 'what 2.0.0 wrote is gone');
  t.equal(readlinkSync(join(root, 'opt/gatehouse/current')), 'releases/1.0.0');
  t.notOk(existsSync(join(root, 'opt/gatehouse/upgrade')), 'nothing is left half done');
  const healed = run(bundle('2.0.1'));
  t.equal(healed.status, 0, healed.stderr);
  t.equal(await release(), '2.0.1');
});

for (const step of ['saved', 'switching'])
  t.test(`an upgrade that was killed at "${step}" and is run again later makes a new backup`, { skip }, async (t) => {
    const { bundle, run, read, release, root } = await stage(t, 'sh', '4');
    t.equal(run(bundle('1.0.0')).status, 0);
    const backup = join(root, 'var/backups/gatehouse/before-2.0.0.tar');
    mkdirSync(dirname(backup), { recursive: true });
    writeFileSync(backup, 'of days ago\n');
    const journal = join(root, 'opt/gatehouse/upgrade');
    writeFileSync(journal, `from=1.0.0\nto=2.0.0\nbackup=${backup}\nstep=${step}\n`);
    const database = join(root, 'var/lib/gatehouse/database');
    writeFileSync(database, '1.0.0\nwritten since\n');
    const failed = run(bundle('2.0.0', { isBroken: true }));
    t.match(failed.stderr, /going back to 1\.0\.0[^]*Release 1\.0\.0 serves again/);
    t.equal(await release(), '1.0.0');
    t.equal(read('var/lib/gatehouse/database'), '1.0.0\nwritten since\n', 'nothing that was written since is lost');
  });

t.test('a way back whose restore is done is not done again: the next run tries the upgrade', { skip }, async (t) => {
  const { bundle, run, read, release, root } = await stage(t, 'sh', '4');
  t.equal(run(bundle('1.0.0')).status, 0);
  const backup = join(root, 'var/backups/gatehouse/before-2.0.0.tar');
  mkdirSync(dirname(backup), { recursive: true });
  writeFileSync(backup, 'of days ago\n');
  writeFileSync(join(root, 'opt/gatehouse/upgrade'), `from=1.0.0\nto=2.0.0\nbackup=${backup}\nstep=returned\n`);
  const upgraded = run(bundle('2.0.0'));
  t.equal(upgraded.status, 0, upgraded.stderr);
  t.equal(await release(), '2.0.0');
  t.equal(read('var/lib/gatehouse/database'), '1.0.0\n2.0.0\n');
});

/** Numbers below one, the same in every run with one seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

t.test(`killed ${kills} times while it installs and upgrades, run again: the same end`, { skip }, async (t) => {
  const random = randomOf(Number(process.env['SEED'] ?? 25));
  let stopped = 0;
  while (stopped < kills) {
    const { bundle, run, start, read, release, root } = await stage(t);
    const bundles = [bundle('1.0.0'), bundle('1.1.0')];
    let settings = '';
    for (const [index, one] of bundles.entries()) {
      for (let tries = 0; tries < 2 && stopped < kills; tries += 1) {
        const installer = start(one);
        const ended = once(installer, 'exit');
        // where it is then is left to chance: from the first line to the last check of health
        await Promise.race([sleep(30 + random() * 1500), ended]);
        if (installer.exitCode !== null) continue;
        process.kill(-(installer.pid ?? 0), 'SIGKILL');
        await ended;
        stopped += 1;
      }
      const { status, stderr } = run(one);
      t.equal(status, 0, `after ${stopped} kills: ${stderr}`);
      const version = index === 0 ? '1.0.0' : '1.1.0';
      t.equal(await release(), version);
      t.equal(readlinkSync(join(root, 'opt/gatehouse/current')), `releases/${version}`);
      if (index === 0) settings = read('etc/gatehouse/.env');
      t.equal(read('etc/gatehouse/.env'), settings, 'secrets of the first run stay');
      t.equal(read('var/lib/gatehouse/database'), index === 0 ? '1.0.0\n' : '1.0.0\n1.1.0\n');
    }
    const left = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.part'));
    t.same(left, [], 'nothing is left half done');
    t.notOk(existsSync(join(root, 'opt/gatehouse/upgrade')));
  }
});

t.test(
  'shellcheck has nothing to say',
  { skip: isInstalled('shellcheck') ? false : 'shellcheck is not installed: apt-get install shellcheck' },
  async (t) => {
    const scripts = readdirSync(join(checkout, 'deploy'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.sh'))
      .sort();
    t.ok(scripts.includes('testing/inside-runbooks.sh'), scripts.join());
    const { stdout } = spawnSync(
      'shellcheck',
      scripts.map((name) => join(checkout, 'deploy', name)),
      { encoding: 'utf8' },
    );
    t.equal(stdout, '');
  },
);
