// The pages of docs/runbooks that need a bundle: their commands are run as they stand there, with bundles whose program
// answers in milliseconds, below a directory of the test.
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { commandsOf as commandsIn } from '#api/testing/processes/host';
import { isInstalled } from '../release/commands.js';
import { program } from '../release/oci-image.js';
import { stage, type Stage } from '../testing/install-stage.js';
import { checkout } from '../testing/stand-in-bundle.js';

const absent = ['dpkg-deb', 'openssl', 'setsid', 'flock'].filter((name) => !isInstalled(name));
const skip = absent.length === 0 ? false : `needs ${absent.join(', ')}`;
const commandsOf = (page: string): string => commandsIn(`docs/runbooks/${page}`);

/** Runs a page in the directory of a bundle; both scripts get `--root`, and absolute paths are below it. */
function follow({ at, root }: Stage, page: string, bundle: string, given: Readonly<Record<string, string>> = {}) {
  const programs = join(at, 'typed');
  mkdirSync(programs, { recursive: true });
  const state = join(root, 'var/lib/gatehouse');
  const places = `GATEHOUSE_DATA=${state} GATEHOUSE_STATE=${state}`;
  const own = `GATEHOUSE_ENV_FILE=${root}/etc/gatehouse/.env ${places} GATEHOUSE_USER=`;
  const lines = {
    sudo: 'exec "$@"',
    gatehouse: `export ${own}; exec "${root}/opt/gatehouse/current/usr/bin/gatehouse" "$@"`,
  };
  for (const [name, line] of Object.entries(lines)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(programs, name), 0o755);
  }
  const text = commandsOf(page)
    .replaceAll(/((?:\.|"\$OLD)\/(?:un)?install\.sh"?)/g, `$1 --root ${root}`)
    .replaceAll(/(?<![\w.])\/(?=(?:var|opt|etc|mnt)\/)/g, `${root}/`);
  return spawnSync('sh', ['-euc', text], {
    cwd: bundle,
    encoding: 'utf8',
    env: { ...process.env, ...given, PATH: `${programs}:${process.env['PATH'] ?? ''}`, GATEHOUSE_HEALTH_SECONDS: '20' },
  });
}

t.test('who follows them, and where', async (t) => {
  const directory = join(checkout, 'docs/runbooks');
  const first = readFileSync(join(directory, 'README.md'), 'utf8');
  t.match(first, `exec control-plane ${program.join(' ')}`, 'images have no other command');
  t.match(first, 'Be root');
  // half of the commands of a page would fail for whoever is root by those that say sudo alone
  for (const name of readdirSync(directory).filter((one) => one !== 'README.md'))
    t.notMatch(commandsOf(name), /\bsudo\b/, name);
  const move = commandsOf('postgresql.md');
  t.notMatch(move, />\s*\/etc\/gatehouse\/\.env\.\w/, 'no copy of the secrets for everybody');
});

t.test('upgrade.md: up, and back with the data from before', { skip }, async (t) => {
  const one = await stage(t);
  const [old, newer] = [one.bundle('1.0.0'), one.bundle('1.1.0')];
  t.equal(one.run(old).status, 0);
  const { status, stdout, stderr } = follow(one, 'upgrade.md', newer, { OLD: old });
  t.equal(status, 0, stdout + stderr);
  t.match(stdout, /before-1\.1\.0\.tar\nreleases\/1\.1\.0[^]*releases\/1\.0\.0\n$/);
  t.equal(await one.release(), '1.0.0');
  t.equal(one.read('var/lib/gatehouse/database'), '1.0.0\n', 'the data of before the upgrade');
  t.ok(readdirSync(join(one.root, 'var/lib')).includes('gatehouse.1.1.0'), 'what was there is beside it');
});

t.test('uninstall.md: nothing stays but the copy', { skip }, async (t) => {
  const one = await stage(t);
  const bundle = one.bundle('1.0.0');
  t.equal(one.run(bundle).status, 0);
  mkdirSync(join(one.root, 'mnt'), { recursive: true });
  const { status, stdout, stderr } = follow(one, 'uninstall.md', bundle);
  t.equal(status, 0, stdout + stderr);
  t.equal(await one.release(), null);
  t.equal(one.read('mnt/copies'), '1.0.0\n');
  for (const path of ['opt/gatehouse', 'etc/gatehouse', 'var/lib/gatehouse'])
    t.throws(() => readdirSync(join(one.root, path)), path);
});
