// @ts-check
// Debian packages: what the build and the engine need, and what only some tests and the benchmark do.
import { existsSync } from 'node:fs';
import { fail, onPath, quiet, run, say } from './tools.mjs';

/**
 * @typedef {object} Need
 * @property {string} package Debian's name of it
 * @property {string} why what it is for, or what there is not without it
 * @property {() => boolean} present
 */

/** @param {string} name */
function sharedLibrary(name) {
  const listed = quiet('/sbin/ldconfig', ['-p']) ?? quiet('ldconfig', ['-p']) ?? '';
  return listed.includes(name);
}

/** @returns {Need[]} */
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

/**
 * Needed only by some tests and by the benchmark; `why`: what becomes of those without it.
 * @returns {Need[]}
 */
function optionalNeeds() {
  return [
    { package: 'redis-server', why: 'tests of shared limits are skipped', present: () => onPath('redis-server') },
    {
      package: 'postgresql',
      why: 'what is stored is tested on the embedded database only',
      present: () => existsSync('/usr/lib/postgresql'),
    },
    {
      package: 'chromium',
      why: 'the console is not tested in a browser',
      present: () => onPath('chromium'),
    },
    {
      package: 'chromium-headless-shell',
      why: 'the tests in a browser take a fifth longer',
      present: () => onPath('chromium-headless-shell'),
    },
    {
      package: 'pebble',
      why: 'certificates are not ordered from a directory in the tests',
      present: () => onPath('pebble') && onPath('pebble-challtestsrv'),
    },
    {
      package: 'haproxy',
      why: 'rolling upgrades are not tested',
      present: () => onPath('haproxy') || existsSync('/usr/sbin/haproxy'),
    },
    { package: 'zstd', why: 'Zstandard is tested with stored frames only', present: () => onPath('zstd') },
    {
      package: 'nginx',
      why: 'the benchmark has no peer',
      present: () => onPath('nginx') || existsSync('/usr/sbin/nginx'),
    },
    { package: 'wrk', why: 'there is no benchmark', present: () => onPath('wrk') },
  ];
}

/** @param {readonly string[]} packages */
function aptInstall(packages) {
  const isRoot = process.getuid?.() === 0;
  const sudo = !isRoot && onPath('sudo') && quiet('sudo', ['-n', 'true']) !== null;
  if (!onPath('apt-get') || (!isRoot && !sudo)) return false;
  const command = isRoot ? 'apt-get' : 'sudo';
  const prefix = isRoot ? [] : ['-n', 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = () => run(command, [...prefix, 'install', '-y', '--no-install-recommends', ...packages], options);
  // A machine whose package lists are fresh needs no update; try without first.
  return install() || (run(command, [...prefix, 'update'], options) && install());
}

const mayInstall = () => process.env['GATEHOUSE_NO_APT'] !== '1';
/** @param {readonly Need[]} needs */
const namesOf = (needs) => needs.map((need) => need.package);
/** @param {readonly Need[]} needs */
const told = (needs) => needs.map((need) => `${need.package} (${need.why})`).join(', ');
const missingOf = (/** @type {readonly Need[]} */ needs) => needs.filter((need) => !need.present());

export function packages() {
  const missing = missingOf(systemNeeds());
  if (missing.length === 0) return say('system packages: present');
  const names = namesOf(missing);
  say(`system packages missing: ${told(missing)}`);
  if (!mayInstall() || !aptInstall(names))
    fail(
      'cannot install system packages here (needs root or password-less sudo, on Debian or Ubuntu).',
      '  Ask an administrator to run:',
      `    apt-get install ${names.join(' ')}`,
      '  then run the same command again.',
    );
  const still = missingOf(systemNeeds());
  if (still.length > 0) fail(`installed ${names.join(', ')}, yet still not found: ${namesOf(still).join(', ')}.`);
  say(`installed ${names.join(', ')}`);
}

/** CI machines are there to be filled; on a person's machine no daemon is installed for the sake of a few tests. */
export function optional() {
  const missing = missingOf(optionalNeeds());
  if (missing.length === 0) return say('packages for every test and the benchmark: present');
  const names = namesOf(missing);
  // a name that this release of the distribution does not have keeps none of the others away
  const installed = () => aptInstall(names) || names.filter((name) => aptInstall([name])).length > 0;
  if (process.env['CI'] === 'true' && mayInstall() && installed()) {
    const still = namesOf(missingOf(optionalNeeds()));
    return say(still.length === 0 ? `installed ${names.join(', ')}` : `cannot be installed here: ${still.join(', ')}`);
  }
  say(`not installed: ${told(missing)}; apt-get install ${names.join(' ')}`);
}
