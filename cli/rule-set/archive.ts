// The release archive of a rule set: found or downloaded, held against its SHA-256, unpacked whole or not at all.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { currentRuleSet, diskReader, ruleSetFolder, supportedVersionIn, supportedVersions } from '#compiler';
import { dataDirectory } from '../environment/directories.js';
import { Refusal } from '../refusal.js';
import { sha256, treeHash, type RuleSetLock, type Say } from './lock.js';

/** Reads an archive and holds it against the lock; a foreign one is named, never used. */
export function checkedArchive(file: string, lock: RuleSetLock, say: Say): Buffer | null {
  if (!existsSync(file)) return null;
  const bytes = readFileSync(file);
  const [have, wanted] = [sha256(bytes), lock.archive.sha256];
  if (have === wanted) return bytes;
  say(`${file} is not the pinned release (SHA-256 ${have.slice(0, 16)}…, wanted ${wanted.slice(0, 16)}…); not used`);
  return null;
}

const patience = ['--connect-timeout', '5', '--max-time', '120', '--retry', '1'];

/** An archive that was downloaded, or why not. */
export type Download = { readonly bytes: Buffer } | { readonly failure: string };

/** Downloads to a file below the data directory that is kept only when its SHA-256 is the wanted one. */
export function download(url: string, name: string, wantedSha256: string): Download {
  const cache = join(dataDirectory(), 'crs', 'cache');
  mkdirSync(cache, { recursive: true });
  const part = join(cache, `${name}.part`);
  const flags = ['--fail', '--location', '--silent', '--show-error', ...patience];
  try {
    const outcome = spawnSync('curl', [...flags, '-o', part, url], { encoding: 'utf8' });
    if (outcome.status !== 0) {
      const said = (outcome.stderr ?? '').trim().split('\n').at(-1) ?? '';
      return { failure: said || outcome.error?.message || `curl ended with ${outcome.status}` };
    }
    const bytes = readFileSync(part);
    const have = sha256(bytes);
    if (have !== wantedSha256) return { failure: `its SHA-256 is ${have}, wanted ${wantedSha256}` };
    renameSync(part, join(cache, name));
    return { bytes };
  } finally {
    rmSync(part, { force: true });
  }
}

// The release also carries its own tests, docs and sources of the patterns: 5 MB that nothing here reads.
const wantedParts = ['LICENSE', 'crs-setup.conf.example', 'rules', 'plugins'];

/** The entries of a gzipped tar archive. Throws Refusal where it cannot be read. */
function entriesOf(archive: Buffer): string[] {
  const listed = spawnSync('tar', ['-tzf', '-'], { input: archive, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (listed.status === 0) return listed.stdout.split('\n');
  const why = (listed.stderr || listed.error?.message || '').trim().split('\n')[0];
  throw new Refusal(`tar could not unpack the rule set: ${why}`);
}

function unpackParts(archive: Buffer, staging: string): void {
  const entries = entriesOf(archive);
  const parts = wantedParts.filter((part) =>
    entries.some((entry) => entry.split('/')[1] === part && !entry.includes('/../')),
  );
  if (!parts.includes('rules')) throw new Refusal('the archive holds no folder rules/: it is no release of the CRS.');
  const patterns = parts.map((part) => `*/${part}`);
  const flags = ['--strip-components=1', '--no-same-owner', '--wildcards', '--no-wildcards-match-slash'];
  const outcome = spawnSync('tar', ['-xzf', '-', '-C', staging, ...flags, ...patterns], {
    input: archive,
    encoding: 'utf8',
  });
  if (outcome.status !== 0)
    throw new Refusal(`tar could not unpack the rule set: ${outcome.stderr || outcome.error?.message}`);
}

/** What an archive has to be. */
export interface Expected {
  /** null: whatever it says, as long as the settings support it. */
  readonly version: string | null;
  /** Hash of what the engine loads (`treeHash`); null: not known. */
  readonly treeSha256: string | null;
}

/**
 * Unpacks beside `crs/<version>` and moves it there in one step: a run that is cut short leaves nothing half done.
 * Throws Refusal for what is no rule set, or another one than expected; nothing is changed then.
 */
export function unpackInto(data: string, archive: Buffer, expected: Expected): { version: string; directory: string } {
  const folder = dirname(ruleSetFolder(data, '0.0.0'));
  mkdirSync(folder, { recursive: true });
  const staging = mkdtempSync(join(folder, '.part-'));
  try {
    unpackParts(archive, staging);
    const version = supportedVersionIn(staging, diskReader);
    if (version === null) throw new Refusal(`the archive holds no ${supportedVersions}.`);
    if (expected.version !== null && version !== expected.version)
      throw new Refusal(`the archive holds the rule set ${version}, not ${expected.version}.`);
    const tree = treeHash(staging);
    if (expected.treeSha256 !== null && tree !== expected.treeSha256)
      throw new Refusal(
        `the unpacked rule set hashes to ${tree}, fixtures/crs.lock.json says ${expected.treeSha256}; ` +
          'the lock is wrong or the archive is.',
      );
    const directory = ruleSetFolder(data, version);
    const isSame = existsSync(join(directory, 'rules')) && treeHash(directory) === tree;
    if (isSame) return { version, directory };
    if (currentRuleSet(data) === directory && expected.treeSha256 === null)
      throw new Refusal(
        `CRS ${version} is in use with other files than the archive's: take another version into use first ` +
          '(`gatehouse rules use`), then come back with this one.',
      );
    rmSync(directory, { recursive: true, force: true });
    renameSync(staging, directory);
    return { version, directory };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}
