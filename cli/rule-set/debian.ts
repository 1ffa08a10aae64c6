// What Debian has of the rule set and of ModSecurity's code-page table, for machines that reach nothing else.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { dataDirectory, sharedDirectory } from '../environment/directories.js';
import { sha256, statedVersion, type RuleSetLock, type Say } from './lock.js';

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

function warning(target: string): string {
  const banner = '*'.repeat(78);
  return [
    '',
    banner,
    "  WARNING: the pinned CRS release could not be had. Using Debian's modsecurity-crs",
    `  (CRS ${statedVersion(target)}), which is years older: enough for \`compile --rules\`, but settings (and`,
    '  so `make run`) need a v4 rule set. Run `node bin/crs.mjs` with internet access, or set CRS_DIR.',
    banner,
  ].join('\n');
}

/** Debian's own rule set, installed or not; null when there is none. */
export function debianRules(say: Say): string | null {
  const target = join(dataDirectory(), 'crs', 'debian-3.3');
  const copy = (from: string): void => {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(join(target, 'rules'), { recursive: true });
    for (const name of readdirSync(join(from, debianRulesPath)))
      copyFileSync(join(from, debianRulesPath, name), join(target, 'rules', name));
    const setup = join(from, 'etc/modsecurity/crs/crs-setup.conf');
    if (existsSync(setup)) copyFileSync(setup, join(target, 'crs-setup.conf.example'));
  };
  if (existsSync(join('/', debianRulesPath))) copy('/');
  else {
    const fetched = fromDebianPackage('modsecurity-crs', say);
    if (fetched === null) return null;
    copy(fetched.directory);
    fetched.discard();
  }
  say(warning(target));
  return target;
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
