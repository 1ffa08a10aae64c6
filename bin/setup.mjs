// Makes a checkout runnable: system packages, npm packages, the test runner, the native addon, the build, the rules.
// Every step is skipped when its stamp (a hash of what it depends on) is unchanged, so a second run takes well under a
// second. It runs before `npm ci`, hence no dependency here. `node bin/setup.mjs [step…]`; no step = all of them.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installCrs } from './crs.mjs';
import { adoptDirectories, readEnvironment, Refusal, root } from './environment.mjs';

const addon = 'engine/native/build/Release/gatehouse_native.node';

/** A message for a person instead of a stack trace: what is wrong, then what to do. */
class SetupProblem extends Error {}

function say(text) {
  console.log(`setup: ${text}`);
}

/** Runs a command below the root with its output on ours; returns whether it succeeded. */
function run(command, args, options = {}) {
  const outcome = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options });
  return outcome.status === 0;
}

function quiet(command, args) {
  const outcome = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return outcome.status === 0 ? outcome.stdout : null;
}

/** SHA-256 over files (by content) and words; what a step depends on. */
function digest(files, ...words) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(existsSync(join(root, file)) ? readFileSync(join(root, file)) : '');
  for (const word of words) hash.update('\0').update(word);
  return hash.digest('hex');
}

function stamped(name, value) {
  const file = join(root, 'node_modules', `.gatehouse-${name}`);
  return existsSync(file) && readFileSync(file, 'utf8') === value;
}
function stamp(name, value) {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'node_modules', `.gatehouse-${name}`), value);
}

function checkNode() {
  const wanted = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    .engines.node.replace(/[^\d.]/g, '')
    .split('.')
    .map(Number);
  const have = process.versions.node.split('.').map(Number);
  const older = have[0] < wanted[0] || (have[0] === wanted[0] && have[1] < (wanted[1] ?? 0));
  if (older)
    throw new SetupProblem(
      `Node.js ${wanted.join('.')} or newer is needed, this is ${process.versions.node}.\n  Install a current Node.js (20, 22 or 24) and run the same command again.`,
    );
}

function onPath(command) {
  return (process.env.PATH ?? '')
    .split(':')
    .some((directory) => directory !== '' && existsSync(join(directory, command)));
}
function sharedLibrary(name) {
  const listed = quiet('/sbin/ldconfig', ['-p']) ?? quiet('ldconfig', ['-p']) ?? '';
  return listed.includes(name);
}

/** What the build and the engine need of the system: how to see that it is there, and Debian's package for it. */
function systemNeeds() {
  const arm = process.arch === 'arm64';
  return [
    {
      package: 'build-essential',
      why: 'compiles the native addon and re2',
      present: () => onPath('g++') && onPath('make'),
    },
    { package: 'python3', why: 'node-gyp runs on it', present: () => onPath('python3') },
    { package: 'pkg-config', why: 'finds Hyperscan for the native addon', present: () => onPath('pkg-config') },
    {
      package: 'ca-certificates',
      why: 'verifies downloads',
      present: () => existsSync('/etc/ssl/certs/ca-certificates.crt'),
    },
    { package: 'curl', why: 'downloads the rule set', present: () => onPath('curl') },
    {
      package: arm ? 'libvectorscan-dev' : 'libhyperscan-dev',
      why: 'the many-pattern matcher',
      present: () => existsSync('/usr/include/hs/hs.h') || quiet('pkg-config', ['--exists', 'libhs']) !== null,
    },
    {
      package: 'libmodsecurity3',
      why: 'carries the libinjection functions',
      present: () => sharedLibrary('libmodsecurity.so.3'),
    },
  ];
}

/** Needed only by some tests and by the benchmark; `without`: what becomes of those. */
function optionalNeeds() {
  return [
    { package: 'redis-server', without: 'tests of shared limits are skipped', present: () => onPath('redis-server') },
    {
      package: 'postgresql',
      without: 'tests of what is stored fail, unless GATEHOUSE_TEST_WITHOUT_POSTGRES=1',
      present: () => existsSync('/usr/lib/postgresql'),
    },
    {
      package: 'nginx',
      without: 'the benchmark has no peer',
      present: () => onPath('nginx') || existsSync('/usr/sbin/nginx'),
    },
    { package: 'wrk', without: 'there is no benchmark', present: () => onPath('wrk') },
  ];
}

function aptInstall(packages) {
  const root0 = process.getuid?.() === 0;
  const sudo = !root0 && onPath('sudo') && quiet('sudo', ['-n', 'true']) !== null;
  if (!onPath('apt-get') || (!root0 && !sudo)) return false;
  const [command, prefix] = root0
    ? ['apt-get', []]
    : ['sudo', ['-n', 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']];
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = () => run(command, [...prefix, 'install', '-y', '--no-install-recommends', ...packages], options);
  // A machine whose package lists are fresh needs no update; try without first.
  return install() || (run(command, [...prefix, 'update'], options) && install());
}

function packages() {
  const missing = systemNeeds().filter((need) => !need.present());
  if (missing.length === 0) return say('system packages: present');
  const names = missing.map((need) => need.package);
  say(`system packages missing: ${missing.map((need) => `${need.package} (${need.why})`).join(', ')}`);
  const mayInstall = process.env.GATEHOUSE_NO_APT !== '1';
  if (mayInstall && aptInstall(names)) {
    const still = systemNeeds().filter((need) => !need.present());
    if (still.length === 0) return say(`installed ${names.join(', ')}`);
    throw new SetupProblem(
      `installed ${names.join(', ')}, yet still not found: ${still.map((need) => need.package).join(', ')}.`,
    );
  }
  throw new SetupProblem(
    `cannot install system packages here (needs root or password-less sudo, on Debian or Ubuntu).\n  Ask an administrator to run:\n    apt-get install ${names.join(' ')}\n  then run the same command again.`,
  );
}

/** CI machines are there to be filled; on a person's machine no daemon is installed for the sake of a few tests. */
function optional() {
  const missing = optionalNeeds().filter((need) => !need.present());
  if (missing.length === 0) return say('packages for every test and the benchmark: present');
  const names = missing.map((need) => need.package);
  if (process.env.CI === 'true' && process.env.GATEHOUSE_NO_APT !== '1' && aptInstall(names))
    return say(`installed ${names.join(', ')}`);
  say(
    `not installed: ${missing.map((need) => `${need.package} (${need.without})`).join(', ')}; apt-get install ${names.join(' ')}`,
  );
}

/** Headers that came with this very Node save node-gyp a download (and work without the internet). */
function nodeHeaders() {
  const base = join(dirname(process.execPath), '..');
  const header = join(base, 'include/node/node_version.h');
  if (!existsSync(header)) return null;
  const text = readFileSync(header, 'utf8');
  const number = (part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1];
  return `${number('MAJOR')}.${number('MINOR')}.${number('PATCH')}` === process.versions.node ? base : null;
}
function gypEnvironment() {
  const headers = nodeHeaders();
  return headers === null
    ? process.env
    : { ...process.env, npm_config_nodedir: headers, npm_package_config_node_gyp_nodedir: headers };
}

function loads(specifier) {
  return quiet(process.execPath, ['-e', `require(${JSON.stringify(specifier)})`]) !== null;
}

function npm() {
  const { dependencies, devDependencies, overrides, allowScripts } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const key = digest(
    ['package-lock.json'],
    JSON.stringify({ dependencies, devDependencies, overrides, allowScripts }),
    process.versions.modules,
    process.arch,
  );
  if (stamped('npm', key)) return say('npm packages: unchanged');
  const env = gypEnvironment();
  const flags = ['--no-audit', '--no-fund', '--loglevel=error'];
  say('npm packages: installing (re2 is compiled where no prebuilt binary can be had: one to two minutes)');
  const clean = spawnSync('npm', ['ci', ...flags], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  if (clean.status !== 0) {
    // Registries that mirror only part of npm drop optional packages of other platforms from the lock file; `npm ci`
    // then refuses a lock that is sound for this machine. Installing from the same lock without saving is equivalent.
    if (!clean.stderr.includes('EUSAGE'))
      throw new SetupProblem(
        `npm ci failed:\n${clean.stderr.trim()}\n  Mend what npm names (often the network or a proxy) and run the same command again.`,
      );
    say(
      'npm ci finds optional packages of other platforms missing from the lock file; installing from the lock without saving',
    );
    if (!run('npm', ['install', '--no-save', ...flags], { env }))
      throw new SetupProblem('npm install failed; see its messages above.');
  }
  if (!loads('re2')) {
    say('re2 came without its binary; building it');
    run('npm', ['rebuild', 're2', '--foreground-scripts', ...flags], { env });
    if (!loads('re2'))
      throw new SetupProblem(
        'the package re2 does not load: `npm rebuild re2 --foreground-scripts` shows why (usually a missing compiler or missing Node headers).',
      );
  }
  stamp('npm', key);
}

/**
 * tap keeps a generated test class; built here without the plugin that would transpile the tests, which are built
 * already.
 */
function tap() {
  const key = digest(['.taprc', 'package-lock.json'], 'tap');
  if (stamped('tap', key) && existsSync(join(root, '.tap/plugins'))) return say('test runner: unchanged');
  if (
    !run(process.execPath, [join(root, 'node_modules/tap/dist/esm/run.mjs'), 'build'], { stdio: 'ignore' }) &&
    !run('npx', ['--no-install', 'tap', 'build'])
  )
    throw new SetupProblem('`npx tap build` failed; run it by hand to see why.');
  stamp('tap', key);
  say('test runner: built');
}

function native() {
  const directory = join(root, 'engine/native');
  if (!existsSync(join(directory, 'binding.gyp'))) return say('native addon: no sources in this checkout');
  const sources = readdirSync(directory)
    .filter((name) => /\.(cc|h|gyp)$/.test(name))
    .sort()
    .map((name) => join('engine/native', name));
  const key = digest(
    sources,
    process.versions.modules,
    process.arch,
    quiet('pkg-config', ['--modversion', 'libhs']) ?? '',
  );
  if (stamped('native', key) && existsSync(join(root, addon))) return say('native addon: unchanged');
  const headers = nodeHeaders();
  const args = [
    join(root, 'node_modules/node-gyp/bin/node-gyp.js'),
    'rebuild',
    '-C',
    directory,
    '--silent',
    ...(headers === null ? [] : ['--nodedir', headers]),
  ];
  say('native addon: compiling');
  if (!run(process.execPath, args) || !loads(join(root, addon))) {
    throw new SetupProblem(
      "the native addon does not compile or load.\n  `npx node-gyp rebuild -C engine/native` shows the compiler's messages; the headers of libhyperscan-dev and of this Node.js are needed.",
    );
  }
  stamp('native', key);
}

function transpile() {
  if (!run(process.execPath, [join(root, 'bin/build.mjs')]))
    throw new SetupProblem('some sources do not parse; the messages above say where.');
  say('build: done');
}

async function crs() {
  const found = await installCrs({ say: (text) => say(`rules: ${text}`) });
  say(`rules: OWASP CRS ${found.version} in ${found.directory}`);
}

const steps = { packages, optional, npm, tap, native, build: transpile, crs };
const everything = ['packages', 'npm', 'tap', 'native', 'build', 'crs'];

const asked = process.argv.slice(2);
if (asked.includes('--clean')) {
  for (const path of ['build', 'node_modules', 'engine/native/build', '.tap'])
    rmSync(join(root, path), { recursive: true, force: true });
  say('removed build/, node_modules/, engine/native/build/ and .tap/; data/ and .env are kept');
  process.exit(0);
}
try {
  checkNode();
  // for a deployment; single steps are for tests, which .env is not for
  if (asked.length === 0) adoptDirectories(readEnvironment());
  for (const name of asked.length > 0 ? asked : everything) {
    const step = steps[name];
    if (step === undefined)
      throw new SetupProblem(`there is no step "${name}"; the steps are ${Object.keys(steps).join(', ')}.`);
    await step();
  }
} catch (error) {
  if (!(error instanceof SetupProblem) && !(error instanceof Refusal) && error?.name !== 'CrsProblem') throw error;
  console.error(`setup: ${error.message}`);
  process.exit(1);
}
