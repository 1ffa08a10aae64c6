// Gets the OWASP Core Rule Set (and ModSecurity's unicode.mapping) onto this machine; neither is ever committed.
//
// Sources in order: CRS_DIR (the operator's own choice, used in place), what was chosen, what an earlier run unpacked,
// a cached archive, ../shared/crs, the official release archive, and last Debian's older package. An archive counts
// only when its SHA-256 is the pinned one of fixtures/crs.lock.json; an unpacked tree only when its file hash is.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chooseRuleSet, listRuleSets, readRuleSetChoice, ruleSetFolder } from '#compiler';
import { dataDirectory, root, sharedDirectory } from '../environment/directories.js';
import { Refusal } from '../refusal.js';
import { checkedArchive, download, unpackInto } from './archive.js';
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

function nowhere(lock: RuleSetLock, places: readonly string[], failures: readonly string[]): Refusal {
  const tried = [`not in ${places.join(', not in ')}`, ...failures, 'not from Debian'].join(', ');
  return new Refusal(
    [
      `the OWASP Core Rule Set ${lock.version} could not be had: ${tried}.`,
      '  On a machine with internet access download',
      `    ${lock.archive.urls[0]}`,
      `  put it at ${places[0]} and run the same command again, or set CRS_DIR to an unpacked release.`,
    ].join('\n'),
  );
}

type Found = Omit<InstalledRuleSet, 'unicodeMapping'>;

/** The release that is pinned, from this machine or from where it is published; else why not. */
function pinnedRules(data: string, lock: RuleSetLock, say: Say): Found | readonly string[] {
  const { version, archive: pinned, treeSha256 } = lock;
  const directory = ruleSetFolder(data, version);
  const done: Found = { directory, version, pinned: true };
  if (existsSync(join(directory, 'rules'))) {
    if (treeHash(directory) === treeSha256) return done;
    say(
      `${directory} was changed since it was unpacked; ` +
        'replacing it (own rules belong into the settings, or set CRS_DIR)',
    );
  }
  const failures: string[] = [];
  let archive: Buffer | null = null;
  for (const place of placesOf(data, lock)) archive ??= checkedArchive(place, lock, say);
  for (const url of pinned.urls) {
    if (archive !== null) break;
    say(`downloading ${url}`);
    const got = download(url, pinned.name, pinned.sha256);
    if ('bytes' in got) archive = got.bytes;
    else failures.push(`not from ${url} (${got.failure})`);
  }
  if (archive === null) return failures;
  unpackInto(data, archive, { version, treeSha256 });
  return done;
}

const placesOf = (data: string, { archive: { name } }: RuleSetLock): string[] => [
  join(data, 'crs', 'cache', name),
  join(sharedDirectory(), 'crs', name),
];

/**
 * Makes the rules available and says where. What the operator or an earlier fallback chose stays (`gatehouse rules`
 * changes it), so that no start waits for the network again; else the pinned release, else an older one that is here,
 * else Debian's. Throws Refusal when no source works.
 */
export async function installCrs({ say = () => {} }: { readonly say?: Say } = {}): Promise<InstalledRuleSet> {
  const lock = readLock();
  const data = dataDirectory();
  const unicodeMapping = installUnicodeMapping(lock, say);
  const own = process.env['CRS_DIR'];
  if (own) return { ...ownRules(resolve(root, own), lock, say), unicodeMapping };
  const choice = readRuleSetChoice(data);
  if (choice !== null && choice.by !== 'release') {
    const { version } = choice;
    return { directory: ruleSetFolder(data, version), version, unicodeMapping, pinned: version === lock.version };
  }
  const found = pinnedRules(data, lock, say);
  if ('directory' in found) {
    if (choice?.version !== found.version) chooseRuleSet(data, { version: found.version, by: 'release' });
    return { ...found, unicodeMapping };
  }
  const version = listRuleSets(data)[0]?.version ?? debianRules(data, say);
  if (version === null) throw nowhere(lock, placesOf(data, lock), found);
  chooseRuleSet(data, { version, by: 'fallback' });
  return { directory: ruleSetFolder(data, version), version, unicodeMapping, pinned: false };
}
