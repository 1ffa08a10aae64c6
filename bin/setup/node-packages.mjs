// @ts-check
// What comes from npm, and what is compiled against this very Node.js.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digest, fail, isStamped, quiet, root, run, say, stamp, start } from './tools.mjs';

const addon = 'engine/native/build/Release/gatehouse_native.node';

const packageFile = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

export function checkNode() {
  const wanted = packageFile()
    .engines.node.replace(/[^\d.]/g, '')
    .split('.')
    .map(Number);
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOlder = major < wanted[0] || (major === wanted[0] && minor < (wanted[1] ?? 0));
  if (isOlder)
    fail(
      `Node.js ${wanted.join('.')} or newer is needed, this is ${process.versions.node}.`,
      '  Install a current Node.js (20, 22 or 24) and run the same command again.',
    );
}

/** Headers that came with this very Node save node-gyp a download (and work without the internet). */
function nodeHeaders() {
  const directory = join(dirname(process.execPath), '..');
  const header = join(directory, 'include/node/node_version.h');
  if (!existsSync(header)) return null;
  const text = readFileSync(header, 'utf8');
  const [major, minor, patch] = ['MAJOR', 'MINOR', 'PATCH'].map(
    (part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1],
  );
  return `${major}.${minor}.${patch}` === process.versions.node ? directory : null;
}

function gypEnvironment() {
  const headers = nodeHeaders();
  // node-gyp compiles one file at a time unless it is told
  const parallel = { JOBS: 'max', ...process.env };
  return headers === null
    ? parallel
    : { ...parallel, npm_config_nodedir: headers, npm_package_config_node_gyp_nodedir: headers };
}

/** @param {string} specifier */
function loads(specifier) {
  return quiet(process.execPath, ['-e', `require(${JSON.stringify(specifier)})`]) !== null;
}

const npmFlags = ['--no-audit', '--no-fund', '--loglevel=error'];

/** @param {NodeJS.ProcessEnv} env */
function installPackages(env) {
  const clean = spawnSync('npm', ['ci', ...npmFlags], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  if (clean.status === 0) return;
  // Registries that mirror only part of npm drop optional packages of other platforms from the lock file; `npm ci`
  // then refuses a lock that is sound for this machine. Installing from the same lock without saving is equivalent.
  if (!clean.stderr.includes('EUSAGE'))
    fail(
      'npm ci failed:',
      clean.stderr.trim(),
      '  Fix what npm names (often the network or a proxy) and run the same command again.',
    );
  say(
    'npm ci finds optional packages of other platforms missing from the lock file; ' +
      'installing from the lock without saving',
  );
  if (!run('npm', ['install', '--no-save', ...npmFlags], { env })) fail('npm install failed; see its messages above.');
}

/** @param {NodeJS.ProcessEnv} env */
function buildRe2(env) {
  say('re2 came without its binary; building it');
  run('npm', ['rebuild', 're2', '--foreground-scripts', ...npmFlags], { env });
  if (!loads('re2'))
    fail(
      'the package re2 does not load: `npm rebuild re2 --foreground-scripts` shows why ' +
        '(usually a missing compiler or missing Node headers).',
    );
}

export function npm() {
  const { dependencies, devDependencies, overrides, allowScripts } = packageFile();
  const key = digest(
    ['package-lock.json'],
    JSON.stringify({ dependencies, devDependencies, overrides, allowScripts }),
    process.versions.modules,
    process.arch,
  );
  if (isStamped('npm', key)) return say('npm packages: unchanged');
  const env = gypEnvironment();
  say('npm packages: installing (re2 is compiled where no prebuilt binary can be had: one to two minutes)');
  installPackages(env);
  if (!loads('re2')) buildRe2(env);
  stamp('npm', key);
}

/**
 * tap keeps a generated test class; built here without the plugin that would transpile the tests, which are built
 * already.
 */
export async function tap() {
  const key = digest(['.taprc', 'package-lock.json'], 'tap');
  if (isStamped('tap', key) && existsSync(join(root, '.tap/plugins'))) return say('test runner: unchanged');
  const own = join(root, 'node_modules/tap/dist/esm/run.mjs');
  const isBuilt = await start(process.execPath, [own, 'build'], { stdio: 'ignore' });
  if (!isBuilt && !run('npx', ['--no-install', 'tap', 'build']))
    fail('`npx tap build` failed; run it by hand to see why.');
  stamp('tap', key);
  say('test runner: built');
}

export async function native() {
  const directory = join(root, 'engine/native');
  if (!existsSync(join(directory, 'binding.gyp'))) return say('native addon: no sources in this checkout');
  const sources = readdirSync(directory)
    .filter((name) => /\.(cc|h|gyp)$/.test(name))
    .sort()
    .map((name) => join('engine/native', name));
  const hyperscan = quiet('pkg-config', ['--modversion', 'libhs']) ?? '';
  const key = digest(sources, process.versions.modules, process.arch, hyperscan);
  if (isStamped('native', key) && existsSync(join(root, addon))) return say('native addon: unchanged');
  const headers = nodeHeaders();
  const gyp = join(root, 'node_modules/node-gyp/bin/node-gyp.js');
  const where = headers === null ? [] : ['--nodedir', headers];
  say('native addon: compiling');
  const args = [gyp, 'rebuild', '-C', directory, '--silent', ...where];
  const isCompiled = await start(process.execPath, args, { env: gypEnvironment() });
  if (!isCompiled || !loads(join(root, addon)))
    fail(
      'the native addon does not compile or load.',
      "  `npx node-gyp rebuild -C engine/native` shows the compiler's messages; " +
        'the headers of libhyperscan-dev and of this Node.js are needed.',
    );
  stamp('native', key);
}
