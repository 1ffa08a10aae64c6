// Gets the OWASP Core Rule Set (and ModSecurity's unicode.mapping) onto this machine; neither is ever committed.
//
// Sources in order: CRS_DIR (the operator's own choice, used in place), what an earlier run unpacked, a cached archive,
// ../shared/crs, the official release archive, and last Debian's much older package, loudly. An archive counts only
// when its SHA-256 is the pinned one of fixtures/crs.lock.json; an unpacked tree only when its file hash is.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './environment.mjs';

/** What could not be had, what was tried, what to do. */
export class CrsProblem extends Error {
  name = 'CrsProblem';
}

function dataDirectory() {
  return resolve(root, process.env.GATEHOUSE_DATA ?? 'data');
}
function readLock() {
  return JSON.parse(readFileSync(join(root, 'fixtures/crs.lock.json'), 'utf8'));
}
export function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

/** One hash over what the engine loads: crs-setup.conf.example and rules/, by name and content. */
export function treeHash(directory) {
  const hash = createHash('sha256');
  const names = readdirSync(join(directory, 'rules'))
    .sort()
    .map((name) => join('rules', name));
  for (const name of ['crs-setup.conf.example', ...names]) {
    if (existsSync(join(directory, name)))
      hash
        .update(name)
        .update('\0')
        .update(sha256(readFileSync(join(directory, name))))
        .update('\n');
  }
  return hash.digest('hex');
}

/** The version that a rule set states of itself (`ver:'…/4.25.1'`), or 'unknown'. */
function statedVersion(directory) {
  for (const name of readdirSync(join(directory, 'rules')).sort()) {
    if (!name.endsWith('.conf')) continue;
    const found = /ver:'[A-Z_]+\/(\d+\.\d+\.\d+)/.exec(readFileSync(join(directory, 'rules', name), 'latin1'));
    if (found) return found[1];
  }
  return 'unknown';
}

/** Reads an archive and holds it against the lock; a foreign one is named, never used. */
function checkedArchive(file, lock, say) {
  if (!existsSync(file)) return null;
  const bytes = readFileSync(file);
  const have = sha256(bytes);
  if (have === lock.archive.sha256) return bytes;
  say(
    `${file} is not the pinned release (SHA-256 ${have.slice(0, 16)}…, wanted ${lock.archive.sha256.slice(0, 16)}…); not used`,
  );
  return null;
}

function download(url, lock, say) {
  const cache = join(dataDirectory(), 'crs', 'cache');
  mkdirSync(cache, { recursive: true });
  const target = join(cache, lock.archive.name);
  say(`downloading ${url}`);
  const outcome = spawnSync(
    'curl',
    [
      '--fail',
      '--location',
      '--silent',
      '--show-error',
      '--connect-timeout',
      '10',
      '--max-time',
      '120',
      '--retry',
      '2',
      '-o',
      `${target}.part`,
      url,
    ],
    { encoding: 'utf8' },
  );
  if (outcome.status !== 0) {
    rmSync(`${target}.part`, { force: true });
    say(
      `download failed: ${(outcome.stderr ?? '').trim() || outcome.error?.message || `curl ended with ${outcome.status}`}`,
    );
    return null;
  }
  const bytes = checkedArchive(`${target}.part`, lock, say);
  if (bytes === null) rmSync(`${target}.part`, { force: true });
  else renameSync(`${target}.part`, target);
  return bytes;
}

// The release also carries its own tests, docs and sources of the patterns: 5 MB that nothing here reads.
const wantedParts = ['*/LICENSE', '*/crs-setup.conf.example', '*/rules', '*/plugins'];

/** Unpacks beside the target and moves it there in one step: a run that is cut short leaves nothing half done. */
function unpack(archive, target, lock) {
  mkdirSync(dirname(target), { recursive: true });
  const staging = mkdtempSync(`${target}.part-`);
  const outcome = spawnSync(
    'tar',
    ['-xzf', '-', '-C', staging, '--strip-components=1', '--no-same-owner', '--wildcards', ...wantedParts],
    { input: archive, encoding: 'utf8' },
  );
  if (outcome.status !== 0)
    throw new CrsProblem(`tar could not unpack the rule set: ${outcome.stderr || outcome.error?.message}`);
  const tree = treeHash(staging);
  if (tree !== lock.treeSha256)
    throw new CrsProblem(
      `the unpacked rule set hashes to ${tree}, fixtures/crs.lock.json says ${lock.treeSha256}; the lock is wrong or the archive is.`,
    );
  rmSync(target, { recursive: true, force: true });
  renameSync(staging, target);
}

/** Takes one file or folder out of a Debian package without installing it (needs no root). */
function fromDebianPackage(name, say) {
  const staging = mkdtempSync(join(tmpdir(), 'gatehouse-deb-'));
  const got = spawnSync('apt-get', ['download', name], { cwd: staging, encoding: 'utf8' });
  const file = readdirSync(staging).find((entry) => entry.endsWith('.deb'));
  const unpacked =
    file !== undefined && spawnSync('dpkg-deb', ['-x', join(staging, file), join(staging, 'root')]).status === 0;
  if (!unpacked) {
    rmSync(staging, { recursive: true, force: true });
    say(`apt-get download ${name} failed${got.stderr ? `: ${got.stderr.trim().split('\n')[0]}` : ''}`);
    return null;
  }
  return { directory: join(staging, 'root'), discard: () => rmSync(staging, { recursive: true, force: true }) };
}

function debianRules(say) {
  const target = join(dataDirectory(), 'crs', 'debian-3.3');
  const copy = (base) => {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(join(target, 'rules'), { recursive: true });
    for (const name of readdirSync(join(base, 'usr/share/modsecurity-crs/rules')))
      copyFileSync(join(base, 'usr/share/modsecurity-crs/rules', name), join(target, 'rules', name));
    const setup = join(base, 'etc/modsecurity/crs/crs-setup.conf');
    if (existsSync(setup)) copyFileSync(setup, join(target, 'crs-setup.conf.example'));
  };
  if (existsSync('/usr/share/modsecurity-crs/rules')) copy('/');
  else {
    const fetched = fromDebianPackage('modsecurity-crs', say);
    if (fetched === null) return null;
    copy(fetched.directory);
    fetched.discard();
  }
  const banner = '*'.repeat(78);
  say(
    `\n${banner}\n  WARNING: the pinned CRS release could not be had. Using Debian's modsecurity-crs\n  (CRS ${statedVersion(target)}), which is years older: enough for \`compile --rules\`, but settings (and\n  so \`make run\`) need a v4 rule set. Run \`node bin/crs.mjs\` with internet access, or set CRS_DIR.\n${banner}`,
  );
  return target;
}

/**
 * Finds ModSecurity's code-page table; null when no source has it (then `%u` escapes beyond Latin-1 map as without a
 * table).
 */
function installUnicodeMapping(lock, say) {
  const target = join(dataDirectory(), 'crs', 'unicode.mapping');
  const good = (file) => existsSync(file) && sha256(readFileSync(file)) === lock.unicodeMapping.sha256;
  if (good(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const shared = resolve(root, process.env.GATEHOUSE_SHARED ?? '../shared', 'crs/unicode.mapping');
  const found = [shared, ...lock.unicodeMapping.systemPaths].find(good);
  if (found !== undefined) {
    copyFileSync(found, target);
    return target;
  }
  const fetched = fromDebianPackage(lock.unicodeMapping.debianPackage, say);
  const inside =
    fetched === null
      ? undefined
      : lock.unicodeMapping.systemPaths.map((path) => join(fetched.directory, path)).find(good);
  if (inside !== undefined) copyFileSync(inside, target);
  fetched?.discard();
  if (inside === undefined)
    say(
      `no unicode.mapping found (Debian's ${lock.unicodeMapping.debianPackage} has it); %u escapes beyond Latin-1 are decoded without a table`,
    );
  return inside === undefined ? null : target;
}

/** An operator's own rule set, used where it lies. */
function ownRules(directory, lock, say) {
  if (!existsSync(join(directory, 'rules')))
    throw new CrsProblem(
      `CRS_DIR=${directory} has no folder rules/.\n  Point CRS_DIR at an unpacked CRS release, or unset it to use the pinned one.`,
    );
  const version = statedVersion(directory);
  say(
    treeHash(directory) === lock.treeSha256
      ? 'CRS_DIR holds the pinned release'
      : `CRS_DIR holds a rule set other than the pinned ${lock.version} (it says ${version}); used as it is`,
  );
  return { directory, version };
}

/**
 * Makes the rules available and says where: `{ directory, version, unicodeMapping, pinned }`, paths absolute;
 * `unicodeMapping` may be null. Throws CrsProblem when no source works.
 */
export async function installCrs({ say = () => {} } = {}) {
  const lock = readLock();
  const unicodeMapping = installUnicodeMapping(lock, say);
  if (process.env.CRS_DIR) {
    const own = ownRules(resolve(root, process.env.CRS_DIR), lock, say);
    return { ...own, unicodeMapping, pinned: treeHash(own.directory) === lock.treeSha256 };
  }
  const directory = join(dataDirectory(), 'crs', lock.version);
  const done = { directory, version: lock.version, unicodeMapping, pinned: true };
  if (existsSync(join(directory, 'rules'))) {
    if (treeHash(directory) === lock.treeSha256) return done;
    say(
      `${directory} was changed since it was unpacked; replacing it (own rules belong into the settings, or set CRS_DIR)`,
    );
  }
  const places = [
    join(dataDirectory(), 'crs', 'cache', lock.archive.name),
    resolve(root, process.env.GATEHOUSE_SHARED ?? '../shared', 'crs', lock.archive.name),
  ];
  let archive = null;
  for (const place of places) archive ??= checkedArchive(place, lock, say);
  for (const url of lock.archive.urls) archive ??= download(url, lock, say);
  if (archive !== null) {
    unpack(archive, directory, lock);
    return done;
  }
  const old = debianRules(say);
  if (old !== null) return { directory: old, version: statedVersion(old), unicodeMapping, pinned: false };
  throw new CrsProblem(
    `the OWASP Core Rule Set ${lock.version} could not be had: not in ${places.join(', not in ')}, not from ${lock.archive.urls.join(', ')}, not from Debian.\n  On a machine with internet access download\n    ${lock.archive.urls[0]}\n  put it at ${places[0]} and run the same command again, or set CRS_DIR to an unpacked release.`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const found = await installCrs({ say: (text) => console.error(`crs: ${text}`) });
    console.log(JSON.stringify(found, null, 2));
  } catch (error) {
    if (!(error instanceof CrsProblem)) throw error;
    console.error(`crs: ${error.message}`);
    process.exit(1);
  }
}
