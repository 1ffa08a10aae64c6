// install.sh killed at each step at which it changes something, in three ways, and run again: the same end as without.
// `make release-test` takes more of the steps, INSTALL_KILLS=1000 all.
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { isInstalled } from '../release/commands.js';
import { stage, type Stage } from '../testing/install-stage.js';
import { deaths, killSteps, type Death, type KillSteps } from '../testing/kill-steps.js';

const absent = ['dpkg-deb', 'openssl', 'setsid', 'flock', 'tar'].filter((name) => !isInstalled(name));
const skip = absent.length === 0 ? false : `needs ${absent.join(', ')}`;
/** Kills that are tried in an installation and in an upgrade each; there are some 150 and 200 of them. */
const kills = Number(process.env['INSTALL_KILLS'] ?? 2);
const seed = Number(process.env['SEED'] ?? 25);
t.setTimeout(kills > 5 ? 3_600_000 : 300_000);

interface Scene extends Stage {
  readonly killer: KillSteps;
  readonly temporary: string;
  command(archive: string): string[];
}

async function scene(t: Test): Promise<Scene> {
  const made = await stage(t, 'sh', '30');
  const temporary = join(made.at, 'tmp');
  mkdirSync(temporary);
  return {
    ...made,
    temporary,
    killer: killSteps(join(made.at, 'programs')),
    // the script lies beside the archive that it installs from
    command: (archive) => {
      const script = join(archive.replace(/\.tar$/, ''), 'install.sh');
      return ['sh', script, '-y', '--native', '--root', made.root, '--offline', archive];
    },
  };
}

/** The archive of a bundle, as it is carried to a host: the installer unpacks it to a place of its own. */
function packed(bundle: string): string {
  const archive = `${bundle}.tar`;
  spawnSync('tar', ['-cf', archive, '-C', join(bundle, '..'), bundle.split('/').at(-1) ?? '']);
  return archive;
}

/** Everything of an installation by name, kind, mode and target; contents of what is no log and no process number. */
function listOf(root: string): string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const path = join(root, name);
    const status = lstatSync(path);
    if (status.isSymbolicLink()) return `${name} -> ${readlinkSync(path)}`;
    const mode = (status.mode & 0o7777).toString(8);
    const isText = status.isFile() && !/\.log$|\.pid$|\.lock$|\.env$|release\.pub$/.test(name);
    return `${name} ${mode} ${isText ? readFileSync(path, 'utf8') : ''}`.trim();
  });
}

/** Processes whose command line names the installation. */
function processesOf(root: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(`${root}/`));
}

/** The variables, and whether each has a value: secrets differ from run to run. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^([A-Z0-9_]+)=(.?)/gm)].map(([, name, first]) => `${name}${first === '' ? '' : '=…'}`).sort();

async function install(one: Scene, bundle: string, kill?: { at: number; death: Death }) {
  return one.killer.run(one.command(bundle), { TMPDIR: one.temporary, GATEHOUSE_HEALTH_SECONDS: '30' }, kill);
}

/** What is left running by a shell that was killed alone ends by itself; then the same command is run again. */
async function again(one: Scene, bundle: string) {
  for (let tries = 0; tries < 100; tries += 1) {
    const result = await install(one, bundle);
    if (!result.output.includes('another install.sh is at work here')) return result;
    await sleep(100);
  }
  throw new Error('the lock of the installer that was killed is still held after 10 s');
}

interface Case {
  readonly what: 'installation' | 'upgrade';
  readonly version: string;
  readonly database: string;
}
const cases: readonly Case[] = [
  { what: 'installation', version: '1.0.0', database: '1.0.0\n' },
  { what: 'upgrade', version: '1.1.0', database: '1.0.0\n1.1.0\n' },
];

/** Installs what is there before the run that is killed. */
async function prepare(one: Scene, { what }: Case): Promise<string> {
  if (what === 'installation') return '';
  const { code, output } = await install(one, packed(one.bundle('1.0.0')));
  if (code !== 0) throw new Error(output);
  return one.read('etc/gatehouse/.env');
}

for (const one of cases)
  t.test(`${one.what}: killed at a step and run again, the same end`, { skip }, async (t) => {
    const model = await scene(t);
    await prepare(model, one);
    const whole = await install(model, packed(model.bundle(one.version)));
    t.equal(whole.code, 0, whole.output);
    t.same(readdirSync(model.temporary), [], 'nothing stays in the directory for temporary files');
    const wanted = listOf(model.root);
    const names = namesIn(model.read('etc/gatehouse/.env'));
    t.ok(whole.steps.length > 30, `${whole.steps.length} steps: ${whole.steps.join(' ')}`);
    const all = whole.steps.flatMap((step, index) =>
      deaths
        .filter((death) => death !== 'torn' || step === 'cp' || step === 'dpkg-deb')
        .map((death) => ({ at: index + 1, death, step })),
    );
    const stride = Math.max(1, Math.floor(all.length / kills));
    const chosen = all.filter((_, index) => index % stride === seed % stride);
    t.comment(`${chosen.length} of ${all.length} kills`);
    for (const { at, death, step } of chosen) {
      const told = `${one.what}, ${death} at step ${at} (${step})`;
      await t.test(told, async (t) => {
        const here = await scene(t);
        const before = await prepare(here, one);
        const bundle = packed(here.bundle(one.version));
        const killed = await install(here, bundle, { at, death });
        t.not(killed.code, 0, 'it was killed');
        const { code, output } = await again(here, bundle);
        t.equal(code, 0, output);
        t.equal(await here.release(), one.version);
        t.same(listOf(here.root), wanted, 'every file as without the kill');
        const settings = here.read('etc/gatehouse/.env');
        if (before === '') t.same(namesIn(settings), names, 'every secret is there, once');
        else t.equal(settings, before, 'settings stay');
        t.equal(here.read('var/lib/gatehouse/database'), one.database);
        t.equal(processesOf(here.root).length, 1, `one process: ${processesOf(here.root).join(' | ')}`);
        t.same(readdirSync(here.temporary), [], 'no temporary file of the run that was killed');
      });
    }
  });

t.test('an upgrade that is killed one step further each time ends as one that is not', { skip }, async (t) => {
  const one = await scene(t);
  const first = packed(one.bundle('1.0.0'));
  let steps = 0;
  const stride = kills > 5 ? 1 : 8;
  const bundles = [first, packed(one.bundle('1.1.0'))];
  for (const bundle of bundles)
    for (let at = 1 + (seed % stride); ; at += stride) {
      const { code, output } = await install(one, bundle, { at, death: 'group' });
      if (code === 0) break;
      t.equal(code, null, `step ${at}: ${output}`);
      steps += 1;
      if (code !== null) break;
    }
  t.comment(`${steps} kills`);
  t.equal(await one.release(), '1.1.0');
  t.equal(one.read('var/lib/gatehouse/database'), '1.0.0\n1.1.0\n');
  t.equal(processesOf(one.root).length, 1);
  t.same(readdirSync(one.temporary), []);
  t.same(
    readdirSync(one.root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.part')),
    [],
  );
});

t.test('a run beside it that tidies up takes its directory away before it is locked', { skip }, async (t) => {
  const one = await scene(t);
  const once = join(one.at, 'programs/taken-away');
  const lines = [
    'made=$(/usr/bin/mktemp "$@")',
    `[ -e '${once}' ] || { : >'${once}'; rmdir "$made"; }`,
    'echo "$made"',
  ];
  writeFileSync(join(one.at, 'programs/mktemp'), `#!/bin/sh\n${lines.join('\n')}\n`);
  const { code, output } = await install(one, packed(one.bundle('1.0.0')));
  t.equal(code, 0, output);
  t.equal(await one.release(), '1.0.0');
  t.same(readdirSync(one.temporary), []);
});
