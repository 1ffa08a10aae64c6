// install.sh with containers, over a stand-in for the engine that knows the services of the Compose file as it does:
// the real ones cannot run where this was written (docs/install.md). Every call is looked at.
import { existsSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isInstalled } from '../release/commands.js';
import { makeEngine } from '../testing/stand-in-engine.js';
import { stage } from '../testing/install-stage.js';
import { checkout } from '../testing/stand-in-bundle.js';

const absent = ['dpkg-deb', 'openssl', 'flock'].filter((name) => !isInstalled(name));
const skip = absent.length === 0 ? false : `needs ${absent.join(', ')}`;

async function stageOfContainers(t: Test, health = '20') {
  const engine = mkdtempSync(join(tmpdir(), 'gatehouse-engine-'));
  const programs = join(engine, 'programs');
  mkdirSync(programs);
  makeEngine(programs, engine);
  const at = await stage(t, 'sh', health, { args: ['--containers'], path: programs });
  t.teardown(() => {
    const pid = existsSync(join(engine, 'pid')) ? Number(readFileSync(join(engine, 'pid'), 'utf8')) : 0;
    if (pid > 0) process.kill(pid);
    rmSync(engine, { recursive: true, force: true });
  });
  const read = (path: string): string => readFileSync(join(engine, path), 'utf8');
  return { ...at, engine, programs, remembered: read, calls: () => read('calls').trim().split('\n') };
}

for (const profile of ['small', 'full'])
  t.test(`profile ${profile}: install, again, upgrade, uninstall`, { skip }, async (t) => {
    const { bundle, run, read, release, root, remembered, calls, programs } = await stageOfContainers(t);
    const one = bundle('1.0.0');
    // lies in the bundle, and not in its signed list
    writeFileSync(join(one, 'images/other.tar'), 'of somebody else');
    const first = run(one, '--profile', profile);
    t.equal(first.status, 0, first.stderr);
    t.match(first.stdout, /an attack is blocked/);
    const loads = calls().filter((call) => call.includes(' load '));
    t.equal(loads.length, 1);
    t.match(loads[0], /images\/control-plane\.tar$/, 'only what the list names is loaded');
    t.equal(await release(), '1.0.0');

    const again = run(one);
    t.equal(again.status, 0, again.stderr);
    t.equal(remembered('profile'), profile, 'a second run without the option keeps the profile');
    const other = run(one, '--profile', profile === 'small' ? 'full' : 'small');
    t.equal(other.status, 1);
    t.match(other.stderr, new RegExp(`profile ${profile} is installed here`));

    const upgraded = run(bundle('1.1.0'));
    t.equal(upgraded.status, 0, `${upgraded.stderr}${read('opt/gatehouse/install.log')}`);
    t.equal(await release(), '1.1.0');
    t.equal(remembered('profile'), profile, 'an upgrade keeps it');
    t.match(read('var/backups/gatehouse/before-1.1.0.tar'), '1.0.0\n', 'a backup from before, on the host');
    t.same(readdirSync(join(root, 'opt/gatehouse/releases')).sort(), ['1.0.0', '1.1.0']);
    const script = join(checkout, 'deploy/install/uninstall.sh');
    const env = { ...process.env, PATH: `${programs}:${process.env['PATH'] ?? ''}` };
    const gone = spawnSync('sh', [script, '--purge', '-y', '--root', root], { encoding: 'utf8', env });
    t.equal(gone.status, 0, gone.stderr);
    t.equal(await release(), null);
  });

t.test('IPv6 addresses are published in brackets, and what an operator adds to the file stays', { skip }, async (t) => {
  const { bundle, run, root, calls, read, programs } = await stageOfContainers(t);
  const own = join(root, 'etc/gatehouse/compose.override.yaml');
  writeFileSync(own, 'services: {}\n');
  const first = run(bundle('1.0.0'), '--bind', '::1');
  t.equal(first.status, 0, first.stderr);
  t.match(read('etc/gatehouse/.env'), /^ADMIN_BIND=::1$/m, 'the file has it as every other program reads it');
  const up = calls().filter((call) => / up /.test(call));
  t.ok(up.length > 0 && up.every((call) => call.includes(`compose.yaml -f ${own} --profile small up`)), up.join());
  t.match(first.stdout, /console +http:\/\/\[::1\]:/);
  t.equal(run(bundle('1.1.0')).status, 0);
  const script = join(checkout, 'deploy/install/uninstall.sh');
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH'] ?? ''}` };
  t.equal(spawnSync('sh', [script, '--purge', '-y', '--root', root], { encoding: 'utf8', env }).status, 0);
  t.match(calls().at(-1), ` -f ${own} `);
});

t.test('an upgrade that is not healthy goes back, with the data from before', { skip }, async (t) => {
  const { bundle, run, release, engine, remembered, calls } = await stageOfContainers(t, '4');
  t.equal(run(bundle('1.0.0'), '--profile', 'full').status, 0);
  writeFileSync(join(engine, 'broken-2.0.0'), '');
  const failed = run(bundle('2.0.0'));
  t.equal(failed.status, 1);
  t.match(failed.stderr, /going back to 1\.0\.0[^]*Release 1\.0\.0 serves again/);
  t.equal(await release(), '1.0.0');
  t.match(remembered('volume/database'), /^(?:1\.0\.0\n)+$/, 'what 2.0.0 wrote is gone');
  t.notOk(
    calls().some((call) => / stop .*(?:postgres|redis)| stop$/.test(call)),
    'the databases go on',
  );
  const healed = run(bundle('2.0.1'));
  t.equal(healed.status, 0, healed.stderr);
  t.equal(await release(), '2.0.1');
});
