// What Debian has of the rule set and of ModSecurity's code-page table, for machines that reach nothing else.
import { spawnSync } from 'node:child_process';
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
import { diskReader, ruleSetFolder, supportedVersionIn } from '#compiler';
import { dataDirectory, sharedDirectory } from '../environment/directories.js';
import { sha256, type RuleSetLock, type Say } from './lock.js';

interface Unpacked {
  readonly directory: string;
  discard(): void;
}

/** Unpacks a Debian package without installing it (needs no root); null when it cannot be had. */
function fromDebianPackage(name: string, say: Say): Unpacked | null {
  const staging = mkdtempSync(join(tmpdir(), 'gatehouse-deb-'));
  const got = spawnSync('apt-get', ['download', name], { cwd: staging, encoding: 'utf8' });
  const file = readdirSync(staging).find((entry) => entry.endsWith('.deb'));
  const directory = join(staging, 'root');
  const isUnpacked = file !== undefined && spawnSync('dpkg-deb', ['-x', join(staging, file), directory]).status === 0;
  const discard = (): void => rmSync(staging, { recursive: true, force: true });
  if (isUnpacked) return { directory, discard };
  discard();
  say(`apt-get download ${name} failed${got.stderr ? `: ${got.stderr.trim().split('\n')[0]}` : ''}`);
  return null;
}

const debianRulesPath = 'usr/share/modsecurity-crs/rules';

/** Copies what the engine reads of an unpacked package below the data directory; null: it is none that is supported. */
function copyRules(from: string, data: string): string | null {
  const rules = join(from, debianRulesPath);
  const version = supportedVersionIn(join(rules, '..'), diskReader);
  if (version === null) return null;
  const target = ruleSetFolder(data, version);
  mkdirSync(dirname(target), { recursive: true });
  const staging = mkdtempSync(join(dirname(target), '.part-'));
  try {
    mkdirSync(join(staging, 'rules'));
    for (const name of readdirSync(rules)) copyFileSync(join(rules, name), join(staging, 'rules', name));
    const setup = join(from, 'etc/modsecurity/crs/crs-setup.conf');
    if (existsSync(setup)) copyFileSync(setup, join(staging, 'crs-setup.conf.example'));
    rmSync(target, { recursive: true, force: true });
    renameSync(staging, target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return version;
}

/**
 * Debian's own rule set (`modsecurity-crs`), installed or not, as `crs/<version>` below the data directory. Returns its
 * version; null: there is none that the settings support.
 */
export function debianRules(data: string, say: Say): string | null {
  const installed = existsSync(join('/', debianRulesPath)) ? copyRules('/', data) : null;
  if (installed !== null) return installed;
  const fetched = fromDebianPackage('modsecurity-crs', say);
  if (fetched === null) return null;
  try {
    return copyRules(fetched.directory, data);
  } finally {
    fetched.discard();
  }
}

/**
 * Finds ModSecurity's code-page table; null when no source has it (then `%u` escapes beyond Latin-1 map as without a
 * table).
 */
export function installUnicodeMapping({ unicodeMapping: lock }: RuleSetLock, say: Say): string | null {
  const target = join(dataDirectory(), 'crs', 'unicode.mapping');
  const isGood = (file: string): boolean => existsSync(file) && sha256(readFileSync(file)) === lock.sha256;
  if (isGood(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const shared = resolve(sharedDirectory(), 'crs/unicode.mapping');
  const found = [shared, ...lock.systemPaths].find(isGood);
  if (found !== undefined) {
    copyFileSync(found, target);
    return target;
  }
  const fetched = fromDebianPackage(lock.debianPackage, say);
  const inside =
    fetched === null ? undefined : lock.systemPaths.map((path) => join(fetched.directory, path)).find(isGood);
  if (inside !== undefined) copyFileSync(inside, target);
  fetched?.discard();
  if (inside !== undefined) return target;
  say(
    `no unicode.mapping found (Debian's ${lock.debianPackage} has it); ` +
      '%u escapes beyond Latin-1 are decoded without a table',
  );
  return null;
}
