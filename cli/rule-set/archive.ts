// The release archive of the rule set: found or downloaded, held against the lock, unpacked whole or not at all.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataDirectory } from '../environment/directories.js';
import { Refusal } from '../refusal.js';
import { sha256, treeHash, type RuleSetLock, type Say } from './lock.js';

/** Reads an archive and holds it against the lock; a foreign one is named, never used. */
export function checkedArchive(file: string, lock: RuleSetLock, say: Say): Buffer | null {
  if (!existsSync(file)) return null;
  const bytes = readFileSync(file);
  const [have, wanted] = [sha256(bytes), lock.archive.sha256];
  if (have === wanted) return bytes;
  say(
    `${file} is not the pinned release ` + `(SHA-256 ${have.slice(0, 16)}…, wanted ${wanted.slice(0, 16)}…); not used`,
  );
  return null;
}

const patience = ['--connect-timeout', '10', '--max-time', '120', '--retry', '2'];

export function download(url: string, lock: RuleSetLock, say: Say): Buffer | null {
  const cache = join(dataDirectory(), 'crs', 'cache');
  mkdirSync(cache, { recursive: true });
  const target = join(cache, lock.archive.name);
  const part = `${target}.part`;
  say(`downloading ${url}`);
  const flags = ['--fail', '--location', '--silent', '--show-error', ...patience];
  const outcome = spawnSync('curl', [...flags, '-o', part, url], { encoding: 'utf8' });
  if (outcome.status !== 0) {
    rmSync(part, { force: true });
    const why = (outcome.stderr ?? '').trim() || outcome.error?.message || `curl ended with ${outcome.status}`;
    say(`download failed: ${why}`);
    return null;
  }
  const bytes = checkedArchive(part, lock, say);
  if (bytes === null) rmSync(part, { force: true });
  else renameSync(part, target);
  return bytes;
}

// The release also carries its own tests, docs and sources of the patterns: 5 MB that nothing here reads.
const wantedParts = ['*/LICENSE', '*/crs-setup.conf.example', '*/rules', '*/plugins'];

/** Unpacks beside the target and moves it there in one step: a run that is cut short leaves nothing half done. */
export function unpack(archive: Buffer, target: string, lock: RuleSetLock): void {
  mkdirSync(dirname(target), { recursive: true });
  const staging = mkdtempSync(`${target}.part-`);
  try {
    const outcome = spawnSync(
      'tar',
      ['-xzf', '-', '-C', staging, '--strip-components=1', '--no-same-owner', '--wildcards', ...wantedParts],
      { input: archive, encoding: 'utf8' },
    );
    if (outcome.status !== 0)
      throw new Refusal(`tar could not unpack the rule set: ${outcome.stderr || outcome.error?.message}`);
    const tree = treeHash(staging);
    if (tree !== lock.treeSha256)
      throw new Refusal(
        `the unpacked rule set hashes to ${tree}, fixtures/crs.lock.json says ${lock.treeSha256}; ` +
          'the lock is wrong or the archive is.',
      );
    rmSync(target, { recursive: true, force: true });
    renameSync(staging, target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}
