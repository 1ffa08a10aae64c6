// Gets the OWASP Core Rule Set (and ModSecurity's unicode.mapping) onto this machine; neither is ever committed.
//
// Sources in order: CRS_DIR (the operator's own choice, used in place), what an earlier run unpacked, a cached archive,
// ../shared/crs, the official release archive, and last Debian's much older package, loudly. An archive counts only
// when its SHA-256 is the pinned one of fixtures/crs.lock.json; an unpacked tree only when its file hash is.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { dataDirectory, root, sharedDirectory } from '../environment/directories.js';
import { Refusal } from '../refusal.js';
import { checkedArchive, download, unpack } from './archive.js';
import { debianRules, installUnicodeMapping } from './debian.js';
import { readLock, statedVersion, treeHash, type RuleSetLock, type Say } from './lock.js';

/** Where the rules are; paths are absolute. */
export interface InstalledRuleSet {
  readonly directory: string;
  readonly version: string;
  /** null: none could be had. */
  readonly unicodeMapping: string | null;
  readonly pinned: boolean;
}

/** An operator's own rule set, used where it lies. */
function ownRules(directory: string, lock: RuleSetLock, say: Say): Omit<InstalledRuleSet, 'unicodeMapping'> {
  if (!existsSync(join(directory, 'rules')))
    throw new Refusal(
      `CRS_DIR=${directory} has no folder rules/.\n` +
        '  Point CRS_DIR at an unpacked CRS release, or unset it to use the pinned one.',
    );
  const version = statedVersion(directory);
  const pinned = treeHash(directory) === lock.treeSha256;
  say(
    pinned
      ? 'CRS_DIR holds the pinned release'
      : `CRS_DIR holds a rule set other than the pinned ${lock.version} (it says ${version}); used as it is`,
  );
  return { directory, version, pinned };
}

function nowhere(lock: RuleSetLock, places: readonly string[]): Refusal {
  const tried = [
    `not in ${places.join(', not in ')}`,
    `not from ${lock.archive.urls.join(', ')}`,
    'not from Debian',
  ].join(', ');
  return new Refusal(
    [
      `the OWASP Core Rule Set ${lock.version} could not be had: ${tried}.`,
      '  On a machine with internet access download',
      `    ${lock.archive.urls[0]}`,
      `  put it at ${places[0]} and run the same command again, or set CRS_DIR to an unpacked release.`,
    ].join('\n'),
  );
}

/** Makes the rules available and says where. Throws Refusal when no source works. */
export async function installCrs({ say = () => {} }: { readonly say?: Say } = {}): Promise<InstalledRuleSet> {
  const lock = readLock();
  const unicodeMapping = installUnicodeMapping(lock, say);
  const own = process.env['CRS_DIR'];
  if (own) return { ...ownRules(resolve(root, own), lock, say), unicodeMapping };
  const directory = join(dataDirectory(), 'crs', lock.version);
  const done = { directory, version: lock.version, unicodeMapping, pinned: true };
  if (existsSync(join(directory, 'rules'))) {
    if (treeHash(directory) === lock.treeSha256) return done;
    say(
      `${directory} was changed since it was unpacked; ` +
        'replacing it (own rules belong into the settings, or set CRS_DIR)',
    );
  }
  const places = [
    join(dataDirectory(), 'crs', 'cache', lock.archive.name),
    join(sharedDirectory(), 'crs', lock.archive.name),
  ];
  let archive: Buffer | null = null;
  for (const place of places) archive ??= checkedArchive(place, lock, say);
  for (const url of lock.archive.urls) archive ??= download(url, lock, say);
  if (archive !== null) {
    unpack(archive, directory, lock);
    return done;
  }
  const old = debianRules(say);
  if (old !== null) return { directory: old, version: statedVersion(old), unicodeMapping, pinned: false };
  throw nowhere(lock, places);
}
