// Which rule set belongs to this release, and how a rule set on disk is known again.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../environment/directories.js';

/** fixtures/crs.lock.json. */
export interface RuleSetLock {
  readonly version: string;
  readonly archive: { readonly name: string; readonly sha256: string; readonly urls: readonly string[] };
  /** Over what the engine loads, see `treeHash`. */
  readonly treeSha256: string;
  readonly unicodeMapping: {
    readonly sha256: string;
    readonly systemPaths: readonly string[];
    readonly debianPackage: string;
  };
}

/** Tells a person what is being done, a line or more. */
export type Say = (text: string) => void;

export function readLock(): RuleSetLock {
  return JSON.parse(readFileSync(join(root, 'fixtures/crs.lock.json'), 'utf8')) as RuleSetLock;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** One hash over what the engine loads: crs-setup.conf.example and rules/, by name and content. */
export function treeHash(directory: string): string {
  const hash = createHash('sha256');
  const names = readdirSync(join(directory, 'rules'))
    .sort()
    .map((name) => join('rules', name));
  for (const name of ['crs-setup.conf.example', ...names]) {
    const path = join(directory, name);
    if (existsSync(path)) hash.update(`${name}\0${sha256(readFileSync(path))}\n`);
  }
  return hash.digest('hex');
}

/** The version that a rule set states of itself (`ver:'…/4.25.1'`), or 'unknown'. */
export function statedVersion(directory: string): string {
  for (const name of readdirSync(join(directory, 'rules')).sort()) {
    if (!name.endsWith('.conf')) continue;
    const text = readFileSync(join(directory, 'rules', name), 'latin1');
    const version = /ver:'[A-Z_]+\/(\d+\.\d+\.\d+)/.exec(text)?.[1];
    if (version !== undefined) return version;
  }
  return 'unknown';
}
